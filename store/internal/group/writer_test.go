package group

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errBlame = errors.New("one of them is to blame")

// recorder commits numbers and holds back until it is let go.
type recorder struct {
	groups [][]int
	gate   chan struct{}
}

func (r *recorder) commit(group []int) ([]int, error) {
	<-r.gate
	r.groups = append(r.groups, group)
	results := make([]int, len(group))
	for i, n := range group {
		if n < 0 {
			return nil, errBlame
		}
		results[i] = n * 10
	}
	return results, nil
}

func newRecorder(t *testing.T, limit int) (*recorder, *Writer[int, int]) {
	t.Helper()
	r := &recorder{gate: make(chan struct{})}
	w := New(Config[int, int]{
		Commit: r.commit, Weigh: func(int) int { return 1 }, Limit: limit,
		Alone: func(err error) bool { return errors.Is(err, errBlame) },
	})
	t.Cleanup(w.Stop)
	return r, w
}

func TestWhoWaitsSharesTheNextGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := newRecorder(t, 3)
		var wg sync.WaitGroup
		for n := range 6 {
			wg.Go(func() {
				got, err := w.Do(t.Context(), n)
				require.NoError(t, err)
				require.Equal(t, n*10, got)
			})
			synctest.Wait() // the first is a group of its own
		}
		close(r.gate)
		wg.Wait()
		var sizes []int
		for _, group := range r.groups {
			sizes = append(sizes, len(group))
		}
		require.Equal(t, []int{1, 3, 2}, sizes)
	})
}

func TestFailureIsOnlyItsCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := newRecorder(t, 10)
		var wg sync.WaitGroup
		for _, n := range []int{1, 2, -3, 4} {
			wg.Go(func() {
				_, err := w.Do(t.Context(), n)
				require.Equal(t, n < 0, errors.Is(err, errBlame))
			})
			synctest.Wait()
		}
		close(r.gate)
		wg.Wait()
	})
}

func TestCallsOfThoseWhoLeftAreSkipped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := newRecorder(t, 10)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for n, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
			wg.Go(func() { _, _ = w.Do(ctx, n) })
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		close(r.gate)
		wg.Wait()
		require.Len(t, r.groups, 2)
		require.Len(t, r.groups[1], 1, "the one who left is in no group")
	})
}

func TestStopLetsTheGroupUnderWayFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := newRecorder(t, 10)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := w.Do(t.Context(), 1)
			require.NoError(t, err)
		})
		synctest.Wait()
		wg.Go(func() {
			_, err := w.Do(t.Context(), 2)
			require.ErrorIs(t, err, ErrStopped)
		})
		synctest.Wait()
		wg.Go(w.Stop)
		synctest.Wait()
		close(r.gate)
		wg.Wait()
	})
}

// F5: while each group takes long, others begin beside it, so that nobody waits for one
// group and is written by the next, and never more than Slow.
func TestGroupsBeginBesideSlowOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const writers, slow, patience = 2, 5, 110 * time.Millisecond
		began := time.Now()
		var mu sync.Mutex
		var begun []time.Duration
		var sizes []int
		gate := make(chan struct{})
		w := New(Config[int, int]{
			Weigh: func(int) int { return 1 }, Limit: 100, Writers: writers, Slow: slow, Patience: patience,
			Commit: func(group []int) ([]int, error) {
				mu.Lock()
				begun, sizes = append(begun, time.Since(began)), append(sizes, len(group))
				mu.Unlock()
				<-gate
				return make([]int, len(group)), nil
			},
		})
		var wg sync.WaitGroup
		for n := range 10 { // one each 50 ms
			wg.Go(func() {
				_, err := w.Do(t.Context(), n)
				require.NoError(t, err)
			})
			<-time.After(50 * time.Millisecond) // by the bubble's clock, as below
		}
		synctest.Wait()
		ms := time.Millisecond
		require.Equal(t, []time.Duration{0, 50 * ms, 160 * ms, 270 * ms, 380 * ms}, begun, "the first two at once, then one each 110 ms")
		require.Equal(t, []int{1, 1, 2, 2, 2}, sizes, "each with all that has come")
		close(gate)
		wg.Wait()
		require.Len(t, begun, 6, "the two who came last waited until one had ended")
		w.Stop()
	})
}

// A store that answers soon has Writers groups at once at the most.
func TestQuickGroupsShareTheWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var underWay, most, groups atomic.Int64
		w := New(Config[int, int]{
			Weigh: func(int) int { return 1 }, Limit: 100, Writers: 2, Slow: 5, Patience: 100 * time.Millisecond,
			Commit: func(group []int) ([]int, error) {
				most.Store(max(most.Load(), underWay.Add(1)))
				groups.Add(1)
				<-time.After(20 * time.Millisecond)
				underWay.Add(-1)
				return make([]int, len(group)), nil
			},
		})
		var wg sync.WaitGroup
		for n := range 200 {
			wg.Go(func() {
				_, err := w.Do(t.Context(), n)
				require.NoError(t, err)
			})
			<-time.After(time.Millisecond)
		}
		wg.Wait()
		require.EqualValues(t, 2, most.Load())
		require.Less(t, groups.Load(), int64(30))
		w.Stop()
	})
}
