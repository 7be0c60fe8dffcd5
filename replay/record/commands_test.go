package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// TestPause records paused actions, and those that were resumed.
func TestPause(t *testing.T) {
	t.Parallel()
	i := install(t)
	late := i.once("once-paused-then-resumed", "/ok", i.soon(t))
	i.create(t, late)
	i.pause(t, "once-paused-then-resumed")
	i.create(t,
		i.once("once-paused-sleeping", "/ok", far),
		i.once("once-paused-by-signal", "/ok", far),
		i.once("once-resumed-in-time", "/ok", far),
		i.once("once-paused-running", "/block", i.soon(t)),
		retrying(i.once("once-paused-retrying", "/status/500", i.soon(t)), 100, 3*time.Second),
	)
	for _, name := range []string{"once-paused-sleeping", "once-paused-by-signal", "once-resumed-in-time"} {
		i.happens(t, name, sleeps, 1)
	}
	i.pause(t, "once-paused-sleeping")
	i.signal(t, "once-paused-by-signal", workflowv1.CommandPause, nil)
	i.pause(t, "once-resumed-in-time")
	i.happens(t, "once-resumed-in-time", completed, 1)
	i.resume(t, "once-resumed-in-time")
	for name, rows := range map[string]int{"once-paused-sleeping": 1, "once-paused-by-signal": 1, "once-resumed-in-time": 2} {
		i.happens(t, name, completed, rows)
		i.settles(t, name)
	}
	i.arrives(t, "once-paused-running", 1)
	i.pause(t, "once-paused-running")
	i.happens(t, "once-paused-running", started, 2)
	i.retries(t, "once-paused-retrying")
	i.pause(t, "once-paused-retrying")
	i.happens(t, "once-paused-retrying", failed, 1)
	i.settles(t, "once-paused-retrying")
	for _, name := range []string{"once-paused-sleeping", "once-paused-by-signal", "once-paused-running", "once-paused-retrying"} {
		i.is(t, name, gnomonv1.Status_PAUSED)
	}
	made.save(t, i, "once-paused-sleeping", "once-paused-by-signal", "once-paused-running", "once-paused-retrying", "once-resumed-in-time")

	passes(t, late.GetSpec().GetStartPolicy().GetStartAt().AsTime())
	i.resume(t, "once-paused-then-resumed")
	i.closes(t, "once-paused-then-resumed")
	made.save(t, i, "once-paused-then-resumed")
}

// TestUpdates records actions that were given another spec, and one that was triggered.
func TestUpdates(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		i.once("once-triggered", "/ok", far),
		i.once("once-updated-sleeping", "/old", far),
		i.once("once-updated-running", "/block", i.soon(t)),
		retrying(i.once("once-updated-retrying", "/status/500", i.soon(t)), 5, far),
		i.once("once-updated-by-signal", "/old", far),
	)
	for _, name := range []string{"once-triggered", "once-updated-sleeping", "once-updated-by-signal"} {
		i.happens(t, name, sleeps, 1)
	}
	i.trigger(t, "once-triggered")
	i.update(t, i.once("once-updated-sleeping", "/new", i.soon(t)))
	i.signal(t, "once-updated-by-signal", workflowv1.CommandUpdate, &workflowv1.Command{Action: i.once("once-updated-by-signal", "/new", i.soon(t))})
	i.arrives(t, "once-updated-running", 1)
	i.update(t, i.once("once-updated-running", "/new", i.soon(t)))
	i.retries(t, "once-updated-retrying")
	i.update(t, i.once("once-updated-retrying", "/new", i.soon(t)))
	for _, name := range []string{
		"once-triggered", "once-updated-sleeping", "once-updated-by-signal", "once-updated-running", "once-updated-retrying",
	} {
		i.closes(t, name)
		made.save(t, i, name)
	}
}

// TestDeletions records deletions, however they came.
func TestDeletions(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		i.once("once-deleted-sleeping", "/ok", far),
		i.once("once-deleted-by-temporal", "/ok", far),
		i.once("once-deleted-by-signal", "/ok", far),
		i.once("once-deleted-paused", "/ok", far),
		i.once("once-deleted-running", "/block", i.soon(t)),
		i.once("once-deleted-by-temporal-running", "/block", i.soon(t)),
		retrying(i.once("once-deleted-retrying", "/status/500", i.soon(t)), 5, far),
	)
	for _, name := range []string{"once-deleted-sleeping", "once-deleted-by-temporal", "once-deleted-by-signal", "once-deleted-paused"} {
		i.happens(t, name, sleeps, 1)
	}
	i.pause(t, "once-deleted-paused")
	i.happens(t, "once-deleted-paused", completed, 1)
	i.delete(t, "once-deleted-paused")
	i.delete(t, "once-deleted-sleeping")
	i.cancel(t, "once-deleted-by-temporal")
	i.signal(t, "once-deleted-by-signal", workflowv1.CommandCancel, nil)
	i.arrives(t, "once-deleted-running", 1)
	i.delete(t, "once-deleted-running")
	i.arrives(t, "once-deleted-by-temporal-running", 1)
	i.cancel(t, "once-deleted-by-temporal-running")
	i.retries(t, "once-deleted-retrying")
	i.delete(t, "once-deleted-retrying")
	for _, name := range []string{
		"once-deleted-paused", "once-deleted-sleeping", "once-deleted-by-temporal", "once-deleted-by-signal",
		"once-deleted-running", "once-deleted-by-temporal-running", "once-deleted-retrying",
	} {
		i.closes(t, name)
		made.save(t, i, name)
	}
}

// TestWithoutWorkers records commands that were left while no worker ran, and stand before
// the timer that fired meanwhile.
func TestWithoutWorkers(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-deleted-without-workers"
	a := i.once(name, "/ok", i.soon(t))
	i.create(t, a)
	i.happens(t, name, sleeps, 1)
	i.rest()
	_, err := i.facade.PauseAction(hurried(t), &gnomonv1.PauseActionRequest{Id: name})
	require.NoError(t, err)
	_, err = i.facade.ResumeAction(hurried(t), &gnomonv1.ResumeActionRequest{Id: name})
	require.NoError(t, err)
	_, err = i.facade.DeleteAction(hurried(t), &gnomonv1.DeleteActionRequest{Id: name})
	require.NoError(t, err)
	passes(t, a.GetSpec().GetStartPolicy().GetStartAt().AsTime())
	i.work(t)
	i.closes(t, name)
	made.save(t, i, name)
}

// TestSignals records signals that are none.
func TestSignals(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-malformed-signals"
	i.create(t, i.once(name, "/ok", far))
	i.happens(t, name, sleeps, 1)
	i.signal(t, name, workflowv1.CommandUpdate, map[string]any{"spec": 1})
	i.signal(t, name, workflowv1.CommandPause, "not a command")
	i.signal(t, name, workflowv1.CommandTrigger, []byte{0xff, 0})
	i.signal(t, name, "explode", nil)
	i.happens(t, name, completed, 1)
	i.trigger(t, name)
	i.closes(t, name)
	made.save(t, i, name)
}
