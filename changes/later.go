package changes

import (
	"errors"
	"time"
)

// Later marks an error as one to be tried again after a time that the other side asked
// for, instead of the usual pause. Later(nil, after) is nil.
func Later(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return later{err, after}
}

// RetryAfter is the time that Later was told, of err or what it wraps.
func RetryAfter(err error) (time.Duration, bool) {
	l, ok := errors.AsType[later](err)
	return l.after, ok
}

type later struct {
	error

	after time.Duration
}

func (l later) Unwrap() error { return l.error }
