package tracing

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/status"
)

// provider makes spans that tell no error texts. What an action's receiver answers, and
// what a performer panics with, may hold what was sent to it; instrumentation of others
// puts such texts into events and descriptions.
type provider struct{ trace.TracerProvider }

// Tracer implements trace.TracerProvider.
func (p provider) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	return tracer{p.TracerProvider.Tracer(name, options...), p}
}

type tracer struct {
	trace.Tracer

	provider provider
}

// Start implements trace.Tracer.
func (t tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx, inner := t.Tracer.Start(ctx, name, options...) //nolint:spancheck // the caller ends it
	s := span{inner, t.provider}
	return trace.ContextWithSpan(ctx, s), s //nolint:spancheck // the caller ends it
}

type span struct {
	trace.Span

	provider provider
}

// RecordError notes the error's type.
func (s span) RecordError(err error, _ ...trace.EventOption) {
	if err != nil && s.IsRecording() {
		s.SetAttributes(errorType.String(typeOf(err)))
	}
}

// SetStatus drops the description.
func (s span) SetStatus(code codes.Code, _ string) { s.Span.SetStatus(code, "") }

// AddEvent keeps the name.
func (s span) AddEvent(name string, _ ...trace.EventOption) { s.Span.AddEvent(name) }

// TracerProvider implements trace.Span.
func (s span) TracerProvider() trace.TracerProvider { return s.provider }

// fail marks a span as one of an error.
func fail(s trace.Span, err error) {
	s.SetAttributes(errorType.String(typeOf(err)))
	s.SetStatus(codes.Error, "")
}

// typeOf is what may be told of an error: the type of an application's, the code of a
// gRPC status, else its Go type.
func typeOf(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() != "" {
		return app.Type()
	}
	if s, ok := status.FromError(err); ok {
		return s.Code().String()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "DeadlineExceeded"
	case errors.Is(err, context.Canceled):
		return "Canceled"
	default:
		return fmt.Sprintf("%T", err)
	}
}
