package tracing_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"gnomon/tracing"
)

// Issue 4: exporters by the OTEL_* environment.
func TestExportByEnvironment(t *testing.T) {
	exported := make(chan *collectorpb.ExportTraceServiceRequest, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorpb.ExportTraceServiceRequest
		if err == nil && proto.Unmarshal(body, &request) == nil {
			exported <- &request
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	log := slog.New(slog.DiscardHandler)
	tr, err := tracing.FromEnvironment(t.Context(), "gnomon-starter", "v1", log)
	require.NoError(t, err)
	_, span := tr.Provider().Tracer("test").Start(t.Context(), "something")
	span.End()
	require.NoError(t, tr.Shutdown(t.Context()), "it waits for what is not exported yet")
	about := map[string]string{}
	resource := (<-exported).GetResourceSpans()[0]
	for _, a := range resource.GetResource().GetAttributes() {
		about[a.GetKey()] = a.GetValue().GetStringValue()
	}
	require.Equal(t, "something", resource.GetScopeSpans()[0].GetSpans()[0].GetName())
	require.Equal(t, "gnomon-starter", about["service.name"])
	require.Equal(t, "v1", about["service.version"])
	require.Equal(t, "test", about["deployment.environment.name"])

	t.Setenv("OTEL_SERVICE_NAME", "mine")
	tr, err = tracing.FromEnvironment(t.Context(), "gnomon-starter", "v1", log)
	require.NoError(t, err)
	_, span = tr.Provider().Tracer("test").Start(t.Context(), "something")
	span.End()
	require.NoError(t, tr.Shutdown(t.Context()))
	require.Contains(t, (<-exported).GetResourceSpans()[0].GetResource().String(), `"mine"`)

	t.Setenv("OTEL_SDK_DISABLED", "true")
	tr, err = tracing.FromEnvironment(t.Context(), "gnomon", "", log)
	require.NoError(t, err)
	require.Nil(t, tr)
	t.Setenv("OTEL_SDK_DISABLED", "")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	tr, err = tracing.FromEnvironment(t.Context(), "gnomon", "", log)
	require.NoError(t, err)
	require.Nil(t, tr)
	t.Setenv("OTEL_TRACES_EXPORTER", "paper")
	_, err = tracing.FromEnvironment(t.Context(), "gnomon", "", log)
	require.ErrorContains(t, err, "the OTEL_* settings of traces cannot be used")
}
