package store

import (
	"context"
	"errors"
	"slices"
)

// Class is what kind of failure an error of a store is: one of few words, the same for
// all stores, for metrics and alerts.
type Class string

// Classes.
const (
	// ClassTimeout: the call's time was up.
	ClassTimeout Class = "timeout"
	// ClassCanceled: the caller gave up.
	ClassCanceled Class = "canceled"
	// ClassUnavailable: the store cannot be reached, is overloaded or is closed.
	ClassUnavailable Class = "unavailable"
	// ClassContended: others wrote the same, or held the lock, for too long.
	ClassContended Class = "contended"
	// ClassDisk: it cannot write, as it is full, read-only or broken.
	ClassDisk Class = "disk"
	// ClassDenied: it does not know the caller, or does not let him.
	ClassDenied Class = "denied"
	// ClassOther: anything else, such as a statement that it refuses.
	ClassOther Class = "other"
)

// Classes are all that ClassOf gives for errors.
func Classes() []Class {
	return []Class{ClassTimeout, ClassCanceled, ClassUnavailable, ClassContended, ClassDisk, ClassDenied, ClassOther}
}

// Classified is an error that knows its class. The errors of a store's methods are, or
// wrap, one where the store can tell.
type Classified interface {
	error
	Class() Class
}

// answers are errors that say how things stand: nothing failed.
var answers = []error{
	ErrNotFound, ErrBatchExists, ErrStale, ErrEntityExists, ErrVersion, ErrBusy, ErrTurnLost, ErrRequestReused,
}

// ClassOf is the class of an error of a store's method; empty for nil and for what is an
// answer, such as ErrNotFound, ErrStale or ErrVersion.
func ClassOf(err error) Class {
	var known Classified
	switch {
	case err == nil || slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }):
		return ""
	case errors.As(err, &known):
		return known.Class()
	case errors.Is(err, context.DeadlineExceeded):
		return ClassTimeout
	case errors.Is(err, context.Canceled):
		return ClassCanceled
	default:
		return ClassOther
	}
}

// Classify is err with a class; its text and what it wraps stay as they are. A nil
// error stays nil.
func Classify(err error, c Class) error {
	if err == nil {
		return nil
	}
	return &classified{error: err, class: c}
}

type classified struct {
	error

	class Class
}

func (c *classified) Class() Class { return c.class }

func (c *classified) Unwrap() error { return c.error }
