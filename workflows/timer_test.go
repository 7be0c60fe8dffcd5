package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-42: an action that is moved to an earlier time is performed then; the timer of
// its old time holds it no longer.
func TestUpdateToAnEarlierTime(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*world, *workflowv1.Command){
		"update": func(w *world, c *workflowv1.Command) { w.update(workflowv1.CommandUpdate, c) },
		"signal": func(w *world, c *workflowv1.Command) { w.signalWith(true, workflowv1.CommandUpdate, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			earlier := startingAt(once(nil), start.Add(-20*time.Second))
			w.at(start.Add(-30*time.Second), func() { send(w, update(earlier, "guid-2")) })
			w.finish(state(once(nil)))
			require.Equal(t, []time.Duration{-20 * time.Second}, w.acted())
		})
	}
}

// design.md, An occurrence: a command that moves nothing costs no timer.
func TestTimerThatStandsIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var timers []time.Duration
	w.env.SetOnTimerScheduledListener(func(_ string, d time.Duration) { timers = append(timers, d) })
	for i := range 3 {
		w.at(start.Add(time.Duration(i-10)*time.Second), func() { w.signal(workflowv1.SignalMirror) })
	}
	w.finish(state(once(nil)))
	require.Equal(t, []time.Duration{start.Sub(accepted)}, timers)
	require.Equal(t, []time.Duration{0}, w.acted())
}
