package changes

import (
	"context"
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Kind is one kind of change. Its methods may be called concurrently, for different
// batches; what it keeps (connections) serves the whole process.
type Kind interface {
	// Name is the case of the oneof in gnomon.v1.Change, such as "http_change".
	Name() string

	// TimeLimit is how long one Apply of a change takes at most. Its turn is longer.
	TimeLimit(c *gnomonv1.Change) time.Duration

	// Validate judges all changes of this kind in one batch against the world as it is,
	// in the order in which they will be applied, and changes nothing. It returns all
	// problems of all of them, each with its change's index and the path of the field
	// within the change. Every change has passed the rules of package batch.
	//
	// When a batch is validated again, only its unfinished changes are given (V-16); one
	// that is InDoubt may have been applied already, and what it does itself is no
	// problem: the world may be as before it or as after it.
	//
	// An error means that nothing can be said, since something did not answer: the
	// facade refuses with UNAVAILABLE, the worker tries again.
	Validate(ctx context.Context, of Batch, all []Subject) ([]*gnomonv1.Problem, error)

	// Apply applies one change. Nil: it is done, by this call or by an earlier one. An
	// error made by Reject: the other side rejected it, for good (V-12). Any other
	// error: something did not answer, and it will be tried again.
	//
	// It must stop soon after ctx ends, which is before t.Expires, and must have no
	// effect after t.Expires, even if this process was stopped for an hour in the
	// middle: see Turn.Check. It must be safe to call again with the same key (V-11).
	Apply(ctx context.Context, of Batch, s Subject, t Turn) error
}

// Batch is what a kind is told of the batch around its changes.
type Batch struct {
	// ID is the user's name for it, UID tells it from all others.
	ID, UID string
	// ScheduledAt is its time.
	ScheduledAt time.Time
	// Labels are the user's.
	Labels map[string]string
}

// Subject is one change of a batch.
type Subject struct {
	// Index is its place in the batch, from 0.
	Index int
	// Change is the case of the oneof of this kind. Its status is not to be looked at.
	Change *gnomonv1.Change
	// InDoubt: its application was begun before and is not known to have ended.
	InDoubt bool
}

// Turn is one application of one change.
type Turn struct {
	// Key is the idempotency key, the same in all turns of this change.
	Key string
	// Attempt counts the turns of this change, from 1.
	Attempt uint32
	// Resumed: an earlier turn may have applied it.
	Resumed bool
	// Begun is when the turn was stored as begun, and Expires when it ends whatever
	// happens: from then on another process may apply the change. Both by the clock of
	// this process, with its monotonic reading.
	Begun, Expires time.Time
}

// ErrExpired says that a turn is over: nothing may be sent any more.
var ErrExpired = errors.New("the turn is over; another worker may have the change now")

// Check is to be asked right before every message that has an effect: a process that
// was stopped wakes up at any line, before its contexts have noticed.
func (t Turn) Check() error {
	if !time.Now().Before(t.Expires) {
		return ErrExpired
	}
	return nil
}

// Reject marks an error as the other side's rejection of the change, which is final
// (V-12). Its text is shown to users. Reject(nil) is nil.
func Reject(err error) error {
	if err == nil {
		return nil
	}
	return rejection{err}
}

// IsRejected says whether err, or what it wraps, was marked by Reject.
func IsRejected(err error) bool {
	_, ok := errors.AsType[rejection](err)
	return ok
}

type rejection struct{ error }

func (r rejection) Unwrap() error { return r.error }
