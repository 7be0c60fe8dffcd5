package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
	"gnomon/notices"
)

// handedOver is the state that a run handed over to the next one.
func handedOver(t *testing.T, err error) *workflowv1.BatchState {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &again)
	require.Equal(t, workflowv1.BatchWorkflow, again.WorkflowType.Name)
	s := &workflowv1.BatchState{}
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, s))
	return s
}

// after is an office whose run begins later, with the store of the one before.
func after(o *office, begins time.Time) func(*office) {
	return func(next *office) { next.clock, next.rows = begins, o.rows }
}

// V-01, V-20: a history that grew long is handed over while the batch waits, with its
// time, and the commands that were applied.
func TestPendingIsHandedOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := move(start.Add(time.Hour))
	c.Id = "c-1"
	o.at(accepted.Add(time.Second), func() {
		o.env.SetContinueAsNewSuggested(true)
		o.update("reschedule", c)
	})
	s := handedOver(t, o.run(o.stage(2)))
	require.True(t, s.GetAccepted())
	require.Equal(t, pending, s.GetHead().GetStatus().GetState())
	require.Equal(t, s.GetHead().GetRevision(), o.row().Revision, "nothing is owed to the store")

	o = newOffice(t, after(o, accepted.Add(2*time.Second)))
	var again *verdict
	o.at(accepted.Add(30*time.Second), func() { again = o.update("reschedule", c) })
	require.Equal(t, complete, o.finish(s).GetState())
	require.Equal(t, s.GetHead().GetRevision(), again.head.GetRevision(), "P-02: the same command")
	require.Equal(t, time.Hour, o.done[0].at)
}

// V-17, V-18: a batch in review is handed over once people were told, and tells them no
// second time.
func TestReviewIsHandedOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(time.Hour), gnomonv1.Problem_HARD)
	o.at(start.Add(-time.Millisecond), func() { o.env.SetContinueAsNewSuggested(true) })
	o.tell = func(notices.Notice) error {
		if o.now().Before(start.Add(10 * time.Second)) {
			return errDown
		}
		return nil
	}
	s := handedOver(t, o.run(o.stage(1)))
	require.Equal(t, inReview, s.GetHead().GetStatus().GetState())
	require.Len(t, o.told, 1)

	o = newOffice(t, after(o, start.Add(time.Minute)))
	o.at(start.Add(2*time.Hour), func() { o.update("review", retry()) })
	st := o.finish(s)
	require.Equal(t, complete, st.GetState())
	require.EqualValues(t, 2, st.GetRound())
	require.Empty(t, o.told)
}

// V-13: a round is never handed over in the middle.
func TestProcessingIsNotHandedOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.at(start.Add(-time.Millisecond), func() { o.env.SetContinueAsNewSuggested(true) })
	o.apply = func(int, changes.Turn) error {
		if o.now().Before(start.Add(time.Minute)) {
			return errDown
		}
		return nil
	}
	o.at(start.Add(10*time.Second), func() { o.signal(true, "cancel", nil) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
}

// A worker that does not know the rules of a newer version leaves the run alone.
func TestBatchOfANewerVersion(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	s := o.stage(1)
	s.Version = 1000
	require.ErrorContains(t, o.run(s), "rules of version 1000")
	require.Empty(t, o.done)
}
