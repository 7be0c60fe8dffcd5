package serve_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gnomon/serve"
)

// A part that is told wrong about zones or channels says so and does not start.
func TestFilesAreReadFirst(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("what: 7"), 0o600))
	for _, tt := range []struct {
		cmd        *cobra.Command
		flag, want string
	}{
		{serve.Worker("test"), "--dns-zones", `DNS zones: ` + bad + `: `},
		{serve.Worker("test"), "--notifications", `notifications: ` + bad + `: `},
		{serve.Worker("test"), "--stages", `stages: ` + bad + `: line 1: what: is no field there is`},
		{serve.Starter("test"), "--stages", `stages: ` + bad + `: line 1: what: is no field there is`},
		{serve.Starter("test"), "--dns-zones", `DNS zones: ` + bad + `: `},
	} {
		tt.cmd.SetArgs([]string{tt.flag, bad, "--temporal-address", "127.0.0.1:1"})
		tt.cmd.SilenceUsage, tt.cmd.SilenceErrors = true, true
		ctx, cancel := context.WithCancel(t.Context())
		require.ErrorContains(t, tt.cmd.ExecuteContext(ctx), tt.want)
		cancel()
	}
}
