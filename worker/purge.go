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
)

// purge removes expired tombstones until ctx ends.
func purge(ctx context.Context, s store.Actions, log *slog.Logger) {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		for {
			n, err := s.PurgeActions(ctx, purgeBatch)
			if err != nil && ctx.Err() == nil {
				log.Warn("Expired tombstones could not be removed.", "error", err)
			}
			if err != nil || n < purgeBatch {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
