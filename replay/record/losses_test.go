package record

import (
	"testing"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store/faulty"
)

// TestLostWorker records what becomes of attempts whose worker process is killed -9.
func TestLostWorker(t *testing.T) {
	t.Parallel()
	i := installIdle(t)
	first := i.workElsewhere(t)
	i.create(t,
		retrying(i.once("once-interrupted", "/block", i.soon(t)), 5, time.Second),
		i.once("once-interrupted-last", "/block", i.soon(t)),
		retrying(i.once("once-interrupted-waiting", "/block", i.soon(t)), 5, far),
		retrying(i.once("once-interrupted-updated", "/block", i.soon(t)), 5, far),
		retrying(i.once("once-interrupted-triggered", "/block", i.soon(t)), 5, far),
		retrying(i.once("once-interrupted-paused", "/block", i.soon(t)), 5, far),
		every(i.once("periodic-interrupted", "/block", i.soon(t)), 10*time.Second),
	)
	all := []string{
		"once-interrupted", "once-interrupted-last", "once-interrupted-waiting", "once-interrupted-updated",
		"once-interrupted-triggered", "once-interrupted-paused", "periodic-interrupted",
	}
	for _, name := range all {
		i.arrives(t, name, 1)
	}
	first.kill()
	i.work(t)
	for _, name := range all {
		i.happens(t, name, timedOut, 1)
	}
	i.arrives(t, "once-interrupted", 2)
	i.nth(t, "periodic-interrupted", 2)
	i.inbox.Release()
	for _, name := range []string{"once-interrupted", "once-interrupted-last"} {
		i.closes(t, name)
		made.save(t, i, name)
	}
	i.succeeds(t, "periodic-interrupted", 1)
	for _, name := range all[2:6] {
		i.happens(t, name, completed, 1) // the row
		i.settles(t, name)
	}
	i.update(t, i.once("once-interrupted-updated", "/new", far))
	i.pause(t, "once-interrupted-paused")
	i.trigger(t, "once-interrupted-triggered")
	i.arrives(t, "once-interrupted-triggered", 2)
	for _, name := range []string{"once-interrupted-updated", "once-interrupted-paused"} {
		i.happens(t, name, completed, 2)
	}
	i.is(t, "once-interrupted-waiting", gnomonv1.Status_RETRYING)
	i.is(t, "once-interrupted-paused", gnomonv1.Status_PAUSED)
	for _, name := range all[2:] {
		i.settles(t, name)
		made.save(t, i, name)
	}
}

// TestStoreDown records rows that the workflow had to see to itself.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		i.once("once-store-down-waiting", "/ok", far),
		i.once("once-store-down-at-the-end", "/ok", i.soon(t)),
		every(i.once("periodic-store-down", "/ok", i.soon(t)), far),
	)
	i.happens(t, "once-store-down-waiting", sleeps, 1)
	i.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutActions}})
	i.pause(t, "once-store-down-waiting")
	i.happens(t, "once-store-down-waiting", started, 1)
	for _, name := range []string{"once-store-down-at-the-end", "periodic-store-down"} {
		i.happens(t, name, started, 2)
	}
	made.save(t, i, "once-store-down-waiting")
	i.store.Set(faulty.Faults{})
	i.closes(t, "once-store-down-at-the-end")
	i.happens(t, "periodic-store-down", completed, 2)
	i.settles(t, "periodic-store-down")
	made.save(t, i, "once-store-down-at-the-end", "periodic-store-down")
}
