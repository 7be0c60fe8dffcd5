package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// M-55: the attempts before this one are recalled from their heartbeats.
func TestRecall(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	b.perform = failing
	_, left := b.fail()
	b.close()

	b = newBench(t, 9)
	defer b.close()
	b.env.SetHeartbeatDetails(left)
	b.info = func(i *activity.Info) { i.Attempt = 2 }
	b.pass(2 * time.Second)
	b.perform = failing
	failure, p := b.fail()
	require.EqualValues(t, 2, b.acted[0].Attempt)
	require.Equal(t, start, b.acted[0].Occurrence)
	require.EqualValues(t, 2, p.GetStatus().GetFailedAttemptsCounter())
	require.EqualValues(t, 2, p.GetCounted())
	require.Equal(t, 3*time.Second, failure.NextRetryDelay())
	row, _ := b.store.Row("a")
	require.Equal(t, store.Revision{
		Incarnation: start.Add(-time.Minute), Sequence: b.in.GetSequence(), Attempt: 2, Phase: store.PhaseLast,
	}, row.Revision)
}

// M-40, M-54, M-61: the row of an attempt that runs, before it has done anything, is
// newer than that of the attempt before it.
func TestRowOfARunningAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.info = func(i *activity.Info) { i.Attempt = 2 }
		b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
			<-time.After(time.Second) // of the bubble
			row, ok := b.store.Row("a")
			require.True(t, ok)
			require.Equal(t, store.Revision{
				Incarnation: start.Add(-time.Minute), Sequence: b.in.GetSequence(), Attempt: 2, Phase: store.PhaseCurrent,
			}, row.Revision)
			st := row.Action.GetStatus()
			require.Equal(t, gnomonv1.Status_RUNNING, st.GetState())
			require.EqualValues(t, 2, st.GetCurrentAttemptStatus().GetAttempt())
			require.Equal(t, start.Add(3*time.Second), st.GetScheduledAt().AsTime())
			require.False(t, row.Tombstone)
			return performers.Reply{}, nil
		}
		_, err := b.run()
		require.NoError(t, err)
	})
}

// A report that was lost on its way is made up for by the server's own count, so
// that neither the budget nor the delay forgets an attempt.
func TestRecallHealsLostReports(t *testing.T) {
	t.Parallel()
	for name, details := range map[string]any{"none": nil, "of another kind": "text", "empty": &workflowv1.Progress{}} {
		b := newBench(t, 9)
		if details != nil {
			b.env.SetHeartbeatDetails(details)
		}
		b.info = func(i *activity.Info) { i.Attempt = 4 }
		b.perform = failing
		failure, p := b.fail()
		require.EqualValues(t, 4, b.acted[0].Attempt, name)
		require.EqualValues(t, 4, p.GetStatus().GetFailedAttemptsCounter(), name)
		require.EqualValues(t, 4, p.GetCounted(), name)
		require.Equal(t, 9*time.Second, failure.NextRetryDelay(), name)
		b.close()
	}
}

// Where the lost reports used the occurrence up, nothing is done any more. It used
// to be performed once more, for an occurrence of 1970.
func TestRecallOfAnOccurrenceThatIsOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	defer b.close()
	b.info = func(i *activity.Info) { i.Attempt = 3 }
	failure, p := b.fail()
	require.Equal(t, workflowv1.FailureFinal, failure.Type())
	require.Empty(t, b.acted)
	require.EqualValues(t, 2, p.GetStatus().GetFailedAttemptsCounter())
	require.False(t, p.GetStored())
}
