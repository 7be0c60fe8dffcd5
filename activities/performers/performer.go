package performers

import (
	"context"
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Performer does what one kind of action asks for. Perform returns nil when it was
// done; an error is a failed attempt. It must stop soon after ctx ends and may be
// called again for the same IdempotencyKey, by another process too, since
// execution is at least once. It may panic: the attempt counts as interrupted.
type Performer interface {
	Perform(ctx context.Context, r Request) (Reply, error)
}

// Request is one attempt.
type Request struct {
	// Action is the case of the oneof this performer was registered for, validated
	// and with defaults filled in.
	Action *gnomonv1.Action
	// ID and GUID are the action's.
	ID, GUID string
	// Occurrence is the due time, the same for all attempts of it.
	Occurrence time.Time
	// Attempt counts from 1 within the occurrence.
	Attempt uint32
	// IdempotencyKey is the same for all attempts of one occurrence.
	IdempotencyKey string
}

// Reply is what the other side said.
type Reply struct {
	// Text is kept in the attempt's status, shortened.
	Text string
}

// Permanent marks an error as not worth a retry: the occurrence ends with it.
// Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

// IsPermanent says whether err, or what it wraps, was marked by Permanent.
func IsPermanent(err error) bool {
	var p permanentError
	return errors.As(err, &p)
}

// Interruption marks an error as saying nothing about what was asked for: the attempt
// did not fail, but was lost with the process that made it, and counts as interrupted
// (M-38). Interruption(nil) is nil.
func Interruption(err error) error {
	if err == nil {
		return nil
	}
	return interruption{err}
}

// IsInterruption says whether err, or what it wraps, was marked by Interruption.
func IsInterruption(err error) bool {
	var i interruption
	return errors.As(err, &i)
}

type interruption struct{ error }

func (i interruption) Unwrap() error { return i.error }

type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }
