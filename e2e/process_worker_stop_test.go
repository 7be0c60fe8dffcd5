package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// runsAt is which of the workers makes the attempt of an action that runs.
func (p *parts) runsAt(t *testing.T, id string, workers []*process) *process {
	t.Helper()
	var name string
	eventually(t, 10*time.Second, id+" shows its worker", func() bool {
		name = row(t, p.client, id).GetStatus().GetCurrentAttemptStatus().GetWorker()
		return name != ""
	})
	for _, w := range workers {
		if strings.HasSuffix(name, "/"+strconv.Itoa(w.PID())) {
			return w
		}
	}
	t.Fatalf("%s runs at %s, which is none of the workers", id, name)
	return nil
}

// M-38, design.md: a worker that is stopped gives its attempts their grace. What
// ends within it is not interrupted.
func TestProcessWorkerStoppedWithinGrace(t *testing.T) {
	t.Parallel()
	p := separate(t)
	flags := []string{"--stop-grace", "20s", "--heartbeat-timeout", "2s"}
	workers := []*process{p.work(t, flags...), p.work(t, flags...)}
	create(t, p.client, steadily(p.inbox.once("held", "/block/held", time.Now()), 3, time.Second))
	p.inbox.nth(t, "held", 1, 20*time.Second)
	w := p.runsAt(t, "held", workers)
	w.signal(t, syscall.SIGTERM)
	// Longer than the heartbeat timeout, so that a worker that stopped to give signs
	// of life would be noticed.
	passes(t, time.Now().Add(3*time.Second))
	require.True(t, w.Alive(), "it waits for its attempt")
	p.inbox.Release()
	require.Zero(t, w.exit(t, 10*time.Second), w.err.Tail(20))
	ends(t, p.client, "held", gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	require.Len(t, p.inbox.of("held"), 1)
}

// M-38, design.md: what does not end within the grace counts as interrupted and is
// attempted at once elsewhere, whatever the policy's delay.
func TestProcessWorkerStoppedBeyondGrace(t *testing.T) {
	t.Parallel()
	p := separate(t)
	const grace = time.Second
	flags := []string{"--stop-grace", grace.String(), "--heartbeat-timeout", "10s"}
	workers := []*process{p.work(t, flags...), p.work(t, flags...)}
	create(t, p.client, steadily(p.inbox.once("held", "/block/held", time.Now()), 3, 30*time.Second))
	p.inbox.nth(t, "held", 1, 20*time.Second)
	w := p.runsAt(t, "held", workers)
	stopped := time.Now()
	w.signal(t, syscall.SIGTERM)
	second := p.inbox.nth(t, "held", 2, 20*time.Second)
	t.Logf("attempted elsewhere %s after SIGTERM", second.Time.Sub(stopped).Round(time.Millisecond))
	// The server rounds a retry's delay up to about a second.
	require.Less(t, second.Time.Sub(stopped), grace+time.Second+tolerance)
	require.GreaterOrEqual(t, second.Time.Sub(stopped), grace, "it had its grace")
	require.Zero(t, w.exit(t, 10*time.Second), w.err.Tail(20))
	other := p.runsAt(t, "held", workers)
	require.NotSame(t, w, other)
	p.inbox.Release()
	ends(t, p.client, "held", gnomonv1.Status_SUCCEEDED, counts{ok: 1, interrupted: 1})
	require.Len(t, p.inbox.of("held"), 2)
	require.Equal(t, p.inbox.of("held")[0].IdempotencyKey, second.IdempotencyKey)
}
