package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-26, M-27, M-38, M-55: a lost worker's attempt is counted from the details it
// left and retried at max(detected, start + delay) with the budget that is left.
func TestLostWorker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ detected, retried time.Duration }{
		"noticed late":  {10 * time.Second, 10 * time.Second},
		"noticed early": {time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.perform = fails
			lost := 0
			w.take = func(a *attempt) bool {
				if lost++; lost == 1 {
					a.lose(c.detected, a.started(start))
					return true
				}
				return false
			}
			st := w.finish(state(once(t1(2))))
			require.Equal(t, []time.Duration{c.retried, c.retried + 3*time.Second}, w.acted())
			require.EqualValues(t, 2, w.attempts[0].number)
			require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
			require.EqualValues(t, 1, st.GetInterruptedAttemptsCounter())
			require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
			require.EqualValues(t, 3, st.GetConsecutiveFailuresCounter())
		})
	}
}

// M-55: what failed before the attempt that was lost stays counted.
func TestLostWorkerAfterFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = fails
	lost := 0
	w.take = func(a *attempt) bool {
		if lost++; lost > 1 {
			return false
		}
		// As the server would have it: two failures, then the third attempt's beats.
		p := a.started(start)
		no := life.Ending{Outcome: gnomonv1.AttemptStatus_FAILURE, At: start, Error: "no"}
		life.Settle(a.in.GetSpec(), a.in.GetMeta(), p, no)
		life.Settle(a.in.GetSpec(), a.in.GetMeta(), p, no)
		life.Start(a.in.GetSpec(), a.in.GetMeta(), p, life.Started{At: start.Add(5 * time.Second), Worker: "lost worker"})
		a.lose(6*time.Second, p)
		return true
	}
	w.at(start.Add(7*time.Second), func() {
		st := w.action().GetAction().GetStatus()
		require.Equal(t, gnomonv1.Status_RETRYING, st.GetState())
		require.Nil(t, st.GetCurrentAttemptStatus(), "M-40")
		require.Equal(t, "lost worker", st.GetLastAttemptStatus().GetWorker())
		require.Equal(t, gnomonv1.AttemptStatus_INTERRUPTED, st.GetLastAttemptStatus().GetOutcome())
		require.EqualValues(t, 3, st.GetLastAttemptStatus().GetAttempt())
		require.Equal(t, start.Add(10*time.Second), st.GetScheduledAt().AsTime())
		row, ok := w.rows.Row("a")
		require.True(t, ok)
		require.Equal(t, st.String(), row.Action.GetStatus().String(), "the workflow stores what no attempt can")
	})
	st := w.finish(state(once(t1(3))))
	require.Equal(t, []time.Duration{10 * time.Second}, w.acted())
	require.EqualValues(t, 3, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetInterruptedAttemptsCounter())
}

// M-38, M-55, F1: the server tells with the loss of an attempt how the one before it had
// failed, whose details are older than what the lost one left, whether in its middle or
// counted already. It is counted once and not made again under its number.
func TestLostWorkerAfterAFailureThatIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settled             bool
		failed, interrupted uint64
	}{
		"in its middle":   {false, 1, 1},
		"counted already": {true, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			lost := 0
			w.take = func(a *attempt) bool {
				if lost++; lost > 1 {
					return false
				}
				no := life.Ending{Outcome: gnomonv1.AttemptStatus_FAILURE, At: start, Error: "no"}
				before := a.started(start)
				life.Settle(a.in.GetSpec(), a.in.GetMeta(), before, no)
				before.Counted, before.Settled = 1, true
				left := proto.CloneOf(before)
				left.Settled = false
				life.Start(a.in.GetSpec(), a.in.GetMeta(), left, life.Started{At: start.Add(time.Second), Worker: "lost worker"})
				if c.settled {
					no.At = start.Add(time.Second)
					life.Settle(a.in.GetSpec(), a.in.GetMeta(), left, no)
					left.Counted, left.Settled = 2, true
				}
				a.loseAfter(3*time.Second, before, left)
				return true
			}
			st := w.finish(state(once(t1(3))))
			require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
			require.Len(t, w.attempts, 1)
			require.EqualValues(t, 3, w.attempts[0].number)
			require.Equal(t, c.failed, st.GetFailedAttemptsCounter())
			require.Equal(t, c.interrupted, st.GetInterruptedAttemptsCounter())
		})
	}
}

// M-27, M-38: a worker that was lost before its first word, and one that was lost in
// every attempt: the budget holds.
func TestWorkersLostToTheEndOfTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var began []time.Duration
	w.take = func(a *attempt) bool {
		began = append(began, w.now().Sub(start))
		a.lose(time.Second, nil)
		return true
	}
	st := w.finish(state(once(t1(3))))
	require.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second, 10 * time.Second}, began)
	require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
	require.EqualValues(t, 4, st.GetInterruptedAttemptsCounter())
	require.Zero(t, st.GetFailedAttemptsCounter())
	require.Contains(t, st.GetLastAttemptStatus().GetError(), "no heartbeat came in time")
}

// M-38: an end without details, such as that of a worker which does not know the
// activity, is an interrupted attempt.
func TestEndWithoutDetails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.take = func(a *attempt) bool {
		a.end(0, nil, temporal.NewNonRetryableApplicationError("not registered", "ActivityNotRegistered", nil))
		return true
	}
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
	require.EqualValues(t, 1, st.GetInterruptedAttemptsCounter())
}

// An attempt that had ended and left its last details, and whose process was lost
// before it could report, is counted once: as what it was.
func TestLostReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = fails
	lost := 0
	w.take = func(a *attempt) bool {
		if lost++; lost > 1 {
			return false
		}
		p := a.started(start)
		require.Equal(t, life.Again, life.Settle(a.in.GetSpec(), a.in.GetMeta(), p, life.Ending{
			Outcome: gnomonv1.AttemptStatus_FAILURE, At: start.Add(time.Second), Error: "no",
		}))
		p.Counted, p.Settled = 1, true
		a.lose(10*time.Second, p)
		return true
	}
	st := w.finish(state(once(t1(2))))
	// Its retry was due 2 s after its end, which is over when the loss is noticed.
	require.Equal(t, []time.Duration{10 * time.Second, 13 * time.Second}, w.acted())
	require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
	require.Zero(t, st.GetInterruptedAttemptsCounter())
	require.EqualValues(t, 3, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 3, st.GetConsecutiveFailuresCounter())
}
