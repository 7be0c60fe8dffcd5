package record

import (
	"testing"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// TestTicks records periodic actions at and between their ticks.
func TestTicks(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		every(i.once("periodic-waiting", "/ok", i.soon(t)), far),
		every(i.once("periodic-running", "/block", i.soon(t)), far),
		retrying(every(i.once("periodic-retrying", "/status/500", i.soon(t)), far), 5, far/2),
		retrying(every(i.once("periodic-failing", "/status/500", i.soon(t)), 3*time.Second), 1, time.Second),
		retrying(every(i.once("periodic-retries-in-ticks", "/fail-first/1", i.soon(t)), 3*time.Second), 5, time.Second),
		every(i.once("periodic-updated", "/block", i.soon(t)), far),
		every(i.once("periodic-deleted", "/ok", i.soon(t)), far),
	)
	i.arrives(t, "periodic-updated", 1)
	i.update(t, every(i.once("periodic-updated", "/new", far), far))
	i.succeeds(t, "periodic-deleted", 1)
	i.delete(t, "periodic-deleted")
	i.closes(t, "periodic-deleted")
	i.succeeds(t, "periodic-waiting", 1)
	i.arrives(t, "periodic-running", 1)
	i.retries(t, "periodic-retrying")
	i.happens(t, "periodic-updated", completed, 1)
	for _, name := range []string{"periodic-waiting", "periodic-updated"} {
		i.settles(t, name)
		i.is(t, name, gnomonv1.Status_SCHEDULED)
	}
	made.save(t, i, "periodic-waiting", "periodic-running", "periodic-retrying", "periodic-updated", "periodic-deleted")

	i.happens(t, "periodic-failing", failed, 2)
	i.succeeds(t, "periodic-retries-in-ticks", 2)
	made.save(t, i, "periodic-failing", "periodic-retries-in-ticks")
}

// TestPausedTicks records periodic actions that were paused, and one that was resumed
// after a tick had passed.
func TestPausedTicks(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		every(i.once("periodic-paused-sleeping", "/ok", far), far),
		retrying(every(i.once("periodic-paused-retrying", "/status/500", i.soon(t)), far), 100, 3*time.Second),
		retrying(every(i.once("periodic-paused-retrying-then-resumed", "/status/500", i.soon(t)), far), 100, 3*time.Second),
		every(i.once("periodic-paused-then-resumed", "/ok", -time.Second), far),
	)
	i.happens(t, "periodic-paused-sleeping", sleeps, 1)
	i.pause(t, "periodic-paused-sleeping")
	i.succeeds(t, "periodic-paused-then-resumed", 1)
	i.pause(t, "periodic-paused-then-resumed")
	i.happens(t, "periodic-paused-then-resumed", completed, 2)
	i.resume(t, "periodic-paused-then-resumed")
	for _, name := range []string{"periodic-paused-retrying", "periodic-paused-retrying-then-resumed"} {
		i.retries(t, name)
		i.pause(t, name)
	}
	for _, name := range []string{"periodic-paused-retrying", "periodic-paused-retrying-then-resumed"} {
		i.happens(t, name, failed, 1)
		i.settles(t, name)
	}
	i.resume(t, "periodic-paused-retrying-then-resumed")
	i.happens(t, "periodic-paused-sleeping", completed, 1)
	i.happens(t, "periodic-paused-then-resumed", completed, 3)
	for _, name := range []string{"periodic-paused-sleeping", "periodic-paused-retrying", "periodic-paused-retrying-then-resumed", "periodic-paused-then-resumed"} {
		i.settles(t, name)
		made.save(t, i, name)
	}
	i.is(t, "periodic-paused-sleeping", gnomonv1.Status_PAUSED)
	i.is(t, "periodic-paused-retrying", gnomonv1.Status_PAUSED)
	i.is(t, "periodic-paused-then-resumed", gnomonv1.Status_SCHEDULED)
}

// TestTriggeredTicks records occurrences beside the ticks.
func TestTriggeredTicks(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		every(i.once("periodic-triggered", "/ok", far), far),
		every(i.once("periodic-triggered-running", "/block", i.soon(t)), far),
	)
	i.happens(t, "periodic-triggered", sleeps, 1)
	i.trigger(t, "periodic-triggered")
	i.succeeds(t, "periodic-triggered", 1)
	i.arrives(t, "periodic-triggered-running", 1)
	i.trigger(t, "periodic-triggered-running")
	i.inbox.Release()
	i.nth(t, "periodic-triggered-running", 2)
	i.inbox.Release()
	i.succeeds(t, "periodic-triggered-running", 2)
	for _, name := range []string{"periodic-triggered", "periodic-triggered-running"} {
		i.settles(t, name)
		made.save(t, i, name)
	}
}

// TestCalendar records actions of the calendar. One that began two minutes ago has a
// tick at once.
func TestCalendar(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		minutely(i.once("calendar-waiting", "/ok", far)),
		minutely(i.once("calendar-ticking", "/ok", -2*time.Minute)),
	)
	i.happens(t, "calendar-waiting", sleeps, 1)
	i.succeeds(t, "calendar-ticking", 1)
	i.happens(t, "calendar-ticking", sleeps, 1)
	for _, name := range []string{"calendar-waiting", "calendar-ticking"} {
		i.settles(t, name)
		made.save(t, i, name)
	}
}
