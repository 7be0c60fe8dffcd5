package metrics

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Issue 4, 7: liveness is the process, readiness what it needs, and both are told at the
// port of the metrics. A process is not ready before it serves nor once it stops.
func TestProbes(t *testing.T) {
	t.Parallel()
	r, _, _ := registry(t)
	down := make(chan error, 1)
	down <- nil
	s, err := Listen(t.Context(), "127.0.0.1:0", r, quiet,
		Check{Name: "temporal", Ask: func(context.Context) error { return nil }},
		Check{Name: "store", Ask: func(context.Context) error {
			is := <-down
			down <- is
			return is
		}},
	)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })

	answers := func(path string, code int, text string) {
		t.Helper()
		got, body := get(t, s, path)
		require.Equal(t, code, got, body)
		require.Equal(t, text, body)
	}
	answers("/livez", http.StatusOK, "ok")
	answers("/readyz", http.StatusServiceUnavailable, "the process starts")
	s.Serving()
	answers("/readyz", http.StatusOK, "temporal: ok\nstore: ok")

	<-down
	down <- errors.New("secret-canary")
	require.Eventually(t, func() bool { // a look holds for a second
		code, _ := get(t, s, "/readyz")
		return code == http.StatusServiceUnavailable
	}, 10*time.Second, 50*time.Millisecond)
	answers("/readyz", http.StatusServiceUnavailable, "temporal: ok\nstore: does not answer")
	answers("/livez", http.StatusOK, "ok")

	s.Stopping()
	answers("/readyz", http.StatusServiceUnavailable, "the process stops")
	answers("/livez", http.StatusOK, "ok")
	code, body := get(t, s, "/metrics")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, `gnomon_build_info{goversion="go`)
}

// Probes that come together share one look, however many there are.
func TestProbesShareALook(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	p := newProbes([]Check{{Name: "store", Ask: func(context.Context) error {
		asked <- struct{}{}
		return nil
	}}}, quiet)
	for range 50 {
		require.Equal(t, []error{nil}, p.look(t.Context()))
	}
	require.Less(t, len(asked), 10)
}

// A check that does not answer costs two seconds and not the probe.
func TestProbeOfAStuckStore(t *testing.T) {
	t.Parallel()
	p := newProbes([]Check{{Name: "store", Ask: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}}, quiet)
	began := time.Now()
	require.ErrorIs(t, p.look(t.Context())[0], context.DeadlineExceeded)
	require.Less(t, time.Since(began), 10*time.Second)
}

// Without an address there is no server, and nothing that asks for one minds.
func TestNoServer(t *testing.T) {
	t.Parallel()
	var s *Server
	s.Serving()
	s.Stopping()
	require.Empty(t, s.Addr())
	require.NoError(t, s.Close(t.Context()))
}
