package performers

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// A call's own time limit (HttpRequest.timeout, SendTechnicalPush.timeout).
const (
	defaultLimit = 10 * time.Second
	maxLimit     = 10 * time.Minute
)

// timeLimit is the limit that a spec's timeout stands for.
func timeLimit(spec *durationpb.Duration) time.Duration {
	if d := spec.AsDuration(); d > 0 {
		return min(d, maxLimit)
	}
	return defaultLimit
}

// limited is a call that its own time limit bounds, within whatever bounds the
// attempt already has.
type limited struct {
	// attempt is the attempt's context, call what was made of it by limit.
	attempt, call context.Context
	limit         time.Duration
}

// ended says why the call could not go on: because the attempt was stopped, which
// the error wraps, or because its own limit passed, which it must not wrap, since
// that is a failure of the action and not of the worker (M-37, M-38). It is nil
// where neither has happened.
func (l limited) ended(what string) error {
	switch {
	case l.attempt.Err() != nil:
		return stopped(what, l.attempt.Err())
	case l.call.Err() != nil:
		return l.expired(what)
	default:
		return nil
	}
}

// expired is ended for a call that is known to have met its deadline, though by
// another clock than ours: whose deadline it was, the attempt's or its own.
func (l limited) expired(what string) error {
	deadline, _ := l.call.Deadline()
	if outer, ok := l.attempt.Deadline(); ok && !deadline.Before(outer) {
		return stopped(what, context.DeadlineExceeded)
	}
	return fmt.Errorf("%s did not end within its time limit of %s", what, l.limit)
}

func stopped(what string, err error) error {
	return fmt.Errorf("%s was stopped: %w", what, err)
}
