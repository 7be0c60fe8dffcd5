package activities

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/stages"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// G-31: those in the background go last, else the order is that of coming; who gives up
// waiting is skipped.
func TestTurnstile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gate turnstile
		require.NoError(t, gate.enter(t.Context(), false))
		var order []string
		enter := func(ctx context.Context, name string, background bool) {
			go func() {
				err := gate.through(ctx, background, func() error {
					order = append(order, name)
					return nil
				})
				if err != nil {
					order = append(order, name+" gave up")
				}
			}()
			synctest.Wait()
		}
		impatient, giveUp := context.WithCancel(t.Context())
		enter(t.Context(), "walk 1", true)
		enter(impatient, "impatient", false)
		enter(t.Context(), "change 1", false)
		enter(t.Context(), "walk 2", true)
		enter(t.Context(), "change 2", false)
		giveUp()
		synctest.Wait()
		gate.leave()
		synctest.Wait()
		require.Equal(t, []string{"impatient gave up", "change 1", "change 2", "walk 1", "walk 2"}, order)
		require.NoError(t, gate.enter(t.Context(), true), "it is free")
	})
}

// No span of a second sees more tokens than the rate, and little less.
func TestTokensOf(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.01, 0.5, 1, 1.5, 10, 199.5, 1000, 12345} {
		count, span := tokensOf(rate)
		require.GreaterOrEqual(t, count, uint32(1))
		require.LessOrEqual(t, count, uint32(maxTokens))
		really := float64(count) / span.Seconds()
		require.LessOrEqual(t, really, rate)
		require.Greater(t, really, 0.999*rate)
		require.Zero(t, span%time.Microsecond)
	}
}

// The clock is the server's by the fastest delivery, whatever this one's says.
func TestCommonClock(t *testing.T) {
	t.Parallel()
	var c commonClock
	here, ahead := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), 3*time.Hour
	learn := func(late time.Duration) { c.learn(here.Add(ahead-late), here) }
	behind := func() time.Duration { return here.Add(ahead).Sub(c.at(here)) }
	learn(time.Second)
	learn(time.Millisecond)
	learn(time.Minute)
	require.Equal(t, time.Millisecond, behind())
	here = here.Add(clockPeriod + time.Second)
	learn(time.Second)
	require.Equal(t, time.Millisecond, behind(), "the period before counts")
	here = here.Add(clockPeriod + time.Second)
	learn(time.Minute)
	require.Equal(t, time.Second, behind())
	here = here.Add(time.Second)
	learn(0)
	require.Zero(t, behind())
}

// G-33: a slot that is passed on lasts as long as one that is taken, however old it is, and
// one that has run out on the way is waited for.
func TestSlotsPassedOn(t *testing.T) {
	t.Parallel()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	const lease = 5 * time.Second
	begun := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var seconds atomic.Int64
	leased := func() (at, until time.Time) {
		at = begun.Add(time.Duration(seconds.Load()) * time.Second)
		return at, at.Add(lease)
	}
	e := &Entities{Store: rows}
	l := e.limitsOf(&stages.Declared{Declaration: stages.Declaration{Name: "price", Parallelism: 1}})
	take := func(holder string) error {
		at, until := leased()
		return rows.TakeSlot(t.Context(), store.SlotTake{Stage: "price", Holder: holder, Limit: 1, At: at, Until: until})
	}
	type taken struct {
		slot slot
		err  error
	}
	wait := func(name string) <-chan taken {
		got := make(chan taken, 1)
		go func() {
			s, err := l.slot(t.Context(), name, false, leased)
			got <- taken{s, err}
		}()
		return got
	}
	first, err := l.slot(t.Context(), "first", false, leased)
	require.NoError(t, err)
	seconds.Store(4)
	second := wait("second")
	l.passed <- slot{first.name, 1}
	require.Equal(t, taken{slot: slot{"first", 1}}, <-second)
	seconds.Store(8)
	require.ErrorIs(t, take("other"), store.ErrBusy, "its lease began when it was passed on")

	seconds.Store(9)
	require.NoError(t, take("other"), "it has run out")
	third := wait("third")
	l.passed <- slot{"first", 2}
	select {
	case got := <-third:
		require.Fail(t, "it goes on with a slot that is another's", "%v", got)
	case l.passed <- slot{"first", 2}: // it waits again
	}
	require.NoError(t, rows.ReleaseSlot(t.Context(), "price", "other"))
	require.NoError(t, (<-third).err)
	require.ErrorIs(t, take("other"), store.ErrBusy)
}
