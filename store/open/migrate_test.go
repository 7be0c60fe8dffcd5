package open_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store/open"
)

// Issue 4, 4: a store that is behind is refused with the command to run, and that
// command makes it fit.
func TestMigrate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "my store", "gnomon.db")
	name := "sqlite:" + path
	_, err := open.Current(t.Context(), name)
	require.ErrorContains(t, err, "is behind: its schema has version 0")
	require.ErrorContains(t, err, "run: gnomon migrate --store 'sqlite:"+path+"'")

	v, err := open.Migrate(t.Context(), name, true)
	require.NoError(t, err)
	require.Zero(t, v.Have)
	require.Positive(t, v.Want)
	require.NoFileExists(t, path, "a dry run")

	v, err = open.Migrate(t.Context(), name, false)
	require.NoError(t, err)
	require.Zero(t, v.Have)
	again, err := open.Migrate(t.Context(), name, false)
	require.NoError(t, err)
	require.Equal(t, open.Versions{Have: v.Want, Want: v.Want}, again)
	s, err := open.Current(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Close())
}

func TestMemoryNeedsNoMigration(t *testing.T) {
	t.Parallel()
	_, err := open.Migrate(t.Context(), "sqlite::memory:", false)
	require.NoError(t, err)
	s, err := open.Current(t.Context(), "sqlite::memory:")
	require.NoError(t, err)
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Close())
}

func TestUnknownStoresAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "sqlite:", "gnomon.db", "mysql://localhost"} {
		_, err := open.Migrate(t.Context(), name, false)
		require.ErrorContains(t, err, "store is ")
		_, err = open.Current(t.Context(), name)
		require.ErrorContains(t, err, "store is ")
	}
	require.True(t, open.MigratesByDefault(open.Default))
	require.False(t, open.MigratesByDefault("grpc://localhost:2136/local"))
}
