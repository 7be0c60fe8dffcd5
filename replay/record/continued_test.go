package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/faulty"
)

// TestContinued records a periodic action whose history grew long, and its next run.
func TestContinued(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "periodic-continued"
	i.create(t, every(i.once(name, "/ok", i.soon(t)), time.Second))
	run := i.run(t, name)
	i.happens(t, name, continues, 1)
	made.saveRun(t, i, name, run, name)
	next := i.run(t, name)
	i.happens(t, name, completed, 2)
	made.saveRun(t, i, name, next, name+"-next")
	i.delete(t, name)
}

// TestPauseContinued records a pause that outlasts a run.
func TestPauseContinued(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-paused-continued"
	i.create(t, i.once(name, "/ok", i.soon(t)))
	i.pause(t, name)
	made.saveBothRuns(t, i, name, i.fill(t, name))
}

// TestRetryContinued records an occurrence that one run began and the next one ended.
func TestRetryContinued(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-occurrence-continued"
	i.create(t, retrying(i.once(name, "/fail-first/1", i.soon(t)), 5, 5*time.Second))
	i.retries(t, name)
	i.pause(t, name)
	i.happens(t, name, failed, 1)
	made.saveBothRuns(t, i, name, i.fill(t, name))
	i.arrives(t, name, 2)
}

// fill fills the history of a paused action until it continues as a new run, which
// is resumed. It says which run was filled.
func (i *installation) fill(t *testing.T, id string) string {
	t.Helper()
	full := i.run(t, id)
	require.Eventually(t, func() bool {
		i.signal(t, id, workflowv1.CommandPause, nil)
		i.settles(t, id)
		return i.run(t, id) != full
	}, within, time.Millisecond, id)
	i.is(t, id, gnomonv1.Status_PAUSED)
	i.resume(t, id)
	return full
}

// saveBothRuns records a run that continued and, when it has closed, the next one.
func (r *recordings) saveBothRuns(t *testing.T, i *installation, name, first string) {
	t.Helper()
	i.closes(t, name)
	r.saveRun(t, i, name, first, name)
	r.saveRun(t, i, name, i.run(t, name), name+"-next")
}

// TestRevived records an action that was made anew after its deletion, before its last
// row was stored.
func TestRevived(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-revived"
	i.create(t, i.once(name, "/old", far))
	i.happens(t, name, sleeps, 1)
	i.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutActions}})
	i.delete(t, name)
	first := i.run(t, name)
	i.upsert(t, i.once(name, "/new", soonest))
	i.store.Set(faulty.Faults{})
	made.saveBothRuns(t, i, name, first)
}

// TestLeftAndRevived is revived without workers: deletion and creation are left as
// signals.
func TestLeftAndRevived(t *testing.T) {
	t.Parallel()
	i := install(t)
	const name = "once-revived-without-workers"
	i.create(t, i.once(name, "/old", far))
	i.happens(t, name, sleeps, 1)
	first := i.run(t, name)
	i.rest()
	_, err := i.facade.DeleteAction(hurried(t), &gnomonv1.DeleteActionRequest{Id: name})
	require.NoError(t, err)
	_, err = i.facade.UpdateAction(hurried(t), &gnomonv1.UpdateActionRequest{Action: i.once(name, "/new", 2*time.Second), AllowMissing: true})
	require.NoError(t, err)
	i.work(t)
	i.arrives(t, name, 1)
	made.saveBothRuns(t, i, name, first)
}
