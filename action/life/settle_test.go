package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-53, M-54, M-40: before an attempt acts, the retry it would have, counted from
// its start, is published as the next run, and the attempt as the current one.
func TestStartPublishesTheProvisionalRetry(t *testing.T) {
	t.Parallel()
	s, in := begun(once(t1(3)))
	p := progress(in)
	p.Occurrence.Attempts, p.Occurrence.Consecutive = 2, 2
	begin := start.Add(5 * time.Second)
	life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: begin, Worker: "host/build/1", RunID: "run-1"})
	require.Equal(t, begin.Add(5*time.Second), at(p.GetStatus().GetScheduledAt()))
	require.True(t, proto.Equal(&gnomonv1.AttemptStatus{
		Attempt: 3, Occurrence: life.Stamp(start), StartTime: life.Stamp(begin), Worker: "host/build/1",
		RunId: "run-1", IdempotencyKey: "a/guid-1/2026-11-21T10:00:00Z",
	}, p.GetStatus().GetCurrentAttemptStatus()))
}

// M-54, M-30: the provisional next run is the next tick where no retry is left or
// where it would not begin before that tick; nothing for a once-action's last.
func TestStartPublishesTheNextTick(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec  *gnomonv1.Spec
		begin time.Duration
		want  time.Time
	}{
		"once, last attempt":           {once(nil), 0, time.Time{}},
		"tick, no retry":               {periodic(time.Minute, nil), 0, start.Add(time.Minute)},
		"tick, retry":                  {periodic(time.Minute, t1(1)), 0, start.Add(2 * time.Second)},
		"tick, retry at the next tick": {periodic(time.Minute, t1(1)), 58 * time.Second, start.Add(time.Minute)},
		"tick, retry just before it":   {periodic(time.Minute, t1(1)), 58*time.Second - time.Microsecond, start.Add(time.Minute - time.Microsecond)},
	} {
		s, in := begun(c.spec)
		p := progress(in)
		life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: start.Add(c.begin)})
		require.Equal(t, c.want, at(p.GetStatus().GetScheduledAt()), name)
	}
}

// M-17, T1, M-23, M-24, M-25, M-37, M-39: a once-action that fails to the end of its
// budget, every delay from the end of the failed attempt by the counter before it.
func TestFailuresToTheEndOfTheBudget(t *testing.T) {
	t.Parallel()
	s := state(once(t1(9)))
	now := start
	for c, delay := range []time.Duration{2, 3, 5, 9, 17, 33, 60, 60, 60} {
		end := now.Add(700 * time.Millisecond)
		require.Equal(t, life.Again, attempt(t, s, now, failed(end)))
		st := s.GetStatus()
		require.Equal(t, gnomonv1.Status_RETRYING, st.GetState())
		require.EqualValues(t, c+1, st.GetFailedAttemptsCounter())
		require.EqualValues(t, c+1, st.GetConsecutiveFailuresCounter())
		require.EqualValues(t, c+1, st.GetLastAttemptStatus().GetAttempt())
		now = end.Add(delay * time.Second)
		require.Equal(t, now, at(st.GetScheduledAt()))
		require.Equal(t, life.Decision{Step: life.Wait, Until: now}, life.Next(s, end))
	}
	require.Equal(t, life.Over, attempt(t, s, now, failed(now)))
	require.Equal(t, gnomonv1.Status_FAILED, s.GetStatus().GetState())
	require.EqualValues(t, 10, s.GetStatus().GetFailedAttemptsCounter())
	require.Nil(t, s.GetStatus().GetScheduledAt())
	require.Nil(t, s.GetOccurrence())
}

// M-23, M-25, M-36, M-39, M-40: the first success ends a once-action, whatever
// failed before.
func TestSuccessEndsAOnceAction(t *testing.T) {
	t.Parallel()
	s := state(once(t1(9)))
	attempt(t, s, start, failed(start))
	require.Equal(t, life.Over, attempt(t, s, start.Add(2*time.Second), succeeded(start.Add(3*time.Second))))
	require.True(t, proto.Equal(&gnomonv1.Status{
		State: gnomonv1.Status_SUCCEEDED, SuccessfulAttemptsCounter: 1, FailedAttemptsCounter: 1,
		LastAttemptStatus: &gnomonv1.AttemptStatus{
			Attempt: 2, Occurrence: life.Stamp(start), StartTime: life.Stamp(start.Add(2 * time.Second)),
			FinishTime: life.Stamp(start.Add(3 * time.Second)), Outcome: gnomonv1.AttemptStatus_SUCCESS,
			Reply: "yes", IdempotencyKey: "a/guid-1/2026-11-21T10:00:00Z",
		},
	}, s.GetStatus()))
}

// M-23: without a policy there is one attempt. A permanent failure spends whatever
// budget is left.
func TestFailuresWithoutRetry(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	require.Equal(t, life.Over, attempt(t, s, start, failed(start)))
	require.Equal(t, gnomonv1.Status_FAILED, s.GetStatus().GetState())

	s = state(once(t1(9)))
	e := failed(start)
	e.Permanent = true
	require.Equal(t, life.Over, attempt(t, s, start, e))
	require.Equal(t, gnomonv1.Status_FAILED, s.GetStatus().GetState())
	require.EqualValues(t, 1, s.GetStatus().GetFailedAttemptsCounter())
}

// M-26, M-27, M-38, M-39: interrupted attempts count for the budget and in a row,
// and the retry waits for max(detected, start + delay).
func TestInterruptedAttemptsWaitFromTheirStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ detected, want time.Duration }{
		"noticed at once":        {0, 2 * time.Second},
		"noticed within delay":   {2*time.Second - time.Microsecond, 2 * time.Second},
		"noticed at delay's end": {2 * time.Second, 2 * time.Second},
		"noticed later":          {10 * time.Second, 10 * time.Second},
	} {
		s := state(once(t1(1)))
		e := life.Ending{Outcome: gnomonv1.AttemptStatus_INTERRUPTED, At: start.Add(c.detected)}
		require.Equal(t, life.Again, attempt(t, s, start, e), name)
		require.Equal(t, start.Add(c.want), at(s.GetStatus().GetScheduledAt()), name)
		require.EqualValues(t, 1, s.GetStatus().GetInterruptedAttemptsCounter())
		require.EqualValues(t, 1, s.GetStatus().GetConsecutiveFailuresCounter())
		require.Zero(t, s.GetStatus().GetFailedAttemptsCounter())

		require.Equal(t, life.Over, attempt(t, s, start.Add(c.want), e), "the budget is spent")
		require.Equal(t, gnomonv1.Status_FAILED, s.GetStatus().GetState())
	}
}

// A worker that stops in order is nobody's fault: its attempt goes on elsewhere at
// once, and counts.
func TestImmediateRetry(t *testing.T) {
	t.Parallel()
	s := state(once(t1(2)))
	e := life.Ending{Outcome: gnomonv1.AttemptStatus_INTERRUPTED, At: start.Add(time.Second), Immediate: true}
	require.Equal(t, life.Again, attempt(t, s, start, e))
	require.Equal(t, start.Add(time.Second), at(s.GetOccurrence().GetNotBefore()))
	require.EqualValues(t, 1, s.GetOccurrence().GetAttempts())
}

// M-13, M-15: a retry exactly at the deadline is made; one a microsecond later is
// held, and the action stays until its deadline.
func TestRetryAtTheDeadline(t *testing.T) {
	t.Parallel()
	s := state(until(once(t1(9)), start.Add(2*time.Second)))
	require.Equal(t, life.Again, attempt(t, s, start, failed(start)))

	s = state(until(once(t1(9)), start.Add(2*time.Second)))
	late := start.Add(time.Microsecond)
	require.Equal(t, life.Hold, attempt(t, s, start, failed(late)))
	require.Equal(t, gnomonv1.Status_RETRYING, s.GetStatus().GetState())
	require.Equal(t, life.Decision{Step: life.Wait, Until: start.Add(2 * time.Second)}, life.Next(s, late))
	require.Equal(t, life.Expire, life.Next(s, start.Add(2*time.Second)).Step)
}

// M-15: an attempt that runs across the deadline is counted, and nothing follows.
func TestAttemptAcrossTheDeadline(t *testing.T) {
	t.Parallel()
	s := state(until(periodic(time.Minute, nil), start.Add(time.Second)))
	attempt(t, s, start, succeeded(start.Add(30*time.Second)))
	require.EqualValues(t, 1, s.GetStatus().GetSuccessfulAttemptsCounter())
	require.Equal(t, life.Expire, life.Next(s, start.Add(30*time.Second)).Step)
}
