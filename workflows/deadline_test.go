package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-13, M-15, M-16: the deadline in each state. The action ends with it, at it and
// not before, for until then an update may still move it.
func TestDeadline(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		spec     *gnomonv1.Spec
		deadline time.Duration
		before   func(*world)
		acted    []time.Duration
		ended    time.Duration
	}{
		"before start":       {once(t1(9)), -time.Second, nil, nil, -time.Second},
		"before acceptance":  {once(t1(9)), -time.Hour, nil, nil, -time.Minute},
		"at start":           {once(t1(1)), 0, nil, []time.Duration{0}, 0},
		"at a retry":         {once(t1(9)), 5 * time.Second, nil, []time.Duration{0, 2 * time.Second, 5 * time.Second}, 5 * time.Second},
		"just before one":    {once(t1(9)), 5*time.Second - ms, nil, []time.Duration{0, 2 * time.Second}, 5*time.Second - ms},
		"in a retry wait":    {once(t1(9)), 6 * time.Second, nil, []time.Duration{0, 2 * time.Second, 5 * time.Second}, 6 * time.Second},
		"periodic":           {periodic(time.Second, nil), 2500 * ms, nil, []time.Duration{0, time.Second, 2 * time.Second}, 2500 * ms},
		"periodic, at tick":  {periodic(time.Second, nil), 2 * time.Second, nil, []time.Duration{0, time.Second, 2 * time.Second}, 2 * time.Second},
		"periodic, no tick":  {periodic(time.Hour, nil), time.Minute, nil, []time.Duration{0}, time.Minute},
		"while paused":       {once(nil), time.Minute, func(w *world) { w.at(start.Add(-time.Second), func() { w.signal(workflowv1.CommandPause) }) }, nil, time.Minute},
		"paused retry":       {once(t1(9)), time.Minute, func(w *world) { w.at(start.Add(time.Second), func() { w.signal(workflowv1.CommandPause) }) }, []time.Duration{0}, time.Minute},
		"not a whole second": {once(nil), -time.Microsecond, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.perform = fails
			if c.before != nil {
				c.before(w)
			}
			st := w.finish(state(until(c.spec, start.Add(c.deadline))))
			require.Equal(t, gnomonv1.Status_EXPIRED, st.GetState())
			require.Equal(t, c.acted, w.acted())
			require.EqualValues(t, len(c.acted), st.GetFailedAttemptsCounter())
			require.WithinDuration(t, start.Add(c.ended), w.now(), ms, "timers are whole milliseconds")
			require.False(t, w.now().Before(start.Add(c.ended)) && name != "not a whole second")
		})
	}
}

// M-15: an attempt that runs when the deadline comes may finish and is counted; a
// success of a once-action is its end.
func TestDeadlineDuringAnAttempt(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[gnomonv1.AttemptStatus_Outcome]gnomonv1.Status_State{
		gnomonv1.AttemptStatus_SUCCESS: gnomonv1.Status_SUCCEEDED,
		gnomonv1.AttemptStatus_FAILURE: gnomonv1.Status_EXPIRED,
	} {
		t.Run(outcome.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.take = func(a *attempt) bool { a.last(10*time.Second, outcome); return true }
			st := w.finish(state(until(once(t1(9)), start.Add(time.Second))))
			require.Equal(t, want, st.GetState())
			require.Equal(t, []time.Duration{0}, w.acted())
			require.Equal(t, start.Add(10*time.Second), w.now())
			require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter()+st.GetFailedAttemptsCounter())
		})
	}
}

// M-15: workers that were down across the deadline make no attempt when they come
// back.
func TestDeadlinePassedWhileNoWorkerRan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.clock = start.Add(time.Hour) })
	st := w.finish(state(until(once(nil), start.Add(time.Minute))))
	require.Equal(t, gnomonv1.Status_EXPIRED, st.GetState())
	require.Empty(t, w.attempts)
}

// M-15: an update moves the deadline of an action that waits for it.
func TestUpdateMovesTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = func(_ context.Context, r performers.Request) error {
		if r.GUID == "guid-1" {
			return errNo
		}
		return nil
	}
	w.at(start.Add(time.Second), func() {
		w.signalWith(true, workflowv1.CommandUpdate, update(until(once(nil), start.Add(time.Hour)), "guid-2"))
	})
	st := w.finish(state(until(once(t1(9)), start.Add(1500*time.Millisecond))))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.Equal(t, []time.Duration{0, time.Second}, w.acted())
}
