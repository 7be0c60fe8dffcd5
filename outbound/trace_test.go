package outbound

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Issue 4: the receiver's request carries W3C's traceparent; a request that names one
// itself is obeyed, one outside of any span has none, and another host is not told.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	told := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		told <- r.Header
	}))
	t.Cleanup(server.Close)
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	ctx, attempt := provider.Tracer("test").Start(t.Context(), "attempt")
	defer attempt.End()
	client := NewClient(HTTPConfig{})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	send := func(ctx context.Context, path, own string) string {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+path, nil)
		require.NoError(t, err)
		if own != "" {
			req.Header.Set("Traceparent", own)
		}
		_, err = client.Do(req, Call{Limit: time.Minute, Redirects: FollowRedirects(func(int) bool { return false })})
		require.NoError(t, err)
		return (<-told).Get("Traceparent")
	}
	got := send(ctx, "/secret?secret", "")
	span := spans.GetSpans()[0]
	require.Equal(t, fmt.Sprintf("00-%s-%s-01", attempt.SpanContext().TraceID(), span.SpanContext.SpanID()), got)
	require.Equal(t, attempt.SpanContext().SpanID(), span.Parent.SpanID())
	require.Equal(t, http.MethodPut, span.Name)
	require.NotContains(t, fmt.Sprintf("%+v", span), "secret")
	require.Equal(t, "own", send(ctx, "/", "own"))
	require.Empty(t, send(ctx, "/away", ""))
	require.Empty(t, send(t.Context(), "/", ""))
	require.Len(t, spans.GetSpans(), 3)
}
