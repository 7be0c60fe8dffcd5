package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-61: a command that comes during an attempt has a newer row than that attempt, so
// the workflow stores what the attempt came to.
func TestCommandDuringTheLastAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = func(context.Context, performers.Request) error {
		w.env.RegisterDelayedCallback(func() { w.signal(workflowv1.CommandPause) }, 0)
		assert.Eventually(t, func() bool {
			row, ok := w.rows.Row("a")
			return ok && row.Action.GetStatus().GetState() == gnomonv1.Status_PAUSED
		}, 10*time.Second, time.Millisecond)
		return nil
	}
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
}

// M-61: what changes while a row is on its way to the store is stored after it.
func TestCommandWhileARowIsStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows.SetDown(true)
	w.at(accepted.Add(time.Second), func() { w.signal(workflowv1.CommandPause) })
	w.at(accepted.Add(2*time.Second), func() { w.signal(workflowv1.CommandResume) })
	w.at(accepted.Add(3*time.Second), func() { w.rows.SetDown(false) })
	w.at(start.Add(-time.Second), func() {
		row, ok := w.rows.Row("a")
		require.True(t, ok)
		require.Equal(t, gnomonv1.Status_SCHEDULED, row.Action.GetStatus().GetState())
	})
	w.finish(state(once(nil)))
}
