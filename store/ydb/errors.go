package ydb

import (
	"context"
	"fmt"
	"regexp"
)

// failure is the error of a call: the context's own where that has ended.
func failure(ctx context.Context, call string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("ydb: %s: %w", call, ended)
	}
	return fmt.Errorf("ydb: %s: %w", call, classify(legible(err)))
}

// noise is what errors of the SDK say besides: the places in its source that they
// passed through, and credentials, of which it leaves the first and the last letter.
var noise = regexp.MustCompile(" at `[^`]*`|,credentials:\"(?:\\\\.|[^\"\\\\])*\"|: [A-Za-z0-9]+\\{[^}]*From:[^}]*\\}")

// legible is an error of the SDK without the noise, of which a person sees nothing
// else. It unwraps as before.
func legible(err error) error {
	said := err.Error()
	if short := noise.ReplaceAllString(said, ""); short != said {
		return &legibleError{error: err, said: short}
	}
	return err
}

type legibleError struct {
	error

	said string
}

func (e *legibleError) Error() string { return e.said }

func (e *legibleError) Unwrap() error { return e.error }
