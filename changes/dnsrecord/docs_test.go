package dnsrecord_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The configuration in docs/batches.md is one.
func TestTheDocumentedZones(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/batches.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "```yaml\nzones:")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("c2VjcmV0"), 0o600))
	c, err := load(t, strings.ReplaceAll("zones:"+block, "/run/secrets/gnomon-key", key))
	require.NoError(t, err)
	require.Equal(t, "example.org", c.Zones[0].Name)
}
