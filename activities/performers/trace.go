package performers

import (
	"context"
	"strings"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"gnomon/tracing"
)

// beginRPC begins a span of the attempt for a gRPC call, and has its metadata carry it.
func beginRPC(ctx context.Context, method string) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, trace.SpanFromContext(ctx)
	}
	name := strings.TrimPrefix(method, "/")
	ctx, span := tracing.Begin(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.RPCSystemNameGRPC, semconv.RPCMethod(name),
	))
	return tracing.InjectRPC(ctx), span
}
