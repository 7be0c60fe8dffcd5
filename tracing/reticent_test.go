package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/temporal"
	grpccodes "google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/tracing"
)

const canary = "c4n4ry"

// newTracing has its spans kept.
func newTracing(t *testing.T) (*tracing.Tracing, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	tr := tracing.New(sdktrace.WithSyncer(spans))
	t.Cleanup(func() { require.NoError(t, tr.Shutdown(context.WithoutCancel(t.Context()))) })
	return tr, spans
}

// F20: whatever instrumentation tells a span of an error, its text is not kept.
func TestErrorTextsAreNotKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"an action's": {fmt.Errorf("wrapped: %w", temporal.NewApplicationError(canary, "Failed", canary)), "Failed"},
		"a status":    {status.Error(grpccodes.ResourceExhausted, canary), "ResourceExhausted"},
		"any":         {errors.New(canary), "*errors.errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, spans := newTracing(t)
			ctx, span := tr.Provider().Tracer("theirs").Start(t.Context(), "outer")
			span.RecordError(c.err, trace.WithAttributes(attribute.String("message", canary)))
			span.SetStatus(codes.Error, canary)
			span.AddEvent("event", trace.WithAttributes(attribute.String("message", canary)))
			_, inner := tracing.Begin(ctx, "inner")
			inner.RecordError(c.err)
			tracing.End(inner, c.err)
			_, ofProvider := span.TracerProvider().Tracer("theirs").Start(ctx, "of the span's provider")
			ofProvider.SetStatus(codes.Error, canary)
			ofProvider.End()
			span.End()
			require.Len(t, spans.GetSpans(), 3)
			for _, s := range spans.GetSpans() {
				require.NotContains(t, fmt.Sprintf("%+v", s), canary)
				require.Equal(t, codes.Error, s.Status.Code)
			}
			require.Contains(t, spans.GetSpans()[0].Attributes, attribute.String("error.type", c.want))
		})
	}
}
