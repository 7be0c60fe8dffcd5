package open_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/open"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// use writes and reads one row.
func use(t *testing.T, name string) {
	t.Helper()
	s, err := open.Store(t.Context(), name)
	require.NoError(t, err)
	_, err = s.PutActions(t.Context(), []store.Row{{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a"}}}})
	require.NoError(t, err)
	_, err = s.GetAction(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "gnomon.db")
	use(t, "sqlite:"+path)
	require.FileExists(t, path)
	use(t, "sqlite::memory:")
}

// Issue 4, Configuration: by YDB's conventions.
func TestYDB(t *testing.T) {
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	name := server.ConnectionString("one")
	s, err := open.Store(t.Context(), name)
	require.ErrorContains(t, err, "run gnomon migrate")
	require.Nil(t, s)
	_, err = open.Current(t.Context(), name)
	require.EqualError(t, err, "the store "+name+" is behind: its schema has version 0, this program needs 5; run: gnomon migrate --store '"+name+"'")
	v, err := open.Migrate(t.Context(), name, true)
	require.NoError(t, err)
	require.Equal(t, open.Versions{Have: 0, Want: 5}, v)
	v, err = open.Migrate(t.Context(), name, false)
	require.NoError(t, err)
	require.Equal(t, open.Versions{Have: 0, Want: 5}, v)
	current, err := open.Current(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, current.Close())
	require.False(t, open.MigratesByDefault(name))
	use(t, name)

	t.Setenv(ydb.EnvConnectionString, server.ConnectionString("two"))
	_, err = open.Migrate(t.Context(), "ydb", false)
	require.NoError(t, err)
	use(t, "ydb")
	t.Setenv(ydb.EnvConnectionString, "")
	_, err = open.Store(t.Context(), "ydb")
	require.EqualError(t, err, "store is ydb, but YDB_CONNECTION_STRING is not set")
}

func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "sqlite", "sqlite:", "postgres://user:hunter2@host/db", "ydb:", "YDB", "file.db"} {
		_, err := open.Store(t.Context(), name)
		require.ErrorContains(t, err, "must be sqlite:PATH, grpc[s]://host:port/database[?directory=PATH], or ydb with YDB_CONNECTION_STRING")
		require.NotContains(t, err.Error(), "hunter2")
		_, err = open.Migrate(t.Context(), name, false)
		require.Error(t, err)
	}
}
