package worker

import (
	"context"
	"log/slog"
	"time"

	"gnomon/store"
)

const (
	// purgeEvery is how often a worker removes expired tombstones; readers do not see
	// them before either.
	purgeEvery = 10 * time.Minute
	// purgeBatch bounds one removal, so that it holds up no other write for long.
	purgeBatch = 1000
	// stagedFor is how long contents stand that no workflow has accepted: far longer
	// than any facade takes from storing them to starting it.
	stagedFor = time.Hour
	// requestedFor is how long the request_ids of puts of entities are known.
	requestedFor = 24 * time.Hour
)

// purge removes what has expired until ctx ends: of node actions and playbooks what
// finished so long ago, 0 for none.
func purge(ctx context.Context, s store.Store, nodesFor time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		purgeAll(ctx, log, "tombstones", purgeBatch, s.PurgeActions)
		// Each takes its up to 1,000 changes along.
		purgeAll(ctx, log, "batches that were never accepted", 1, func(ctx context.Context, limit int) (int, error) {
			return s.PurgeStaged(ctx, time.Now().Add(-stagedFor), limit)
		})
		purgeAll(ctx, log, "request_ids of entities", purgeBatch, func(ctx context.Context, limit int) (int, error) {
			return s.PurgeEntityRequests(ctx, time.Now().Add(-requestedFor), limit)
		})
		if nodesFor > 0 {
			purgeAll(ctx, log, "finished node actions", purgeBatch, func(ctx context.Context, limit int) (int, error) {
				return s.PurgeNodeActions(ctx, time.Now().Add(-nodesFor), limit)
			})
			purgeAll(ctx, log, "playbooks that have ended", purgeBatch, func(ctx context.Context, limit int) (int, error) {
				return s.PurgePlaybooks(ctx, time.Now().Add(-nodesFor), limit)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// purgeAll removes so many at a time, until there are no more or the store fails.
func purgeAll(ctx context.Context, log *slog.Logger, what string, limit int, remove func(context.Context, int) (int, error)) {
	for {
		n, err := remove(ctx, limit)
		if err != nil && ctx.Err() == nil {
			log.Warn("What has expired could not be removed.", "what", what, "error", err)
		}
		if err != nil || n < limit {
			return
		}
	}
}
