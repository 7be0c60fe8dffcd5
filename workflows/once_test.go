package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
)

var errNo = errors.New("no")

func fails(context.Context, performers.Request) error { return errNo }

// M-10, M-25, M-36: performed once, at its time, and over.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	require.Equal(t, "done", st.GetLastAttemptStatus().GetReply())
	require.Equal(t, []time.Duration{0}, w.acted())
	require.Equal(t, "a/guid-1/2026-11-21T10:00:00Z", w.attempts[0].key)
}

// M-11: a time in the past means at once.
func TestOnceInThePast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finish(state(startingAt(once(nil), accepted.Add(-9*time.Minute))))
	require.Equal(t, []time.Duration{-time.Minute}, w.acted())
}

// M-17, M-23, M-24, M-37, M-39, T1: every attempt of table T1, to the millisecond.
func TestAllOfTableT1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = fails
	st := w.finish(state(once(t1(9))))
	var want []time.Duration
	for _, cumulated := range []time.Duration{0, 2, 5, 10, 19, 36, 69, 129, 189, 249} {
		want = append(want, cumulated*time.Second)
	}
	require.Equal(t, want, w.acted())
	require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
	require.EqualValues(t, 10, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 10, st.GetConsecutiveFailuresCounter())
	require.Zero(t, st.GetInterruptedAttemptsCounter())
	require.Equal(t, "no", st.GetLastAttemptStatus().GetError())
	for i, m := range w.attempts {
		require.EqualValues(t, i+1, m.number)
		require.Equal(t, w.attempts[0].key, m.key, "M-59: one key for all attempts")
	}
}

// M-17: policies that Temporal's own formula cannot express.
func TestDelaysThatTemporalCannotExpress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		backOff float64
		want    []time.Duration
	}{
		"falling":  {0.5, []time.Duration{0, 2000, 3500, 4750, 5875}},
		"zero":     {0, []time.Duration{0, 2000, 3000, 4000, 5000}},
		"constant": {1, []time.Duration{0, 2000, 4000, 6000, 8000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.perform = fails
			p := t1(4)
			p.RestartPeriodBackOff = c.backOff
			w.finish(state(once(p)))
			for i := range c.want {
				c.want[i] *= time.Millisecond
			}
			require.Equal(t, c.want, w.acted())
		})
	}
}

// M-23, M-39: failures, then the success that ends it.
func TestFailuresThenSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = func(_ context.Context, r performers.Request) error {
		if r.Attempt < 3 {
			return errNo
		}
		return nil
	}
	st := w.finish(state(once(t1(9))))
	require.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second}, w.acted())
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	require.Zero(t, st.GetConsecutiveFailuresCounter())
}

// M-23, M-25: no retry asked for, and none worth making.
func TestOneFailureEndsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retries uint32
		err     error
	}{
		"MaxRetries 0": {0, errNo},
		"permanent":    {9, performers.Permanent(errNo)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.perform = func(context.Context, performers.Request) error { return c.err }
			st := w.finish(state(once(t1(c.retries))))
			require.Equal(t, []time.Duration{0}, w.acted())
			require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
			require.EqualValues(t, 1, st.GetFailedAttemptsCounter())
		})
	}
}

// M-26, M-38: a panic is an interrupted attempt, counts and is retried.
func TestPanicIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform = func(_ context.Context, r performers.Request) error {
		if r.Attempt == 2 {
			return errNo
		}
		panic("boom")
	}
	st := w.finish(state(once(t1(2))))
	require.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second}, w.acted())
	require.Equal(t, gnomonv1.Status_FAILED, st.GetState())
	require.EqualValues(t, 2, st.GetInterruptedAttemptsCounter())
	require.EqualValues(t, 1, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 3, st.GetConsecutiveFailuresCounter())
	require.Equal(t, "panic: boom", st.GetLastAttemptStatus().GetError())
}
