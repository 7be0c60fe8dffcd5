package ydb_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// installations numbers the directories of this process's tests.
var installations atomic.Uint64

// start starts a double.
func start(t *testing.T, o ydbdouble.Options) *ydbdouble.Server {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

// directory is a new installation's.
func directory() string {
	return fmt.Sprintf("gnomon-test/%d-%d-%d", time.Now().UnixNano(), os.Getpid(), installations.Add(1))
}

// open migrates an installation and opens it.
func open(t *testing.T, c ydb.Config) *ydb.Store {
	t.Helper()
	require.NoError(t, ydb.Migrate(t.Context(), c))
	s, err := ydb.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// elsewhere is an installation of the database of YDB_CONNECTION_STRING, if there is
// one.
func elsewhere(directory string) (string, bool) {
	connection := os.Getenv(ydb.EnvConnectionString)
	if connection == "" {
		return "", false
	}
	separator := "?"
	if strings.Contains(connection, "?") {
		separator = "&"
	}
	return connection + separator + "directory=" + directory, true
}

// M-60, P-05: who creates an action and lists sees it, so nothing is read stale; a write
// is one statement that commits.
func TestNothingIsReadStale(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString("")})
	var executed atomic.Int64
	server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
		executed.Add(1)
		mode := ydbdouble.SnapshotReadOnly
		if strings.Contains(e.Text, "UPSERT") || strings.Contains(e.Text, "DELETE") {
			mode = ydbdouble.ReadWrite
		}
		assert.Equal(t, mode, e.Mode, e.Text)
		assert.True(t, e.Commits, e.Text)
		return ydbdouble.Fault{}
	})
	_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
	require.NoError(t, err)
	_, err = s.InsertAction(t.Context(), numbered("b", 0))
	require.NoError(t, err)
	_, err = s.GetAction(t.Context(), "a")
	require.NoError(t, err)
	_, err = s.ListActions(t.Context(), store.ActionQuery{Order: store.ByID, Limit: 10})
	require.NoError(t, err)
	_, err = s.PurgeActions(t.Context(), 10)
	require.NoError(t, err)
	require.NoError(t, s.Ping(t.Context()))
	require.EqualValues(t, 6, executed.Load(), "one statement a call")
}

// P-05, M-45, M-61: the rules of every store, on the double, or on the server of
// YDB_CONNECTION_STRING if that is set.
func TestConformance(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	opened := func(t *testing.T, o storetest.Options) *ydb.Store {
		t.Helper()
		in := directory()
		connection, ok := elsewhere(in)
		if !ok {
			connection = server.ConnectionString(in)
		}
		return open(t, ydb.Config{ConnectionString: connection, Now: o.Now, TombstoneTTL: o.TombstoneTTL, Timeout: 30 * time.Second})
	}
	storetest.Run(t, func(t *testing.T, o storetest.Options) store.Actions { t.Helper(); return opened(t, o) })
	storetest.RunBatches(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
	storetest.RunNodes(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
	storetest.RunEntities(t, func(t *testing.T, o storetest.Options) store.Store { t.Helper(); return opened(t, o) })
}
