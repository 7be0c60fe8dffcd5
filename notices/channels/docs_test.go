package channels_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/notices"
)

// The configuration in docs/batches.md is one.
func TestTheDocumentedChannels(t *testing.T) {
	t.Setenv("ON_CALL_URL", "https://on-call.example.org")
	page, err := os.ReadFile("../../docs/batches.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "```yaml\nlink:")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s3cret"), 0o600))
	block = strings.NewReplacer("/run/secrets/on-call", secret, "/run/secrets/smtp", secret, "ca_file:", "#").Replace(block)
	c, err := load(t, "link:"+block)
	require.NoError(t, err)
	require.Len(t, c.For(notices.ScheduledChangeFailed), 3)
	require.NoError(t, c.Close())
}
