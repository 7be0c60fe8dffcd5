package tracing

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// Begin begins a span within that of ctx, with the same provider. Where ctx has none it
// begins none: ctx comes back as it is, with a span that does nothing.
func Begin(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	outer := trace.SpanFromContext(ctx)
	if !outer.SpanContext().IsValid() {
		return ctx, outer
	}
	return outer.TracerProvider().Tracer(scope).Start(ctx, name, options...) //nolint:spancheck // the caller ends it
}

// End ends a span that came to err.
func End(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		fail(span, err)
	}
	span.End()
}
