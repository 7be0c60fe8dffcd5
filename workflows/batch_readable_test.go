package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
)

// shows holds what the Web UI shows as current details at a time.
func (o *office) shows(at time.Time, texts ...string) {
	o.at(at, func() {
		v, err := o.env.QueryWorkflow("__temporal_workflow_metadata")
		require.NoError(o.t, err)
		metadata := &sdkpb.WorkflowMetadata{}
		require.NoError(o.t, v.Get(metadata))
		for _, text := range texts {
			require.Contains(o.t, metadata.GetCurrentDetails(), text, "at %s", at.Sub(start))
		}
	})
}

// Issue 5: the state and the progress are the current details. What a worker tells of
// another round, or of less than is known, is not shown.
func TestBatchCurrentDetails(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.options.BatchAttempts = 6 })
	o.apply = func(index int, _ changes.Turn) error {
		if index == 1 {
			return errDown
		}
		return nil
	}
	tells := func(at time.Time, round, complete, failed uint32) {
		o.at(at, func() {
			o.signal(true, workflowv1.SignalBatchProgress, &workflowv1.BatchProgress{
				Round: round, CompleteChanges: complete, FailedChanges: failed, PendingChanges: 10 - complete - failed,
			})
		})
	}
	o.shows(accepted.Add(time.Second), "| state | PENDING |", "| changes | 10 |")
	o.shows(start.Add(500*time.Millisecond), "| state | PROCESSING |", "| progress | 0 of 10 changes are finished", "| round | 1 |")
	tells(start.Add(4*time.Second), 1, 3, 1)
	o.shows(start.Add(4500*time.Millisecond), "| progress | 4 of 10", "| applied | 3 |", "| rejected | 1 |", "| unfinished | 6 |")
	tells(start.Add(5*time.Second), 1, 2, 0)
	tells(start.Add(5*time.Second), 2, 9, 0)
	o.shows(start.Add(5500*time.Millisecond), "| progress | 4 of 10")
	tells(start.Add(6*time.Second), 1, 4, 1)
	o.shows(start.Add(6500*time.Millisecond), "| progress | 5 of 10")
	o.shows(start.Add(time.Minute), "| state | MANUAL_REVIEW |", "| applied | 1 |", "| unfinished | 9 |", "| message | it could not be processed")
	tells(start.Add(2*time.Minute), 1, 7, 0)
	o.shows(start.Add(3*time.Minute), "| applied | 1 |")
	o.at(start.Add(4*time.Minute), func() {
		o.apply = func(int, changes.Turn) error {
			if o.now().Before(start.Add(5 * time.Minute)) {
				return errDown
			}
			return nil
		}
		o.update("review", retry())
	})
	o.shows(start.Add(4*time.Minute+time.Second/2), "| state | PROCESSING |", "| progress | 1 of 10", "| last decision | retry at", "| comment | repaired |")
	o.at(start.Add(6*time.Minute), func() {
		require.Equal(t, inReview, o.head().GetStatus().GetState(), "six attempts take half a minute")
		o.update("review", retry())
	})
	st := o.finish(o.stage(10))
	require.Equal(t, complete, st.GetState())
	require.Empty(t, st.GetConditions(), "progress is no command")
}

// What a person looks for by GnomonOutcome: review and every end but success, and no
// longer once it is over.
func TestBatchOutcomeIsSearchable(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	key := temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchOutcome)
	o.env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(key.ValueSet("manual_review"))).Return(nil).Twice()
	o.env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(key.ValueUnset())).Return(nil).Once()
	o.env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(key.ValueSet("cancelled"))).Return(nil).Once()
	o.invalid(start.Add(2*time.Hour), gnomonv1.Problem_HARD)
	o.at(start.Add(time.Hour), func() { o.update("review", postpone(start.Add(90*time.Minute))) })
	o.at(start.Add(2*time.Hour), func() { o.update("review", abandon()) })
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
	o.env.AssertExpectations(t)
}
