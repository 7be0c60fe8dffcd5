package faulty_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/store/storetest"
)

func setup(t *testing.T) *faulty.Store {
	t.Helper()
	inner, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	s := faulty.New(inner, 1)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func row(id string) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}},
		Revision: store.Revision{Sequence: 1},
		Chain:    "chain",
	}
}

func put(t *testing.T, s *faulty.Store, id string) error {
	t.Helper()
	_, err := s.PutActions(t.Context(), []store.Row{row(id)})
	return err
}

// Where every write is done twice, the rules of a store hold all the same (F6 of
// faults.md).
func TestConformanceWithDoubledWrites(t *testing.T) {
	t.Parallel()
	opened := func(t *testing.T, o storetest.Options) *faulty.Store {
		t.Helper()
		inner, err := sqlite.Open(t.Context(), sqlite.Config{
			Path: sqlite.MemoryPath, Now: o.Now, TombstoneTTL: o.TombstoneTTL,
		})
		require.NoError(t, err)
		s := faulty.New(inner, 1)
		s.Set(faulty.Faults{Double: 1})
		return s
	}
	storetest.Run(t, func(t *testing.T, o storetest.Options) store.Actions { t.Helper(); return opened(t, o) })
	storetest.RunBatches(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
	storetest.RunNodes(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
	storetest.RunEntities(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
}

// F5 of faults.md: the store is down, then back.
func TestFailAllReachesNothing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.NoError(t, put(t, s, "before"))
	s.Set(faulty.Faults{Fail: 1})
	_, err := s.PutActions(t.Context(), []store.Row{row("a")})
	require.ErrorIs(t, err, faulty.ErrInjected)
	_, err = s.InsertAction(t.Context(), row("a"))
	require.ErrorIs(t, err, faulty.ErrInjected)
	_, err = s.GetAction(t.Context(), "before")
	require.ErrorIs(t, err, faulty.ErrInjected)
	_, err = s.ListActions(t.Context(), store.ActionQuery{Limit: 1})
	require.ErrorIs(t, err, faulty.ErrInjected)
	_, err = s.PurgeActions(t.Context(), 1)
	require.ErrorIs(t, err, faulty.ErrInjected)
	require.ErrorIs(t, s.Ping(t.Context()), faulty.ErrInjected)

	s.Set(faulty.Faults{})
	require.NoError(t, s.Ping(t.Context()))
	_, err = s.GetAction(t.Context(), "a")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, 1, s.Injected(faulty.PutActions))
}

// F5 of faults.md: 30 % errors.
func TestFailFraction(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Set(faulty.Faults{Fail: 0.3, Only: []faulty.Method{faulty.Ping}})
	var failed int
	for range 1000 {
		if s.Ping(t.Context()) != nil {
			failed++
		}
	}
	require.InDelta(t, 300, failed, 60)
	require.Equal(t, failed, s.Injected(faulty.Ping))
}

func TestOnlyLeavesOtherMethodsAlone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutActions, faulty.InsertAction}})
	require.Error(t, put(t, s, "a"))
	require.NoError(t, s.Ping(t.Context()))
	_, err := s.GetAction(t.Context(), "a")
	require.ErrorIs(t, err, store.ErrNotFound)
}

// F4 of faults.md: the caller never learns that the call committed.
func TestLostReplyIsCommitted(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Set(faulty.Faults{LoseReply: 1})
	require.ErrorIs(t, put(t, s, "a"), faulty.ErrInjected)
	s.Set(faulty.Faults{})
	_, err := s.GetAction(t.Context(), "a")
	require.NoError(t, err)
}

// F6 of faults.md: mirror writes that are lost.
func TestDroppedWriteIsAcknowledgedAndNotDone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Set(faulty.Faults{Drop: 1})
	applied, err := s.PutActions(t.Context(), []store.Row{row("a"), row("b")})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, applied)
	inserted, err := s.InsertAction(t.Context(), row("c"))
	require.NoError(t, err)
	require.True(t, inserted)
	found, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 10})
	require.NoError(t, err, "reads are not dropped")
	require.Empty(t, found)
}

// F6 of faults.md: mirror writes that are doubled.
func TestDoubledWriteReachesTheStoreTwice(t *testing.T) {
	t.Parallel()
	inner := &counting{}
	s := faulty.New(inner, 1)
	s.Set(faulty.Faults{Double: 1})
	require.NoError(t, put(t, s, "a"))
	require.EqualValues(t, 2, inner.puts.Load())
	require.NoError(t, s.Ping(t.Context()))
	require.EqualValues(t, 1, inner.pings.Load(), "reads are not doubled")
}

// counting is a store that only counts.
type counting struct {
	store.Store
	puts, pings atomic.Int32
}

func (c *counting) PutActions(_ context.Context, rows []store.Row) ([]bool, error) {
	c.puts.Add(1)
	return make([]bool, len(rows)), nil
}

func (c *counting) Ping(context.Context) error {
	c.pings.Add(1)
	return nil
}

// F5 of faults.md: slow by 2 s.
func TestDelayEndsWithItsTimeOrTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &counting{}
		s := faulty.New(inner, 1)
		s.Set(faulty.Faults{Delay: 2 * time.Second, Jitter: time.Second})
		begin := time.Now()
		require.NoError(t, s.Ping(t.Context()))
		took := time.Since(begin)
		require.GreaterOrEqual(t, took, 2*time.Second)
		require.LessOrEqual(t, took, 3*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		require.ErrorIs(t, s.Ping(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(begin))
		require.EqualValues(t, 1, inner.pings.Load(), "the second did not reach the store")
	})
}

func TestFaultsAreSwitchedUnderLoad(t *testing.T) {
	t.Parallel()
	s := faulty.New(&counting{}, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				s.Set(faulty.Faults{Fail: 0.5, Jitter: time.Microsecond})
				_ = s.Ping(t.Context())
				_ = s.Injected(faulty.Ping)
			}
		})
	}
	wg.Wait()
	s.Set(faulty.Faults{})
	require.NoError(t, s.Ping(t.Context()))
	require.Positive(t, s.Injected(faulty.Ping))
}

func TestFaultsThatMeanNothingPanic(t *testing.T) {
	t.Parallel()
	s := faulty.New(&counting{}, 1)
	for _, f := range []faulty.Faults{
		{Fail: -0.1},
		{Fail: 1.1},
		{LoseReply: 2},
		{Drop: math.NaN()},
		{Double: math.Inf(1)},
		{Delay: -1},
		{Jitter: -1},
	} {
		require.Panics(t, func() { s.Set(f) }, "%+v", f)
	}
}
