package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-34: a signal that comes once the run is to be continued, but still has an attempt
// under way, is applied before it hands over.
func TestSignalBetweenSuggestionAndHandover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.take = func(a *attempt) bool {
		a.last(10*time.Second, gnomonv1.AttemptStatus_SUCCESS)
		return true
	}
	w.at(start.Add(time.Second), func() { w.env.SetContinueAsNewSuggested(true) })
	w.at(start.Add(5*time.Second), func() { w.signal(workflowv1.CommandPause) })
	s := next(t, w.run(state(periodic(time.Minute, nil))))
	require.True(t, s.GetPaused())
	require.EqualValues(t, 1, s.GetStatus().GetSuccessfulAttemptsCounter())
}

// M-34: a trigger that a pause holds is carried over, and performed after the resume.
func TestHeldTriggerIsHandedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(accepted.Add(time.Second), func() { w.signal(workflowv1.CommandTrigger, workflowv1.CommandPause) })
	w.at(accepted.Add(2*time.Second), func() {
		w.env.SetContinueAsNewSuggested(true)
		w.signal(workflowv1.SignalMirror)
	})
	s := next(t, w.run(state(periodic(time.Hour, nil))))
	require.Empty(t, w.acted())
	require.True(t, s.GetTriggered())

	w = newWorld(t, func(w *world) { w.clock = accepted.Add(3 * time.Second) })
	w.at(accepted.Add(10*time.Second), func() { w.signal(workflowv1.CommandResume) })
	w.at(start.Add(time.Second), func() { w.signal(workflowv1.CommandCancel) })
	w.finish(s)
	require.Equal(t, []time.Duration{-50 * time.Second, 0}, w.acted())
}
