package ydb_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
}
