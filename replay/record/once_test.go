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
	permanent := i.once("once-failed-permanently", "/status/404", soon)
	permanent.GetSpec().GetAction().GetHttpRequest().GiveUpOnClientError = true
	i.create(t,
		i.once("once-succeeded", "/ok", soon),
		i.once("once-succeeded-late", "/ok", -time.Minute),
		retrying(i.once("once-succeeded-after-retries", "/fail-first/2", soon), 5, time.Second),
		retrying(i.once("once-failed-by-budget", "/status/500", soon), 1, time.Second),
		retrying(permanent, 5, time.Second),
		retrying(panicking(i.once("once-failed-by-panics", "/", soon)), 1, time.Second),
	)
	for _, name := range []string{
		"once-succeeded", "once-succeeded-late", "once-succeeded-after-retries",
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
		i.once("once-running", "/block", soon),
		retrying(i.once("once-retrying", "/status/500", soon), 5, far),
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
	i.create(t, until(i.once("once-expired-paused", "/ok", soon), soon+time.Second))
	i.pause(t, "once-expired-paused")
	i.create(t,
		until(i.once("once-expired-waiting", "/ok", far), soon),
		until(retrying(i.once("once-expired-in-retry-wait", "/status/500", soon), 5, far), 2*soon),
		until(every(i.once("periodic-expired", "/ok", soon), time.Second), soon+2500*time.Millisecond),
	)
	for _, name := range []string{"once-expired-waiting", "once-expired-in-retry-wait", "once-expired-paused", "periodic-expired"} {
		i.closes(t, name)
		made.save(t, i, name)
	}
}
