package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

func TestEveryCharacterOfAPathIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "a b.db", "50%.db", "%20.db", "q?mode=ro.db", "h#ash.db", "a&b=c.db", "ü.db", "it's.db", "a:b.db", ":memory:.db", "+.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			closed(t, Config{Path: filepath.Join(dir, name), Migrate: true})
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, entries, 1, "the log is gone after a clean end")
			require.Equal(t, name, entries[0].Name())
		})
	}
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"gnomon.db", "./b.db", "a b?.db"} {
		closed(t, Config{Path: name, Migrate: true})
		require.FileExists(t, name)
	}
}

// It holds the payloads of all users.
func TestFilesAreTheOwnersOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{Path: filepath.Join(dir, "gnomon.db"), Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3, "database, log, index of the log")
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
	}
}

func TestConnectionsAreSetUp(t *testing.T) {
	t.Parallel()
	const syncNormal, syncFull = 1, 2
	for _, relaxed := range []bool{false, true} {
		s, err := Open(t.Context(), Config{Path: newPath(t), Migrate: true, RelaxedSync: relaxed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		pragma := func(name string, value any) {
			require.NoError(t, s.db.write.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(value))
		}
		var mode string
		pragma("journal_mode", &mode)
		require.Equal(t, "wal", mode)
		var timeout, synchronous int
		pragma("busy_timeout", &timeout)
		require.EqualValues(t, defaultBusyTimeout.Milliseconds(), timeout)
		pragma("synchronous", &synchronous)
		if relaxed {
			require.Equal(t, syncNormal, synchronous)
		} else {
			require.Equal(t, syncFull, synchronous)
		}
		_, err = s.db.read.ExecContext(t.Context(), `DELETE FROM scheduled_actions`)
		require.Error(t, err, "readers cannot write")
	}
}

func TestMemoriesAreApart(t *testing.T) {
	t.Parallel()
	one, other := openMemory(t), openMemory(t)
	_, err := one.PutActions(t.Context(), []store.Row{testRow("a")})
	require.NoError(t, err)
	_, err = other.GetAction(t.Context(), "a")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoFileExists(t, MemoryPath)
}

func TestDirectoryThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "gnomon.db")
	for _, migrate := range []bool{false, true} {
		_, err := Open(t.Context(), Config{Path: path, Migrate: migrate})
		require.Error(t, err)
	}
}

func TestConfigNamesEveryBadField(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), Config{TombstoneTTL: -1, Readers: -1, BusyTimeout: -1})
	for _, field := range []string{"Path", "TombstoneTTL", "Readers", "BusyTimeout"} {
		require.ErrorContains(t, err, "Config."+field+" must not be")
	}
}
