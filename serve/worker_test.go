package serve_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/serve"
)

// A worker that is told wrong about zones or channels says so and does not start.
func TestWorkerReadsItsFilesFirst(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("what: 7"), 0o600))
	for flag, want := range map[string]string{
		"--dns-zones":     `DNS zones: ` + bad + `: `,
		"--notifications": `notifications: ` + bad + `: `,
	} {
		cmd := serve.Worker("test")
		cmd.SetArgs([]string{flag, bad, "--temporal-address", "127.0.0.1:1"})
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		ctx, cancel := context.WithCancel(t.Context())
		require.ErrorContains(t, cmd.ExecuteContext(ctx), want)
		cancel()
	}
}
