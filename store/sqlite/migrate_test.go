package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"gnomon/store"
)

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "gnomon.db")
}

// closed opens a database and closes it, so that it is there.
func closed(t *testing.T, c Config) {
	t.Helper()
	s, err := Open(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// alter changes a database behind the back of the store.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open(driverName, "file:"+path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestMissingDatabaseIsRefusedAndNotCreated(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	_, err := Open(t.Context(), Config{Path: path})
	require.ErrorContains(t, err, "there is no database at")
	require.NoFileExists(t, path)
}

func TestDatabaseBehindIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := Open(t.Context(), Config{Path: path})
	require.ErrorContains(t, err, "the database is behind: its schema has version 0")

	closed(t, Config{Path: path, Migrate: true})
	closed(t, Config{Path: path})
	alter(t, path, `DELETE FROM goose_db_version WHERE version_id > 0`)
	_, err = Open(t.Context(), Config{Path: path})
	require.ErrorContains(t, err, "the database is behind")
}

func TestDatabaseAheadIsRefusedEvenToMigrate(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	closed(t, Config{Path: path, Migrate: true})
	alter(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	for _, migrate := range []bool{false, true} {
		_, err := Open(t.Context(), Config{Path: path, Migrate: migrate})
		require.ErrorContains(t, err, "the database is ahead: its schema has version 9999")
	}
}

func TestFileThatIsNoDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	text := []byte("This is a letter, and it is longer than the header of a database would be.\n")
	for range 5 {
		text = append(text, text...)
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
	for _, migrate := range []bool{false, true} {
		_, err := Open(t.Context(), Config{Path: path, Migrate: migrate})
		require.Error(t, err)
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, after)
}

func TestMigratingAgainKeepsTheRows(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for i := range 3 {
		s, err := Open(t.Context(), Config{Path: path, Migrate: true})
		require.NoError(t, err)
		_, err = s.PutActions(t.Context(), []store.Row{clientRow(i)})
		require.NoError(t, err)
		rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 10})
		require.NoError(t, err)
		require.Len(t, rows, i+1)
		require.NoError(t, s.Close())
	}
}

// Facade and worker may be started together on one machine.
func TestManyMayMigrateAtOnce(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			s, err := Open(t.Context(), Config{Path: path, Migrate: true})
			if err == nil {
				_, err = s.PutActions(t.Context(), []store.Row{clientRow(i)})
				require.NoError(t, s.Close())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	s, err := Open(t.Context(), Config{Path: path})
	require.NoError(t, err)
	rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, len(errs))
	require.NoError(t, s.Close())
}

func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	provider, err := newProvider(s.db.write)
	require.NoError(t, err)
	_, err = provider.DownTo(t.Context(), 0)
	require.NoError(t, err)
	require.Error(t, s.Ping(t.Context()), "the table is gone")
	results, err := provider.Up(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, results)
	require.NoError(t, s.Ping(t.Context()))
}

// The version by file name must be the one goose would migrate to.
func TestProgramVersionIsGooses(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	provider, err := newProvider(s.db.write)
	require.NoError(t, err)
	current, target, err := provider.GetVersions(t.Context())
	require.NoError(t, err)
	want, err := programVersion()
	require.NoError(t, err)
	require.Equal(t, want, target)
	require.Equal(t, target, current)
	require.Equal(t, goose.DefaultTablename, "goose_db_version", "the name statements.go has")
}
