package sqlite

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A look at the versions neither creates nor changes anything.
func TestVersions(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	have, want, err := Versions(t.Context(), Config{Path: path})
	require.NoError(t, err)
	require.Zero(t, have)
	require.Positive(t, want)
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	have, _, err = Versions(t.Context(), Config{Path: path})
	require.NoError(t, err)
	require.Zero(t, have)
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, left)

	closed(t, Config{Path: path, Migrate: true})
	have, want, err = Versions(t.Context(), Config{Path: path})
	require.NoError(t, err)
	require.Equal(t, want, have)
	alter(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	have, _, err = Versions(t.Context(), Config{Path: path})
	require.NoError(t, err)
	require.EqualValues(t, 9999, have)

	_, _, err = Versions(t.Context(), Config{})
	require.ErrorContains(t, err, "Config.Path must not be empty")
	_, want, err = Versions(t.Context(), Config{Path: MemoryPath})
	require.NoError(t, err)
	require.Positive(t, want)
}
