package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
	"gnomon/store/sqlite"
	"gnomon/store/storetest"
)

// open opens a store that a test closes or leaves to the end.
func open(t *testing.T, c sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// file is the path of a database that does not exist yet.
func file(t *testing.T) string { return filepath.Join(t.TempDir(), "gnomon.db") }

// P-05, M-45, M-61: the rules of every store.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*testing.T) string{
		"file":   file,
		"memory": func(*testing.T) string { return sqlite.MemoryPath },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T, o storetest.Options) store.Actions {
				t.Helper()
				return open(t, sqlite.Config{Path: path(t), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Migrate: true})
			})
			whole := func(t *testing.T, o storetest.Options) store.Store {
				t.Helper()
				return open(t, sqlite.Config{Path: path(t), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Migrate: true})
			}
			storetest.RunBatches(t, whole)
			storetest.RunNodes(t, whole)
			storetest.RunEntities(t, whole)
		})
	}
}
