package tracing_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gnomon/tracing"
)

// Issue 4: none by default, and then it costs nothing.
func TestWithoutTracing(t *testing.T) { //nolint:paralleltest // it sets variables
	for _, name := range []string{
		"OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED",
	} {
		t.Setenv(name, "")
	}
	tr, err := tracing.FromEnvironment(t.Context(), "gnomon", "", nil)
	require.NoError(t, err)
	require.Nil(t, tr)
	require.Empty(t, tr.ServerOptions())
	require.Empty(t, tr.DialOptions())
	require.Empty(t, tr.ClientInterceptors())
	require.Empty(t, tr.WorkerInterceptors())
	require.Empty(t, tr.Client(client.Options{}).Interceptors)
	require.Nil(t, tr.Provider())
	require.NoError(t, tr.Shutdown(t.Context()))

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
	require.NoError(t, err)
	request.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	require.Empty(t, tr.Metadata(t.Context(), request))
	require.Nil(t, tracing.Header(t.Context()))
	ctx := context.Background()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, span := tracing.Begin(ctx, "nothing")
		tracing.End(span, nil)
	}))
}
