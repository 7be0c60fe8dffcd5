package record

import (
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	started   = enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
	failed    = enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED
	completed = enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
	timedOut  = enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT
	sleeps    = enumspb.EVENT_TYPE_TIMER_STARTED
	continues = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
)

// TestSleeping records actions that wait for their time.
func TestSleeping(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t, i.once("once-waiting", "/ok", far))
	i.happens(t, "once-waiting", sleeps, 1)
	i.is(t, "once-waiting", gnomonv1.Status_SCHEDULED)
	made.save(t, i, "once-waiting")

	i.upsert(t, i.once("once-upserted", "/ok", far))
	i.happens(t, "once-upserted", sleeps, 1)
	made.save(t, i, "once-upserted")
}

// TestEnds records actions that ended by themselves.
func TestEnds(t *testing.T) {
	t.Parallel()
	i := install(t)
	permanent := i.once("once-failed-permanently", "/status/404", i.soon(t))
	permanent.GetSpec().GetAction().GetHttpRequest().GiveUpOnClientError = true
	i.create(t,
		i.once("once-succeeded-late", "/ok", -time.Minute),
		retrying(i.once("once-succeeded-after-retries", "/fail-first/2", i.soon(t)), 5, time.Second),
		retrying(i.once("once-failed-by-budget", "/status/500", i.soon(t)), 1, time.Second),
		retrying(permanent, 5, time.Second),
		retrying(panicking(i.once("once-failed-by-panics", "/", i.soon(t))), 1, time.Second),
	)
	made.ends(t, i, "once-succeeded", func(t *testing.T, id string, soon time.Duration) error {
		t.Helper()
		i.create(t, i.once(id, "/ok", soon))
		return nil
	})
	for _, name := range []string{
		"once-succeeded-late", "once-succeeded-after-retries",
		"once-failed-by-budget", "once-failed-permanently", "once-failed-by-panics",
	} {
		i.closes(t, name)
		made.save(t, i, name)
	}
}

// TestAttempts records actions during an attempt and between two.
func TestAttempts(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.create(t,
		i.once("once-running", "/block", i.soon(t)),
		retrying(i.once("once-retrying", "/status/500", i.soon(t)), 5, far),
	)
	i.arrives(t, "once-running", 1)
	i.is(t, "once-running", gnomonv1.Status_RUNNING)
	i.retries(t, "once-retrying")
	made.save(t, i, "once-running", "once-retrying")
}

// TestExpiry records actions that ended by their deadline.
func TestExpiry(t *testing.T) {
	t.Parallel()
	i := install(t)
	for name, begin := range map[string]func(t *testing.T, id string, soon time.Duration) error{
		"once-expired-waiting": func(t *testing.T, id string, soon time.Duration) error {
			t.Helper()
			i.create(t, until(i.once(id, "/ok", far), soon))
			return nil
		},
		"once-expired-in-retry-wait": func(t *testing.T, id string, soon time.Duration) error {
			t.Helper()
			i.create(t, until(retrying(i.once(id, "/status/500", soon), 5, far), 2*soon))
			return nil
		},
		"once-expired-paused": func(t *testing.T, id string, soon time.Duration) error {
			t.Helper()
			i.create(t, until(i.once(id, "/ok", soon), 2*soon))
			_, err := i.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
			return err
		},
		"periodic-expired": func(t *testing.T, id string, soon time.Duration) error {
			t.Helper()
			i.create(t, until(every(i.once(id, "/ok", soon), soon/2), 2*soon+soon/4))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made.ends(t, i, name, begin)
		})
	}
}
