package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-30, M-31, M-39: the retries of a tick have a budget and a counter of their own,
// while the status counts across ticks and never stops the action.
func TestBudgetOfATick(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, t1(2)))
	for tick := range 5 {
		now := start.Add(time.Duration(tick) * time.Minute)
		require.Equal(t, now, at(s.GetStatus().GetScheduledAt()))
		for _, delay := range []time.Duration{2, 3} {
			require.Equal(t, life.Again, attempt(t, s, now, failed(now)))
			now = now.Add(delay * time.Second)
			require.Equal(t, now, at(s.GetStatus().GetScheduledAt()))
		}
		require.Equal(t, life.Over, attempt(t, s, now, failed(now)))
		require.Equal(t, gnomonv1.Status_SCHEDULED, s.GetStatus().GetState())
		require.EqualValues(t, 3*(tick+1), s.GetStatus().GetConsecutiveFailuresCounter())
	}
}

// M-30: a retry that would not begin before the next tick is dropped.
func TestRetryThatWouldReachTheNextTickIsDropped(t *testing.T) {
	t.Parallel()
	s := state(periodic(2*time.Second, t1(9)))
	require.Equal(t, life.Over, attempt(t, s, start, failed(start)))
	require.Equal(t, start.Add(2*time.Second), at(s.GetStatus().GetScheduledAt()))

	s = state(periodic(2*time.Second+time.Microsecond, t1(9)))
	require.Equal(t, life.Again, attempt(t, s, start, failed(start)))
}

// M-29, M-33: ticks that pass during an attempt, or while nothing was up, collapse.
func TestMissedTicksCollapse(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Second, nil))
	attempt(t, s, start.Add(time.Hour), succeeded(start.Add(time.Hour+2500*time.Millisecond)))
	require.Equal(t, start, at(s.GetStatus().GetLastAttemptStatus().GetOccurrence()))
	require.Equal(t, start.Add(time.Hour+3*time.Second), at(s.GetStatus().GetScheduledAt()))
}

// M-29: the next tick is strictly later than the one that was performed, even where
// the attempt's clock lags behind the one that found the tick due. Else the tick
// would be performed twice.
func TestATickIsNotPerformedTwiceByALaggingClock(t *testing.T) {
	t.Parallel()
	s, in := begun(periodic(time.Second, nil))
	p := progress(in)
	begin := start.Add(-20 * time.Millisecond)
	life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: begin})
	require.Equal(t, start.Add(time.Second), at(p.GetStatus().GetScheduledAt()))
	life.Settle(s.GetSpec(), s.GetMeta(), p, succeeded(begin.Add(10*time.Millisecond)))
	require.Equal(t, start.Add(time.Second), at(p.GetStatus().GetScheduledAt()))
}

// M-23, M-26, M-29, M-30, M-39: whatever the attempts of one tick or one once-action
// come to, they are at most 1 + MaxRetries, no retry begins before the delay is over
// or at or after the next tick, and the counters are exact.
func TestAttemptsStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	outcomes := rapid.SampledFrom([]gnomonv1.AttemptStatus_Outcome{
		gnomonv1.AttemptStatus_FAILURE, gnomonv1.AttemptStatus_FAILURE, gnomonv1.AttemptStatus_INTERRUPTED, gnomonv1.AttemptStatus_SUCCESS,
	})
	rapid.Check(t, func(t *rapid.T) {
		retries := rapid.Uint32Range(0, 8).Draw(t, "retries")
		sp := once(t1(retries))
		byPeriod := rapid.Bool().Draw(t, "periodic")
		if byPeriod {
			sp = periodic(time.Duration(rapid.IntRange(1, 60).Draw(t, "period"))*time.Second, t1(retries))
		}
		s := state(sp)
		now := start
		var attempts uint32
		var count struct{ succeeded, failed, interrupted, row uint64 }
		for {
			in := life.Begin(s, now)
			p := progress(in)
			life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: now})
			end := now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			e := life.Ending{Outcome: outcomes.Draw(t, "outcome"), At: end}
			verdict := life.Settle(s.GetSpec(), s.GetMeta(), p, e)
			life.Adopt(s, p)
			attempts++
			count.row++
			switch e.Outcome {
			case gnomonv1.AttemptStatus_SUCCESS:
				count.succeeded, count.row = count.succeeded+1, 0
			case gnomonv1.AttemptStatus_INTERRUPTED:
				count.interrupted++
			default:
				count.failed++
			}
			st := s.GetStatus()
			require.Equal(t, count.succeeded, st.GetSuccessfulAttemptsCounter())
			require.Equal(t, count.failed, st.GetFailedAttemptsCounter())
			require.Equal(t, count.interrupted, st.GetInterruptedAttemptsCounter())
			require.Equal(t, count.row, st.GetConsecutiveFailuresCounter())
			if verdict == life.Over {
				break
			}
			require.NotEqual(t, gnomonv1.AttemptStatus_SUCCESS, e.Outcome)
			retry := at(s.GetOccurrence().GetNotBefore())
			require.False(t, retry.Before(end))
			require.False(t, retry.Before(now.Add(2*time.Second)))
			now = retry
		}
		require.LessOrEqual(t, attempts, retries+1)
		require.Equal(t, byPeriod, !life.Ended(s.GetStatus()))
		if byPeriod {
			require.True(t, at(s.GetStatus().GetScheduledAt()).After(now))
		}
	})
}
