package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// telling is an agent that tells, from the test's beginning on.
type telling struct {
	t     *testing.T
	began time.Time
	news  chan struct{}
	// deaf says how many more announcements are not heard.
	deaf int
	// told is when they were made.
	told []time.Duration
}

func startTelling(t *testing.T) *telling {
	t.Helper()
	x := &telling{t: t, began: time.Now(), news: make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tell(ctx, x.news, func(context.Context) bool {
			x.told = append(x.told, time.Since(x.began))
			x.deaf--
			return x.deaf < 0
		})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return x
}

// at notes news at a time.
func (x *telling) at(when time.Duration) {
	pause(x.t.Context(), time.Until(x.began.Add(when)))
	select {
	case x.news <- struct{}{}:
	default:
	}
}

func (x *telling) until(when time.Duration) {
	pause(x.t.Context(), time.Until(x.began.Add(when)))
	synctest.Wait()
}

// Issue 8: an action that is over at once is told once, and one after another without waiting.
func TestNewsOfQuickActionsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := startTelling(t)
		var want []time.Duration
		for stage := range time.Duration(newsBurst) {
			from := stage * 30 * time.Millisecond
			x.at(from)                                // taken
			x.at(from + 5*time.Millisecond)           // RUNNING
			x.at(from + newsGather - time.Nanosecond) // DONE
			want = append(want, from+newsGather)
		}
		x.until(time.Hour)
		require.Equal(t, want, x.told)
	})
}

// Issue 8: whatever happens on a node, on the long run its core is told once a second at the most,
// and what comes last is told.
func TestNewsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := startTelling(t)
		const all = 60 * time.Second
		for when := time.Duration(0); when <= all; when += 50 * time.Millisecond {
			x.at(when)
		}
		x.until(time.Hour)
		require.GreaterOrEqual(t, x.told[len(x.told)-1], all)
		require.LessOrEqual(t, len(x.told), newsBurst+int((all+2*newsEvery)/newsEvery))
		require.GreaterOrEqual(t, len(x.told), int(all/newsEvery))
	})
}

// a core that cannot be reached is told again, less and less often, until it hears.
func TestNewsAreToldUntilTheyAreHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := startTelling(t)
		x.deaf = 6
		x.at(0)
		x.until(time.Hour)
		want := []time.Duration{newsGather}
		for _, after := range []time.Duration{1, 2, 4, 8, 15, 15} {
			want = append(want, want[len(want)-1]+after*time.Second)
		}
		require.Equal(t, want, x.told)
	})
}
