package e2e

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

var shownAt = regexp.MustCompile(`The metrics are served\..*metrics\W+(127\.0\.0\.1:\d+)`)

// shows is where a process serves its metrics and probes.
func (p *process) shows(t *testing.T) string {
	t.Helper()
	line := p.says(t, p.err, "The metrics are served.")
	match := shownAt.FindStringSubmatch(line)
	require.NotNil(t, match, line)
	return match[1]
}

// page fetches a page of a process, code 0 if it does not answer.
func page(t *testing.T, address, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	require.NoError(t, err)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, strings.TrimSpace(string(body))
}

// Issue 4, 7: a worker that is stopped in the middle of an attempt says at once that it
// is not ready, takes no more, lets the attempt end, and loses nothing.
func TestProcessWorkerDrains(t *testing.T) {
	t.Parallel()
	p := separate(t)
	w := p.work(t, "--stop-grace", "20s", "--heartbeat-timeout", "2s", "--metrics-address", "127.0.0.1:0")
	at := w.shows(t)
	eventually(t, startWithin, "it is ready", func() bool {
		code, _ := page(t, at, "/readyz")
		return code == http.StatusOK
	})
	create(t, p.client, steadily(p.inbox.once("held", "/block/held", time.Now()), 3, time.Second))
	p.inbox.nth(t, "held", 1, 20*time.Second)
	_, text := page(t, at, "/metrics")
	require.Contains(t, text, `gnomon_attempts_running{kind="http_request"} 1`)

	w.signal(t, syscall.SIGTERM)
	eventually(t, 10*time.Second, "it is not ready", func() bool {
		code, body := page(t, at, "/readyz")
		return code == http.StatusServiceUnavailable && body == "the process stops"
	})
	code, _ := page(t, at, "/livez")
	require.Equal(t, http.StatusOK, code, "it is alive")
	// What falls due now is not for it any more.
	create(t, p.client, p.inbox.once("later", "/ok", time.Now()))
	passes(t, time.Now().Add(3*time.Second)) // longer than the heartbeat timeout
	require.True(t, w.Alive(), "it waits for its attempt")
	require.Empty(t, p.inbox.of("later"), "it takes no more")
	p.inbox.Release()
	require.Zero(t, w.exit(t, 10*time.Second), w.err.Tail(20))

	p.work(t)
	ends(t, p.client, "held", gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	ends(t, p.client, "later", gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	require.Len(t, p.inbox.of("held"), 1)
	require.Len(t, p.inbox.of("later"), 1)
}

// Issue 4, 7: a facade that is stopped is not ready first, and serves for the shutdown
// delay, so that a load balancer sends nobody to a closed port.
func TestProcessStarterDrains(t *testing.T) {
	t.Parallel()
	p := separate(t)
	s := run(t, "starter", "--temporal-address", p.address, "--store", p.store(), "--grpc-address", "127.0.0.1:0",
		"--http-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--shutdown-delay", "5s", "--log-format", "text")
	at := s.shows(t)
	line := s.says(t, s.err, "The facade serves.")
	client := connect(t, servesAt.FindStringSubmatch(line)[1])
	rest := line[strings.LastIndex(line, "http=")+len("http="):]
	for _, address := range []string{at, rest} {
		eventually(t, startWithin, "it is ready", func() bool {
			code, _ := page(t, address, "/readyz")
			return code == http.StatusOK
		})
	}
	stopped := time.Now()
	s.signal(t, syscall.SIGTERM)
	for _, address := range []string{at, rest} {
		eventually(t, 4*time.Second, "it is not ready", func() bool {
			code, _ := page(t, address, "/readyz")
			return code == http.StatusServiceUnavailable
		})
	}
	create(t, client, p.inbox.once("late", "/ok", time.Now().Add(time.Hour)))
	require.Zero(t, s.exit(t, 20*time.Second), s.err.Tail(20))
	require.GreaterOrEqual(t, time.Since(stopped), 5*time.Second)
}

// Several processes of one machine need no addresses of their own for their metrics;
// an address that was given is not replaced.
func TestProcessMetricsAddressTaken(t *testing.T) {
	t.Parallel()
	p := separate(t)
	first, second := p.work(t), p.work(t)
	require.NotEqual(t, first.shows(t), second.shows(t))
	refused := run(t, "worker", "--temporal-address", p.address, "--store", p.store(), "--metrics-address", first.shows(t))
	require.Equal(t, 1, refused.exit(t, startWithin))
	require.Contains(t, refused.err.Text(), "--metrics-address")
	none := p.work(t, "--metrics-address", "")
	require.NotContains(t, none.err.Text(), "The metrics are served.")
}
