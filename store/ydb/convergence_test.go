package ydb_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"gnomon/store"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// F5, F6 of faults.md: with the store down, with 30 % errors of all kinds, with writes
// doubled and shuffled, what stands in the end is the newest of each id. Writers do as
// activities do: they put again what failed.
func TestWritesConvergeAmidErrors(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	// Less time than the SDK needs to hide all errors, so that callers see some.
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 200 * time.Millisecond})
	const writers, names, revisions = 8, 10, 20
	down := time.Now().Add(time.Second)
	server.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
		switch {
		case time.Now().Before(down):
			return ydbdouble.Fault{Transport: codes.Unavailable}
		case rand.IntN(10) >= 3:
			return ydbdouble.Fault{}
		}
		return []ydbdouble.Fault{
			{Status: Ydb.StatusIds_ABORTED},
			{Status: Ydb.StatusIds_OVERLOADED},
			{Status: Ydb.StatusIds_GENERIC_ERROR},
			{Status: Ydb.StatusIds_UNDETERMINED, Committed: true},
			{Transport: codes.Unavailable, Committed: true},
			{SessionLost: true},
			{Delay: 300 * time.Millisecond},
		}[rand.IntN(7)]
	})
	failures := make([]int, writers)
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			var rows []store.Row
			for n := range names * revisions * 2 {
				rows = append(rows, numbered(fmt.Sprint(n%names), uint64(n/names%revisions)+1))
			}
			rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			for len(rows) > 0 {
				n := min(len(rows), 50)
				if _, err := s.PutActions(t.Context(), rows[:n]); err != nil {
					failures[writer]++
					continue
				}
				rows = rows[n:]
			}
		})
	}
	wg.Wait()
	server.Inject(nil)
	require.NotEqual(t, make([]int, writers), failures, "somebody saw an error")
	rows, err := s.ListActions(t.Context(), store.ActionQuery{Order: store.ByID, Limit: 100})
	require.NoError(t, err)
	require.Len(t, rows, names)
	for _, row := range rows {
		require.EqualValues(t, revisions, row.Revision.Sequence)
	}
}

// Issue 4: concurrent writers share statements, as they share transactions on SQLite.
func TestWritersThatWaitShareAStatement(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Writers: 1, Timeout: 20 * time.Second})
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	server.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
		select {
		case arrived <- struct{}{}: // the first waits here until the others wait for it
			<-release
		default:
		}
		return ydbdouble.Fault{}
	})
	const clients = 64
	var wg sync.WaitGroup
	put := func(client int) {
		wg.Go(func() {
			applied, err := s.PutActions(t.Context(), []store.Row{numbered(fmt.Sprint(client), 1)})
			require.NoError(t, err)
			require.Equal(t, []bool{true}, applied)
		})
	}
	put(0)
	require.Eventually(t, func() bool { return len(arrived) == 1 }, 10*time.Second, time.Millisecond)
	for client := 1; client < clients; client++ {
		put(client)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	wg.Wait()
	stats := s.Stats()
	require.EqualValues(t, clients, stats.Writes)
	require.Less(t, stats.Statements, uint64(clients/2), "few of the others were too late for the second group")
}

// F5: a server that was away, its port closed and every session lost, is written to and
// read again as soon as it is back, by clients that were connected before and tried all
// the time. What is written meanwhile fails within Timeout.
func TestServerThatWasAway(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it is away for longer than gRPC's first pauses")
	}
	const away, timeout = 20 * time.Second, 2 * time.Second
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: timeout})
	_, err := s.PutActions(t.Context(), []store.Row{numbered("before", 1)})
	require.NoError(t, err)

	server.Suspend()
	for began := time.Now(); time.Since(began) < away; {
		asked := time.Now()
		_, err = s.PutActions(t.Context(), []store.Row{numbered("meanwhile", 1)})
		require.Error(t, err)
		_, err = s.GetAction(t.Context(), "before")
		require.Error(t, err)
		require.NotErrorIs(t, err, store.ErrNotFound)
		require.Less(t, time.Since(asked), 2*timeout+5*time.Second)
	}

	require.NoError(t, server.Resume(t.Context()))
	require.Error(t, server.Resume(t.Context()), "it serves already")
	back := time.Now()
	for {
		applied, err := s.PutActions(t.Context(), []store.Row{numbered("after", 1)})
		if err == nil {
			require.Equal(t, []bool{true}, applied)
			break
		}
		require.Less(t, time.Since(back), time.Minute, "%v", err)
	}
	t.Logf("written %s after its return", time.Since(back).Round(time.Millisecond))
	require.Less(t, time.Since(back), 5*time.Second, "connecting is tried too seldom")
	rows, err := s.ListActions(t.Context(), store.ActionQuery{Order: store.ByID, Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 2, "the rows stay, and nothing was written meanwhile")
}
