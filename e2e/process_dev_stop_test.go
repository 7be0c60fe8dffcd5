package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Issue 4, 7; M-38: gnomon-dev that is stopped says at once that it is not ready, and
// gives its attempts two seconds. What ends within them is not interrupted; what does not
// is handed back, and attempted again when it is started again.
func TestProcessDevDrains(t *testing.T) {
	t.Parallel()
	in, dir := receive(t), t.TempDir()
	p, at := runDev(t, "--data-dir", dir)
	client := connect(t, at.GRPC)
	create(t, client, steadily(in.once("held", "/block/held", time.Now()), 3, time.Minute))
	in.nth(t, "held", 1, 20*time.Second)
	create(t, client, steadily(in.once("quick", "/slow/1500ms", time.Now()), 3, time.Minute))
	in.nth(t, "quick", 1, 20*time.Second)

	stopped := time.Now()
	p.signal(t, syscall.SIGTERM)
	eventually(t, 2*time.Second, "it is not ready", func() bool {
		code, body := page(t, at.Metrics, "/readyz")
		return code == http.StatusServiceUnavailable && body == "the process stops"
	})
	require.Zero(t, p.exit(t, 20*time.Second), p.err.Tail(20))
	t.Logf("SIGTERM to end: %s", time.Since(stopped).Round(time.Millisecond))

	_, at = runDev(t, "--data-dir", dir)
	client = connect(t, at.GRPC)
	// Long before the policy's delay, which is for failures.
	second := in.nth(t, "held", 2, 30*time.Second)
	require.Equal(t, in.of("held")[0].IdempotencyKey, second.IdempotencyKey)
	in.Release()
	ends(t, client, "held", gnomonv1.Status_SUCCEEDED, counts{ok: 1, interrupted: 1})
	ends(t, client, "quick", gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	require.Len(t, in.of("quick"), 1)
}
