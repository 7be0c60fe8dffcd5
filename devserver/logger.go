package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// errorKey is the key of tag.Error, whose value is the error's text.
const errorKey = "error"

// logger passes Temporal's log to slog. Temporal's Info is an account of its
// daily routine and becomes Debug, so that an ordinary handler stays quiet.
type logger struct {
	log   *slog.Logger
	state *logState
}

// logState is shared by all loggers derived from one.
type logState struct {
	// stopping is set when the server is taken apart: what it complains of then is
	// routine too.
	stopping atomic.Bool
	// fatal is the first failure that Temporal would have ended the process for.
	fatal atomic.Pointer[error]
}

// routineWarnings are warnings about what the Web UI does on every page.
var routineWarnings = map[string]bool{
	"GetHistory page size is larger than threshold": true,
}

// routineErrors are errors of a start that mend themselves, by what they are about: a
// queue of a shard that is still being acquired looks again. Temporal's own tests let
// them pass as transient.
var routineErrors = map[string]string{
	"Queue reader unable to retrieve tasks": "shard status unknown",
}

var (
	_ log.Logger     = (*logger)(nil)
	_ log.WithLogger = (*logger)(nil)
)

func newLogger(l *slog.Logger) *logger {
	return &logger{log: l, state: new(logState)}
}

func (l *logger) Debug(msg string, tags ...tag.Tag) { l.emit(slog.LevelDebug, msg, tags) }
func (l *logger) Info(msg string, tags ...tag.Tag)  { l.emit(slog.LevelDebug, msg, tags) }

// Warn passes warnings on, but for those of which whoever looks at the Web UI would
// see several for each page.
func (l *logger) Warn(msg string, tags ...tag.Tag) {
	level := slog.LevelWarn
	if routineWarnings[msg] {
		level = slog.LevelDebug
	}
	l.emit(level, msg, tags)
}

// Error passes errors on, but for those that belong to a start.
func (l *logger) Error(msg string, tags ...tag.Tag) {
	level := slog.LevelError
	if about, ok := routineErrors[msg]; ok && failure(msg, tags).Error() == msg+": "+about {
		level = slog.LevelDebug
	}
	l.emit(level, msg, tags)
}

// DPanic means "panic in development", for conditions the server can live with.
func (l *logger) DPanic(msg string, tags ...tag.Tag) { l.emit(slog.LevelError, msg, tags) }

// Panic has to panic: the server does not expect to go on after it.
func (l *logger) Panic(msg string, tags ...tag.Tag) {
	l.emit(slog.LevelError, msg, tags)
	panic(failure(msg, tags))
}

// Fatal ends the process in Temporal's own logger. A library must not: it ends
// the goroutine, which the server does not expect to go on either. During the
// start that fails Start, with the first such failure; later it is logged.
func (l *logger) Fatal(msg string, tags ...tag.Tag) {
	l.emit(slog.LevelError, msg, tags)
	err := failure(msg, tags)
	l.state.fatal.CompareAndSwap(nil, &err)
	runtime.Goexit()
}

// With returns a logger that adds tags to each entry.
func (l *logger) With(tags ...tag.Tag) log.Logger {
	return &logger{log: slog.New(l.log.Handler().WithAttrs(attrs(tags))), state: l.state}
}

func (l *logger) emit(level slog.Level, msg string, tags []tag.Tag) {
	if l.state.stopping.Load() {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !l.log.Enabled(ctx, level) {
		return
	}
	l.log.LogAttrs(ctx, level, msg, attrs(tags)...)
}

// failure is a log entry as an error.
func failure(msg string, tags []tag.Tag) error {
	for _, t := range tags {
		if t.Key() == errorKey {
			return fmt.Errorf("%s: %v", msg, t.Value())
		}
	}
	return errors.New(msg)
}

func attrs(tags []tag.Tag) []slog.Attr {
	out := make([]slog.Attr, len(tags))
	for i, t := range tags {
		out[i] = slog.Any(t.Key(), t.Value())
	}
	return out
}
