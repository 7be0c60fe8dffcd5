package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
)

// M-28, M-29, M-33: fixed rate from StartAt on a real server; an attempt that
// overruns its ticks skips them; two attempts never run at once.
func TestPeriodic(t *testing.T) {
	t.Parallel()
	i := install(t)
	fast, slow := i.id("fast"), i.id("slow")
	a := i.create(t, every(i.once(fast, "/ok", time.Second), time.Second))
	b := i.create(t, every(i.once(slow, "/slow/1500ms", time.Second), time.Second))
	i.arrival(t, 30*time.Second, func(receiver.Arrival) bool { return len(i.of(fast)) >= 8 && len(i.of(slow)) >= 4 })
	i.delete(t, fast)
	i.delete(t, slow)
	start := a.GetSpec().GetStartPolicy().GetStartAt().AsTime()
	for n, arrived := range i.of(fast) {
		require.Equal(t, start.Add(time.Duration(n)*time.Second), arrived.ScheduledAt.UTC(), "tick %d", n)
		require.GreaterOrEqual(t, arrived.Late(), time.Duration(0))
	}
	start = b.GetSpec().GetStartPolicy().GetStartAt().AsTime()
	for n, arrived := range i.of(slow) {
		require.Zero(t, arrived.ScheduledAt.Sub(start)%time.Second, "on the grid")
		if n > 0 {
			before := i.of(slow)[n-1]
			require.GreaterOrEqual(t, arrived.Time.Sub(before.Time), 1500*time.Millisecond, "never two at once")
			require.GreaterOrEqual(t, arrived.ScheduledAt.Sub(before.ScheduledAt), 2*time.Second, "the overrun tick is skipped")
			require.True(t, arrived.ScheduledAt.After(before.Time.Add(1500*time.Millisecond)), "no tick is caught up")
		}
	}
}

// M-30, M-31, M-39: retries inside a tick with a budget of its own; failure never
// stops a periodic action; the counter of failures in a row spans the ticks.
func TestPeriodicRetries(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	a := every(i.once(id, "/status/500", time.Second), 4*time.Second)
	a.GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy().RetryPolicy = &gnomonv1.RetryPolicy{
		MaxRetries: 5, MinRestartPeriod: durationpb.New(1500 * time.Millisecond), MaxRestartPeriod: durationpb.New(1500 * time.Millisecond),
	}
	i.create(t, a)
	i.arrival(t, 40*time.Second, func(receiver.Arrival) bool { return len(i.of(id)) >= 7 })
	i.delete(t, id)
	// 0 s, 1.5 s, 3 s of each tick; the next would pass the tick and is dropped.
	for n, arrived := range i.of(id)[:7] {
		require.EqualValues(t, n%3+1, arrived.Attempt)
		require.Equal(t, i.of(id)[0].ScheduledAt.Add(time.Duration(n/3)*4*time.Second), arrived.ScheduledAt)
	}
}

// Pause, resume and trigger on a real server, with their refusals.
func TestPauseResumeTrigger(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	ctx := t.Context()
	i.create(t, i.once(id, "/ok", 2*time.Second))
	_, err := i.facade.ResumeAction(ctx, &gnomonv1.ResumeActionRequest{Id: id})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	p, err := i.facade.PauseAction(ctx, &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Status_PAUSED, p.GetStatus().GetState())
	_, err = i.facade.TriggerAction(ctx, &gnomonv1.TriggerActionRequest{Id: id})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	paused := time.Now()
	eventually(t, 10*time.Second, "its time has passed", func() bool { return time.Since(paused) > 3*time.Second })
	require.Empty(t, i.of(id))
	_, err = i.facade.ResumeAction(ctx, &gnomonv1.ResumeActionRequest{Id: id})
	require.NoError(t, err)
	i.arrival(t, time.Second, path(id, "/ok"))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 10*time.Second).GetState())

	now := i.id("now")
	i.create(t, i.once(now, "/ok", time.Hour))
	_, err = i.facade.TriggerAction(ctx, &gnomonv1.TriggerActionRequest{Id: now})
	require.NoError(t, err)
	i.arrival(t, 10*time.Second, path(now, "/ok"))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, now, 10*time.Second).GetState())
}

// A pause during a retry wait holds the retry, keeps the counters, and the resume
// goes on with what is left of the budget.
func TestPauseDuringRetryWait(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	ctx := t.Context()
	i.create(t, retrying(i.once(id, "/fail-first/2", time.Second), 8))
	i.arrival(t, 20*time.Second, path(id, "/fail-first/2"))
	_, err := i.facade.PauseAction(ctx, &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
	paused := time.Now()
	eventually(t, 10*time.Second, "the retry would have been", func() bool { return time.Since(paused) > 3500*time.Millisecond })
	require.Len(t, i.of(id), 1)
	seen, err := i.facade.GetAction(ctx, &gnomonv1.GetActionRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Status_PAUSED, seen.GetStatus().GetState())
	require.EqualValues(t, 1, seen.GetStatus().GetFailedAttemptsCounter())
	_, err = i.facade.ResumeAction(ctx, &gnomonv1.ResumeActionRequest{Id: id})
	require.NoError(t, err)
	st := i.closed(t, id, 20*time.Second)
	require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	arrivals := i.of(id)
	require.Len(t, arrivals, 3)
	require.GreaterOrEqual(t, arrivals[2].Time.Sub(arrivals[1].Time), 3*time.Second, "the delay takes the counter kept over the pause")
	require.Equal(t, arrivals[0].IdempotencyKey, arrivals[2].IdempotencyKey)
}

// M-13, M-15, M-16: a deadline before the start, in a retry wait, and for a
// periodic action.
func TestDeadline(t *testing.T) {
	t.Parallel()
	i := install(t)
	until := func(a *gnomonv1.ScheduledAction, in time.Duration) *gnomonv1.ScheduledAction {
		a.GetSpec().GetSendPolicy().Deadline = stamp(time.Now().Add(in))
		return a
	}
	never, retry, ticks := i.id("never"), i.id("retry"), i.id("ticks")
	i.create(t, until(i.once(never, "/ok", time.Hour), time.Second))
	i.create(t, until(retrying(i.once(retry, "/status/500", 0), 8), 4*time.Second))
	i.create(t, until(every(i.once(ticks, "/ok", 0), time.Second), 3500*time.Millisecond))
	for id, attempts := range map[string]int{never: 0, retry: 2, ticks: 4} {
		st := i.closed(t, id, 20*time.Second)
		require.Equal(t, gnomonv1.Status_EXPIRED, st.GetState(), id)
		require.Len(t, i.of(id), attempts, id)
		seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Status_EXPIRED, seen.GetStatus().GetState(), "an expired action is still found, with its final Status")
	}
}
