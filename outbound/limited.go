package outbound

import (
	"context"
	"fmt"
	"time"
)

// Limited is a call that its own time limit bounds, within whatever bounds its caller
// already has.
type Limited struct {
	caller, call context.Context
	limit        time.Duration
}

// Limit bounds what is done within a caller's context.
func Limit(caller context.Context, limit time.Duration) (Limited, context.CancelFunc) {
	call, cancel := context.WithTimeout(caller, limit)
	return Limited{caller: caller, call: call, limit: limit}, cancel
}

// Context is the call's.
func (l Limited) Context() context.Context { return l.call }

// Ended says why the call could not go on: because its caller was stopped, which
// the error wraps, or because its own limit passed, which it must not wrap, since
// that is the other side's failure and not the worker's (M-37, M-38). It is nil
// where neither has happened.
func (l Limited) Ended(what string) error {
	switch {
	case l.caller.Err() != nil:
		return stopped(what, l.caller.Err())
	case l.call.Err() != nil:
		return l.Expired(what)
	default:
		return nil
	}
}

// Expired is Ended for a call that is known to have met its deadline, though by
// another clock than ours: whose deadline it was, the caller's or its own.
func (l Limited) Expired(what string) error {
	deadline, _ := l.call.Deadline()
	if outer, ok := l.caller.Deadline(); ok && !deadline.Before(outer) {
		return stopped(what, context.DeadlineExceeded)
	}
	return fmt.Errorf("%s did not end within its time limit of %s", what, l.limit)
}

func stopped(what string, err error) error {
	return fmt.Errorf("%s was stopped: %w", what, err)
}
