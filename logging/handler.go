package logging

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/temporal"
)

// Keys of ids. Temporal's SDK adds its own, such as WorkflowID and RunID.
const (
	// Action is Meta.id.
	Action = "action"
	// Entity is the type and the id of an entity with a '/' between.
	Entity = "entity"
	// GUID is Meta.guid.
	GUID = "guid"
	// RequestID is the request_id of a call.
	RequestID = "request_id"
	// Occurrence is the due time of what is performed.
	Occurrence = "occurrence"
	// Attempt is the attempt's number within its occurrence.
	Attempt = "attempt"
	// TraceID and SpanID are in hexadecimal, as in traceparent.
	TraceID = "trace_id"
	SpanID  = "span_id"
)

type attrsKey struct{}

// With has all lines that are logged with the context carry these attributes too.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	known, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return context.WithValue(ctx, attrsKey{}, append(slices.Clip(known), attrs...))
}

// handler adds what the context knows to the lines of another handler.
type handler struct{ slog.Handler }

// NewHandler wraps a handler, for tests and for programs that embed gnomon.
func NewHandler(inner slog.Handler) slog.Handler { return handler{inner} }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	known, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	r.Attrs(func(a slog.Attr) bool {
		line.AddAttrs(discreet(a))
		known = slices.DeleteFunc(slices.Clone(known), func(k slog.Attr) bool { return k.Key == a.Key })
		return true
	})
	line.AddAttrs(known...)
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		line.AddAttrs(slog.String(TraceID, sc.TraceID().String()), slog.String(SpanID, sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	quiet := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		quiet[i] = discreet(a)
	}
	return handler{h.Handler.WithAttrs(quiet)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }

// discreet shows errors of actions as their type: Temporal's SDK logs those of activities
// whole.
func discreet(a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindAny {
		return a
	}
	err, ok := a.Value.Any().(error)
	if !ok {
		return a
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return slog.String(a.Key, "an error of type "+app.Type())
	}
	return a
}
