package worker

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// expiring is a store that has so much that expired.
type expiring struct {
	store.Store

	requests int
	before   []time.Time
}

func (*expiring) PurgeActions(context.Context, int) (int, error) { return 0, nil }

func (*expiring) PurgeStaged(context.Context, time.Time, int) (int, error) { return 0, nil }

func (s *expiring) PurgeEntityRequests(_ context.Context, before time.Time, limit int) (int, error) {
	s.before = append(s.before, before)
	n := min(limit, s.requests)
	s.requests -= n
	return n, nil
}

// Issue 7: request_ids of puts are known for a day, and then removed, all that there are,
// so many at a time, again and again.
func TestRequestIDsOfEntitiesAreRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &expiring{requests: 2*purgeBatch + 1}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		go purge(ctx, s, 0, slog.New(slog.DiscardHandler))
		synctest.Wait()
		require.Zero(t, s.requests)
		require.Len(t, s.before, 3)
		require.Equal(t, began.Add(-24*time.Hour), s.before[0])
		s.requests = 1
		<-time.After(purgeEvery)
		synctest.Wait()
		require.Zero(t, s.requests)
		require.Equal(t, began.Add(purgeEvery-24*time.Hour), s.before[3])
	})
}
