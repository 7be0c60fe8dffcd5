package group

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

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
