package ydb

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/ydb/ydbdouble"
)

// double starts a server and gives the configuration of an installation on it.
func double(t *testing.T) Config {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return Config{ConnectionString: server.ConnectionString("gnomon"), ConnectTimeout: 20 * time.Second, Timeout: 20 * time.Second}.withDefaults()
}

// database gives an installation as goose has it.
func database(t *testing.T, c Config) *sql.DB {
	t.Helper()
	in, err := parseTarget(c.ConnectionString)
	require.NoError(t, err)
	driver, err := connect(t.Context(), c, in)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, driver.Close(t.Context())) })
	db, err := openSQL(driver, in)
	require.NoError(t, err)
	return db
}

func plainRow(id string) store.Row {
	return store.Row{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}}, Revision: store.Revision{Sequence: 1}}
}

// Issue 4, gnomon migrate: what is behind or ahead is refused with the command to run.
func TestSchemaBehindOrAheadIsRefused(t *testing.T) {
	t.Parallel()
	c := double(t)
	require.NoError(t, Migrate(t.Context(), c))
	want, err := programVersion()
	require.NoError(t, err)
	db := database(t, c)

	_, err = db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM goose_db_version WHERE version_id = %d", want))
	require.NoError(t, err)
	_, err = Open(t.Context(), c)
	require.ErrorContains(t, err, fmt.Sprintf("the store is behind: its tables in /local/gnomon have version %d, this program needs %d: run gnomon migrate", want-1, want))
	require.NoError(t, Migrate(t.Context(), c))

	_, err = db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (CAST(9999 AS Uint64), true)")
	require.NoError(t, err)
	_, err = Open(t.Context(), c)
	require.ErrorContains(t, err, "the store is ahead: its tables in /local/gnomon have version 9999")
	require.NoError(t, db.Close())
}

func TestMigratingAgainKeepsTheRows(t *testing.T) {
	t.Parallel()
	c := double(t)
	for i := range 3 {
		require.NoError(t, Migrate(t.Context(), c))
		s, err := Open(t.Context(), c)
		require.NoError(t, err)
		_, err = s.PutActions(t.Context(), []store.Row{plainRow(fmt.Sprint(i))})
		require.NoError(t, err)
		rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 10})
		require.NoError(t, err)
		require.Len(t, rows, i+1)
		require.NoError(t, s.Close())
	}
}

func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	c := double(t)
	require.NoError(t, Migrate(t.Context(), c))
	db := database(t, c)
	provider, err := newProvider(db)
	require.NoError(t, err)
	current, target, err := provider.GetVersions(t.Context())
	require.NoError(t, err)
	want, err := programVersion()
	require.NoError(t, err)
	require.Equal(t, want, target, "the version by file name must be the one goose would migrate to")
	require.Equal(t, target, current)
	require.Equal(t, "goose_db_version", goose.DefaultTablename, "the name statements.go has")
	_, err = provider.DownTo(t.Context(), 0)
	require.NoError(t, err)
	_, err = Open(t.Context(), c)
	require.ErrorContains(t, err, "the store is behind")
	_, err = provider.Up(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	s, err := Open(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Close())
}

// M-48: one database hosts several installations, which do not see each other.
func TestInstallationsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	c := double(t)
	in, err := parseTarget(c.ConnectionString)
	require.NoError(t, err)
	base := fmt.Sprintf("grpc://%s%s", in.endpoint, in.database)
	stores := map[string]*Store{}
	for _, directory := range []string{"", "?directory=one", "?directory=two", "?directory=one/inner"} {
		c.ConnectionString = base + directory
		_, err := Open(t.Context(), c)
		require.ErrorContains(t, err, "the store is behind", "not even the tables of another")
		require.NoError(t, Migrate(t.Context(), c))
		s, err := Open(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		stores[directory] = s
	}
	for directory, s := range stores {
		applied, err := s.PutActions(t.Context(), []store.Row{plainRow("same"), plainRow("of" + directory)})
		require.NoError(t, err)
		require.Equal(t, []bool{true, true}, applied, "as if nobody else had written it")
	}
	for directory, s := range stores {
		rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 10, Order: store.ByID})
		require.NoError(t, err)
		require.Len(t, rows, 2)
		_, err = s.GetAction(t.Context(), "of"+directory)
		require.NoError(t, err)
		n, err := s.PurgeActions(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, n)
	}
}
