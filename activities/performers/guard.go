package performers

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Guarded performs, and makes a panic an [Interruption] (M-38).
func Guarded(ctx context.Context, p Performer, r Request, log *slog.Logger) (reply Reply, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			// What it panicked with may hold what was sent; the action's status has it.
			log.ErrorContext(ctx, "A performer panicked.", "type", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
			reply, err = Reply{}, Interruption(fmt.Errorf("panic: %v", cause))
		}
	}()
	return p.Perform(ctx, r)
}
