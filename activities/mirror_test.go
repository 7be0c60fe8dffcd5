package activities_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/storetest"
)

// row is the row of an action with this place among those of its id.
func row(id string, sequence uint64) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}},
		Revision: store.Revision{Incarnation: start, Sequence: sequence},
	}
}

// bubble is what a test in a bubble of time works with.
type bubble struct {
	t      *testing.T
	mirror *activities.Mirror
	rows   *storetest.Memory
}

// mirrored runs a test in a bubble of time, with a Mirror that is closed at its end.
func mirrored(t *testing.T, test func(bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := storetest.NewMemory()
		m := activities.NewMirror(r, slog.New(slog.DiscardHandler))
		closed := false
		t.Cleanup(func() {
			if !closed {
				m.Close(context.Background())
			}
		})
		test(bubble{t, m, r})
		m.Close(t.Context())
		closed = true
	})
}

func sequenceOf(t *testing.T, r *storetest.Memory, id string) uint64 {
	t.Helper()
	got, ok := r.Row(id)
	require.True(t, ok)
	return got.Revision.Sequence
}

// A row that Write is done with is in the store.
func TestWrite(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		require.NoError(t, m.Write(t.Context(), row("a", 1)))
		require.EqualValues(t, 1, sequenceOf(t, r, "a"))
	})
}

// While a call is under way only the newest row of each action waits, whatever the
// order they came in, and all of them go in one call.
func TestRowsOfOneActionCoalesce(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		m.Offer(row("first", 1))
		synctest.Wait()
		for _, sequence := range []uint64{1, 3, 2} {
			m.Offer(row("a", sequence))
			m.Offer(row("b", sequence))
		}
		older := make(chan error, 1)
		go func() { older <- m.Write(t.Context(), row("a", 1)) }()
		synctest.Wait()
		close(r.Hold)
		require.NoError(t, <-older, "it is done with the newer one")
		through, _ := r.Calls()
		require.Equal(t, []int{1, 2}, through)
		require.EqualValues(t, 3, sequenceOf(t, r, "a"))
		require.EqualValues(t, 3, sequenceOf(t, r, "b"))
	})
}

// F5: rows do not wait for a call that takes long: another begins beside it, and those
// who wait are told one after another as they came and not all at once.
func TestSlowStore(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Takes = 2 * time.Second
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[time.Duration]int{}
		began := time.Now()
		for i := range 100 {
			all.Go(func() {
				offered := time.Now()
				require.NoError(t, m.Write(t.Context(), row(fmt.Sprint(i), 1)))
				require.LessOrEqual(t, time.Since(offered), r.Takes+125*time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				told[time.Since(began)]++
			})
			<-time.After(100 * time.Millisecond) // of the bubble
		}
		all.Wait()
		for at, n := range told {
			require.LessOrEqual(t, n, 2, "%d were told at once, after %s", n, at)
		}
	})
}

// However slow the store is, it has no more than sixteen calls at once.
func TestCallsOfASlowStoreAreBounded(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Takes = 4500 * time.Millisecond
		for i := range 45 {
			m.Offer(row(fmt.Sprint(i), 1))
			<-time.After(100 * time.Millisecond) // of the bubble
		}
		<-time.After(2 * r.Takes) // of the bubble
		through, _ := r.Calls()
		require.Len(t, through, 17, "sixteen, and the rest by the first that is free")
		require.Len(t, r.IDs(), 45)
	})
}

// Calls are bounded in size.
func TestRowsGoInBatches(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		m.Offer(row("first", 1))
		synctest.Wait()
		for i := range 600 {
			m.Offer(row(fmt.Sprint(i), 1))
		}
		close(r.Hold)
		synctest.Wait()
		through, _ := r.Calls()
		require.Equal(t, []int{1, 256, 256, 88}, through)
	})
}

// M-61: a store that is down is told of to who waits, and the row is written once it
// is back, without anybody's doing.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.SetDown(true)
		require.ErrorIs(t, m.Write(t.Context(), row("a", 1)), storetest.ErrDown)
		<-time.After(time.Minute) // of the bubble
		_, ok := r.Row("a")
		require.False(t, ok)
		_, refused := r.Calls()
		require.InDelta(t, 126, refused, 2, "twice a second")
		r.SetDown(false)
		<-time.After(time.Second) // of the bubble
		require.EqualValues(t, 1, sequenceOf(t, r, "a"))
	})
}

// F5: who has a row while the store is known to be down is told at once, and not together
// with all others at the next call that fails. The row is written when the store is back, and from
// then on is waited for again.
func TestStoreKnownToBeDown(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.SetDown(true)
		began := time.Now()
		require.ErrorIs(t, m.Write(t.Context(), row("first", 1)), storetest.ErrDown)
		require.GreaterOrEqual(t, time.Since(began), time.Second, "a failure or two say nothing")
		for range 10 {
			<-time.After(130 * time.Millisecond) // of the bubble
			asked := time.Now()
			require.ErrorIs(t, m.Write(t.Context(), row("a", 1)), storetest.ErrDown)
			require.Zero(t, time.Since(asked))
		}
		r.SetDown(false)
		<-time.After(time.Second)
		require.ElementsMatch(t, []string{"first", "a"}, r.IDs())
		require.NoError(t, m.Write(t.Context(), row("a", 2)))
		require.EqualValues(t, 2, sequenceOf(t, r, "a"))
	})
}

// F5: one call that fails is mended by the next, and nobody is told.
func TestOneFailure(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		began := time.Now()
		r.SetDown(true)
		time.AfterFunc(time.Second, func() { r.SetDown(false) })
		require.NoError(t, m.Write(t.Context(), row("a", 1)))
		require.LessOrEqual(t, time.Since(began), 1500*time.Millisecond)
		require.EqualValues(t, 1, sequenceOf(t, r, "a"))
	})
}

// A row that failed does not take the place of a newer one that came meanwhile.
func TestAFailedRowStaysBehindANewerOne(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		r.SetDown(true)
		m.Offer(row("a", 1))
		synctest.Wait()
		m.Offer(row("a", 2))
		r.Hold <- struct{}{}
		synctest.Wait()
		r.SetDown(false)
		close(r.Hold)
		require.NoError(t, m.Write(t.Context(), row("b", 1)))
		require.EqualValues(t, 2, sequenceOf(t, r, "a"))
		through, _ := r.Calls()
		require.Equal(t, []int{2}, through)
	})
}

// Who waits, waits no longer than it wants; the row is written all the same. A call
// that hangs is given up after a while.
func TestWriteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, m.Write(ctx, row("a", 1)), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, m.Write(t.Context(), row("a", 2)), context.DeadlineExceeded)
		require.Less(t, time.Since(began), 12*time.Second)
		close(r.Hold)
		<-time.After(time.Second) // of the bubble: until a call has ended well it counts as down
		require.NoError(t, m.Write(t.Context(), row("b", 1)))
		require.EqualValues(t, 2, sequenceOf(t, r, "a"))
	})
}

// Close writes what waits.
func TestCloseFlushes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := storetest.NewMemory()
		m := activities.NewMirror(r, slog.New(slog.DiscardHandler))
		r.SetDown(true)
		for i := range 600 {
			m.Offer(row(fmt.Sprint(i), 1))
		}
		synctest.Wait()
		r.SetDown(false)
		m.Close(t.Context())
		require.Len(t, r.IDs(), 600)
		require.ErrorContains(t, m.Write(t.Context(), row("a", 1)), "the worker stops")
	})
}

// Close does not wait for a store that is down, nor longer than allowed for one that
// hangs.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := storetest.NewMemory()
		r.SetDown(true)
		m := activities.NewMirror(r, slog.New(slog.DiscardHandler))
		m.Offer(row("a", 1))
		synctest.Wait()
		began := time.Now()
		m.Close(t.Context())
		require.Zero(t, time.Since(began))

		r = storetest.NewMemory()
		r.Hold = make(chan struct{})
		m = activities.NewMirror(r, slog.New(slog.DiscardHandler))
		m.Offer(row("a", 1))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m.Close(ctx)
		require.Equal(t, time.Second, time.Since(began))
	})
}

// What is kept while the store is down is bounded; beyond that the oldest go.
func TestWaitingRowsAreBounded(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		m.Offer(row("first", 1))
		synctest.Wait()
		for i := range 200_010 {
			m.Offer(row(fmt.Sprint(i), 1))
		}
		close(r.Hold)
		synctest.Wait()
		require.Len(t, r.IDs(), 200_001)
		_, ok := r.Row("9")
		require.False(t, ok)
		_, ok = r.Row("10")
		require.True(t, ok)
	})
}

// Many attempts write at once, each row of its action newer than the one before: all
// are told, and the newest of each stands, though the store fails now and then.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		var all sync.WaitGroup
		for w := range 16 {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			all.Go(func() {
				for sequence := range uint64(100) {
					r.SetDown(random.IntN(10) == 0)
					if random.IntN(2) == 0 {
						m.Offer(row(fmt.Sprint(w%8), sequence))
						continue
					}
					if err := m.Write(t.Context(), row(fmt.Sprint(w%8), sequence)); err != nil {
						require.ErrorIs(t, err, storetest.ErrDown)
					}
				}
			})
		}
		all.Wait()
		r.SetDown(false)
		<-time.After(time.Second) // of the bubble
		require.Len(t, r.IDs(), 8)
		for _, id := range r.IDs() {
			require.EqualValues(t, 99, sequenceOf(t, r, id))
		}
	})
}

// The activity fails until the store took the row, and writes all that it is told.
func TestMirrorActivity(t *testing.T) {
	t.Parallel()
	r := storetest.NewMemory()
	m := activities.NewMirror(r, slog.New(slog.DiscardHandler))
	defer m.Close(context.Background())
	suite := testsuite.WorkflowTestSuite{}
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(m.Mirror)
	in := &workflowv1.MirrorInput{
		Action:   row("a", 0).Action,
		Revision: &workflowv1.Revision{Incarnation: timestamppb.New(start), Sequence: 7, Attempt: 2, Phase: 1},
		Chain:    "run-1", Tombstone: true,
	}
	r.SetDown(true)
	_, err := env.ExecuteActivity(m.Mirror, in)
	require.ErrorContains(t, err, storetest.ErrDown.Error())
	failure, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok)
	require.False(t, failure.NonRetryable())
	r.SetDown(false)
	// Until a call has shown that the store is back it counts as down.
	require.Eventually(t, func() bool { _, err = env.ExecuteActivity(m.Mirror, in); return err == nil }, 10*time.Second, 50*time.Millisecond)
	got, _ := r.Row("a")
	require.Equal(t, store.Revision{Incarnation: start, Sequence: 7, Attempt: 2, Phase: 1}, got.Revision)
	require.Equal(t, "run-1", got.Chain)
	require.True(t, got.Tombstone)
}

// F5: the longer the store is away, the later those try again who wait for it, so that
// they do not come back all at once.
func TestMirrorActivityTriesAgain(t *testing.T) {
	t.Parallel()
	for away, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 10 * time.Second: 20 * time.Second, time.Minute: 30 * time.Second,
	} {
		mirrored(t, func(b bubble) {
			t, m, r := b.t, b.mirror, b.rows
			r.SetDown(true)
			m.Offer(row("first", 1))
			<-time.After(away) // of the bubble
			err := m.Mirror(t.Context(), &workflowv1.MirrorInput{Action: row("a", 0).Action})
			failure, ok := errors.AsType[*temporal.ApplicationError](err)
			require.True(t, ok)
			require.InDelta(t, want.Seconds(), failure.NextRetryDelay().Seconds(), 1)
			r.SetDown(false)
		})
	}
}

// The activity says when to try again also of a store that hangs.
func TestMirrorActivityWaitsLessThanItsLimit(t *testing.T) {
	t.Parallel()
	mirrored(t, func(b bubble) {
		t, m, r := b.t, b.mirror, b.rows
		r.Hold = make(chan struct{})
		began := time.Now()
		err := m.Mirror(t.Context(), &workflowv1.MirrorInput{Action: row("a", 0).Action})
		_, ok := errors.AsType[*temporal.ApplicationError](err)
		require.True(t, ok)
		require.Less(t, time.Since(began), 9*time.Second)
		close(r.Hold)
	})
}
