package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// next is what a run that continued as new hands to the next.
func next(t *testing.T, err error) *workflowv1.ActionState {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &again)
	require.Equal(t, workflowv1.ActionWorkflow, again.WorkflowType.Name)
	s := &workflowv1.ActionState{}
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, s))
	return s
}

// M-29, M-31, M-34: a thousand ticks of one second, in runs that continue as new: at
// a fixed rate from StartAt, none lost, none doubled, whatever fails.
func TestAThousandTicks(t *testing.T) {
	t.Parallel()
	const ticks = 1000
	s := state(until(periodic(time.Second, nil), start.Add((ticks-1)*time.Second)))
	var acted []time.Duration
	clock, runs := accepted, 0
	for {
		w := newWorld(t, func(w *world) { w.clock = clock })
		w.perform = fails
		// The server suggests it whenever it likes.
		w.at(clock.Add(97*time.Second+300*time.Millisecond), func() { w.env.SetContinueAsNewSuggested(true) })
		err := w.run(s)
		acted = append(acted, w.acted()...)
		runs++
		if err == nil {
			st := &gnomonv1.Status{}
			require.NoError(t, w.env.GetWorkflowResult(st))
			require.Equal(t, gnomonv1.Status_EXPIRED, st.GetState())
			require.EqualValues(t, ticks, st.GetFailedAttemptsCounter())
			require.EqualValues(t, ticks, st.GetConsecutiveFailuresCounter())
			break
		}
		before := s
		s, clock = next(t, err), w.now()
		require.Equal(t, "guid-1", s.GetMeta().GetGuid(), "M-07")
		require.Equal(t, accepted, s.GetIncarnation().AsTime(), "the rows of all runs are of one incarnation")
		require.Greater(t, s.GetSequence(), before.GetSequence())
		require.False(t, s.GetMirrorOwed())
	}
	require.Greater(t, runs, 5)
	require.Len(t, acted, ticks)
	for k, at := range acted {
		require.Equal(t, time.Duration(k)*time.Second, at)
	}
}

// What a run carries survives the next one: pause, waiting trigger, malformed count,
// applied commands.
func TestContinueAsNewCarriesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(accepted.Add(time.Second), func() {
		w.signalWith(false, workflowv1.CommandPause, &workflowv1.Command{Id: "c-1"})
		w.env.SignalWorkflow("explode", nil)
	})
	w.at(start.Add(time.Hour), func() {
		w.env.SetContinueAsNewSuggested(true)
		w.signal(workflowv1.SignalMirror)
	})
	s := next(t, w.run(state(periodic(time.Minute, t1(1)))))
	require.True(t, s.GetPaused())
	require.EqualValues(t, 1, s.GetMalformedSignals())
	require.Equal(t, []string{"c-1"}, s.GetAppliedCommands())
	require.Len(t, s.GetStatus().GetConditions(), 1)

	w = newWorld(t, func(w *world) { w.clock = start.Add(time.Hour) })
	before := proto.CloneOf(s)
	w.at(start.Add(61*time.Minute), func() {
		require.True(t, proto.Equal(before.GetStatus(), w.action().GetAction().GetStatus()))
		w.update(workflowv1.CommandPause, &workflowv1.Command{Id: "c-1"})
		w.signal(workflowv1.CommandResume)
	})
	w.at(start.Add(63*time.Minute+time.Second), func() { w.signal(workflowv1.CommandCancel) })
	w.finish(s)
	require.Equal(t, []time.Duration{62 * time.Minute, 63 * time.Minute}, w.acted())
}

// No handing over while an attempt runs or a row is owed: the next run could not
// wait for them.
func TestContinueAsNewWaitsForAttemptAndRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.SetContinueAsNewSuggested(true)
	w.take = func(a *attempt) bool { a.last(5*time.Second, gnomonv1.AttemptStatus_SUCCESS); return true }
	s := state(startingAt(periodic(time.Minute, nil), accepted))
	s = next(t, w.run(s))
	require.EqualValues(t, 1, s.GetStatus().GetSuccessfulAttemptsCounter())
	require.Equal(t, accepted.Add(5*time.Second), w.now())
	row, ok := w.rows.Row("a")
	require.True(t, ok)
	require.Equal(t, s.GetStatus().String(), row.Action.GetStatus().String())
	require.Zero(t, s.GetPerforming())
}

// M-29, M-33: an attempt that overruns its ticks skips them, and the rate stays that
// of StartAt.
func TestOverrunSkipsTicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := true
	w.take = func(a *attempt) bool {
		if !first {
			return false
		}
		first = false
		a.last(2500*time.Millisecond, gnomonv1.AttemptStatus_SUCCESS)
		return true
	}
	w.finish(state(until(periodic(time.Second, nil), start.Add(4*time.Second))))
	require.Equal(t, []time.Duration{0, 3 * time.Second, 4 * time.Second}, w.acted())
}

// M-29: ticks missed while nothing was up collapse into one.
func TestMissedTicksCollapse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.clock = start.Add(time.Hour + 300*time.Millisecond) })
	w.finish(state(until(periodic(time.Second, nil), start.Add(time.Hour+2*time.Second))))
	require.Equal(t, []time.Duration{
		time.Hour + 300*time.Millisecond, time.Hour + time.Second, time.Hour + 2*time.Second,
	}, w.acted())
}

// M-30: retries within the tick, a budget for each, and none that would reach the
// next one.
func TestRetriesWithinTicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = fails
	st := w.finish(state(until(periodic(6*time.Second, t1(9)), start.Add(12*time.Second))))
	require.Equal(t, []time.Duration{
		0, 2 * time.Second, 5 * time.Second, 6 * time.Second, 8 * time.Second, 11 * time.Second, 12 * time.Second,
	}, w.acted())
	require.EqualValues(t, 7, st.GetConsecutiveFailuresCounter())
	require.NotEqual(t, w.attempts[2].key, w.attempts[3].key)
}
