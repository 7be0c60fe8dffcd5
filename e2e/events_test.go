package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
)

// design.md, event budget: once 16, the number of a hand-written timer workflow.
func TestEventsOnce(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/ok", time.Second))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 20*time.Second).GetState())
	require.Len(t, i.events(t, id), 16, kinds(i.events(t, id)))
}

// design.md, event budget: a retry 0. The delays are T1's: never early, at most
// 300 ms late (M-17, M-24, M-27). It runs alone, as it measures time.
func TestEventsRetryAndDelays(t *testing.T) { //nolint:paralleltest // it measures time
	i := install(t)
	id := i.id("a")
	i.create(t, retrying(i.once(id, "/fail-first/4", time.Second), 8))
	st := i.closed(t, id, 60*time.Second)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.EqualValues(t, 4, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	require.Zero(t, st.GetConsecutiveFailuresCounter())
	require.Len(t, i.events(t, id), 16, kinds(i.events(t, id)))

	arrivals := i.of(id)
	require.Len(t, arrivals, 5)
	for k, want := range []time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second, 9 * time.Second} {
		gap := arrivals[k+1].Time.Sub(arrivals[k].Time)
		require.GreaterOrEqual(t, gap, want, "retry %d is early", k+1)
		require.Less(t, gap, want+300*time.Millisecond, "retry %d is late", k+1)
		require.Equal(t, arrivals[0].IdempotencyKey, arrivals[k+1].IdempotencyKey, "one key for all attempts (M-59)")
		require.EqualValues(t, k+2, arrivals[k+1].Attempt)
	}
	require.NotEmpty(t, arrivals[0].GUID)
}

// design.md, event budget: a periodic tick 11.
func TestEventsTick(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, every(i.once(id, "/ok", time.Second), time.Second))
	count := func(n int) int { return ticksOf(t, i, id, n) }
	first := count(2)
	require.Equal(t, 3*11, count(5)-first, kinds(i.events(t, id)))
}

// ticksOf is how many events there are up to the start of the attempt of a number.
func ticksOf(t *testing.T, i *installation, id string, n int) int {
	t.Helper()
	i.arrival(t, 30*time.Second, func(receiver.Arrival) bool { return len(i.of(id)) >= n })
	all, seen := i.events(t, id), 0
	for at, e := range all {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			if seen++; seen == n {
				return at
			}
		}
	}
	t.Fatal("the attempt that arrived was never scheduled")
	return 0
}

// design.md, event budget: a command at most 7 events, as a signal 6, beside those
// of storing its row.
func TestEventsCommand(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/ok", time.Hour))
	eventually(t, 10*time.Second, "the timer runs", func() bool { return len(i.events(t, id)) == 5 })
	before := len(i.events(t, id))
	_, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: i.once(id, "/new", 2*time.Hour)})
	require.NoError(t, err)
	// Scheduled by the task of the update, the Mirror activity ends it.
	eventually(t, 10*time.Second, "the row is stored", func() bool {
		return has(i.events(t, id), enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
	})
	eventually(t, 10*time.Second, "the task after it is done", func() bool {
		all := i.events(t, id)
		return all[len(all)-1].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	})
	const mirror = 6 // scheduled, started, completed, and a task of three
	require.LessOrEqual(t, len(i.events(t, id))-before, 7+mirror, kinds(i.events(t, id)))
}

// of are the arrivals of one action.
func (i *installation) of(id string) []receiver.Arrival {
	var own []receiver.Arrival
	for _, a := range i.inbox.Arrivals() {
		if a.ActionID == id {
			own = append(own, a)
		}
	}
	return own
}

func kinds(events []*historypb.HistoryEvent) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.GetEventType().String()
	}
	return names
}

func has(events []*historypb.HistoryEvent, kind enumspb.EventType) bool {
	for _, e := range events {
		if e.GetEventType() == kind {
			return true
		}
	}
	return false
}
