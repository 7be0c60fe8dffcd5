package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Pause and resume of a once-action: nothing is attempted in between, and what was
// missed is done at once.
func TestPauseOfAOnceAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause, resume time.Duration
		want          []time.Duration
	}{
		"over its time":      {-time.Second, time.Minute, []time.Duration{time.Minute, time.Minute + 2*time.Second}},
		"before its time":    {-30 * time.Second, -time.Second, []time.Duration{0, 2 * time.Second}},
		"over its retry":     {time.Second, time.Minute, []time.Duration{0, time.Minute}},
		"before its retry":   {time.Second, 1500 * time.Millisecond, []time.Duration{0, 2 * time.Second}},
		"as its retry falls": {2 * time.Second, 2 * time.Second, []time.Duration{0, 2 * time.Second}},
	} {
		for _, how := range []string{"update", "signal"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.perform = fails
				send := func(name string) func() {
					return func() {
						if how == "update" {
							w.update(name, &workflowv1.Command{})
							return
						}
						w.signal(name)
					}
				}
				w.at(start.Add(c.pause), send(workflowv1.CommandPause))
				w.at(start.Add(c.resume), send(workflowv1.CommandResume))
				st := w.finish(state(once(t1(1))))
				require.Equal(t, c.want, w.acted())
				require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
			})
		}
	}
}

// Pause during an attempt: it may finish, and nothing follows until resume.
func TestPauseDuringAnAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := true
	w.take = func(a *attempt) bool {
		if first {
			first = false
			a.last(10*time.Second, gnomonv1.AttemptStatus_SUCCESS)
			return true
		}
		return false
	}
	w.at(start.Add(time.Second), func() { w.signal(workflowv1.CommandPause) })
	w.at(start.Add(90*time.Second), func() {
		st := w.action().GetAction().GetStatus()
		require.Equal(t, gnomonv1.Status_PAUSED, st.GetState())
		require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
		row, _ := w.rows.Row("a")
		require.Equal(t, st.String(), row.Action.GetStatus().String())
		w.signal(workflowv1.CommandResume)
	})
	w.at(start.Add(150*time.Second), func() { w.signal(workflowv1.CommandCancel) })
	st := w.finish(state(periodic(time.Minute, nil)))
	require.Equal(t, []time.Duration{0, 2 * time.Minute}, w.acted(), "the tick at 1 min is not caught up with")
	require.EqualValues(t, 2, st.GetSuccessfulAttemptsCounter())
}

// Trigger of a once-action: performed now instead of at its time.
func TestTriggerOfAOnceAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(start.Add(-30*time.Second), func() { w.signal(workflowv1.CommandTrigger) })
	st := w.finish(state(once(nil)))
	require.Equal(t, []time.Duration{-30 * time.Second}, w.acted())
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.Equal(t, "a/guid-1/2026-11-21T09:59:30Z", w.attempts[0].key)
}

// Trigger of a once-action whose retry the workflow holds: not waited for any more.
func TestTriggerWhileTheWorkflowHoldsARetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := true
	w.take = func(a *attempt) bool {
		if lost {
			lost = false
			a.lose(0, nil)
			return true
		}
		return false
	}
	w.at(start.Add(time.Second), func() { w.signal(workflowv1.CommandTrigger) })
	w.finish(state(once(t1(1))))
	require.Equal(t, []time.Duration{time.Second}, w.acted())
}

// Trigger of a periodic action: one occurrence more, the ticks stay; triggers during
// an attempt become one that follows it.
func TestTriggerOfAPeriodicAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.take = func(a *attempt) bool {
		if w.now().Equal(start.Add(time.Minute)) {
			a.last(10*time.Second, gnomonv1.AttemptStatus_FAILURE)
			return true
		}
		return false
	}
	w.at(start.Add(-10*time.Second), func() { w.signal(workflowv1.CommandTrigger, workflowv1.CommandTrigger) })
	for i := range 3 {
		w.at(start.Add(time.Minute+time.Duration(i+1)*time.Second), func() { w.signal(workflowv1.CommandTrigger) })
	}
	w.at(start.Add(150*time.Second), func() { w.signal(workflowv1.CommandCancel) })
	w.finish(state(periodic(time.Minute, nil)))
	require.Equal(t, []time.Duration{-10 * time.Second, 0, 60 * time.Second, 70 * time.Second, 120 * time.Second}, w.acted())
	keys := map[time.Time]bool{}
	for _, m := range w.attempts {
		keys[m.occurrence] = true
	}
	require.Len(t, keys, 5, "each is an occurrence of its own")
}
