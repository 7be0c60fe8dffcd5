package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// Issue 4, 6: an image without a shell can be asked for its health.
func TestHealthByGRPC(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "SERVING\n", fake.run(t, "health").ok(t).stdout)

	fake.health.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
	got := fake.run(t, "health")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "is NOT_SERVING")

	got = invocation{address: "127.0.0.1:1"}.run(t.Context(), "health", "--timeout", "5s")
	require.Equal(t, ExitFailed, got.code, "nobody listens")
}

func TestHealthByHTTP(t *testing.T) {
	t.Parallel()
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "as it \x1b[31mstands\n")
	}))
	t.Cleanup(server.Close)
	ask := func(args ...string) ran {
		return invocation{}.run(t.Context(), append([]string{"health", "--http"}, args...)...)
	}
	require.Equal(t, `as it \x1b[31mstands`+"\n", ask(server.URL+"/readyz").ok(t).stdout)

	code = http.StatusServiceUnavailable
	got := ask(server.URL + "/readyz")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "answered 503 Service Unavailable: as it ")

	for _, wrong := range []string{"127.0.0.1:7780", "ftp://127.0.0.1/", "http:///readyz", "::"} {
		require.Equal(t, ExitUsage, ask(wrong).code, wrong)
	}
	require.Equal(t, ExitUsage, ask(server.URL, "--timeout", "-1s").code)
	server.Close()
	require.Equal(t, ExitFailed, ask(server.URL+"/readyz").code)
}
