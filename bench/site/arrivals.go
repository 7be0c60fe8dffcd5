package site

import (
	"context"
	"strings"
	"time"

	"gnomon/receiver"
)

// Collect waits until n requests reached paths with a prefix, or for as long as within
// allows, and says when each path was reached first.
func (s *Site) Collect(ctx context.Context, prefix string, n int, within time.Duration) map[string]time.Time {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	at := make(map[string]time.Time, n)
	// An error says that it took longer; what came is the answer all the same.
	_, _ = s.Inbox.Wait(ctx, func(a receiver.Arrival) bool {
		if _, again := at[a.Path]; !again && strings.HasPrefix(a.Path, prefix) {
			at[a.Path] = a.Time
		}
		return len(at) >= n
	})
	return at
}
