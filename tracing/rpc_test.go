package tracing_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"

	"gnomon/tracing"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Issue 4: the REST gateway passes traceparent on, and nothing else that a caller may
// have put there: gRPC refuses metadata that is no ASCII.
func TestMetadataOfRequest(t *testing.T) {
	t.Parallel()
	tr, _ := newTracing(t)
	for header, want := range map[string]metadata.MD{
		parent:                      {"traceparent": {parent}, "tracestate": {"vendor=1"}},
		"":                          {},
		"00-zz\xff":                 {},
		parent[:len(parent)-3] + "": {},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
		require.NoError(t, err)
		request.Header.Set("Traceparent", header)
		request.Header.Set("Tracestate", "vendor=1")
		request.Header.Set("Baggage", "secret=1")
		require.Equal(t, want, tr.Metadata(t.Context(), request), header)
	}
}

// A script's trace goes on by the variables that OpenTelemetry names for that.
func TestContinue(t *testing.T) {
	require.False(t, trace.SpanContextFromContext(tracing.Continue(t.Context())).IsValid())
	t.Setenv("TRACEPARENT", parent)
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", trace.SpanContextFromContext(tracing.Continue(t.Context())).TraceID().String())
}
