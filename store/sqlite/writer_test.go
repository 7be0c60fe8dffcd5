package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// clients is how many write at once.
const clients = 64

func testRow(id string) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}, Status: &gnomonv1.Status{}},
		Revision: store.Revision{Sequence: 1},
		Chain:    "chain",
	}
}

func clientRow(client int) store.Row { return testRow(fmt.Sprintf("row-%02d", client)) }

// openMemory opens a store within a bubble, where its goroutines must end.
func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// hold takes the connection that the writer needs, so that the next group waits
// before it begins. The result gives it back.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	conn, err := s.db.write.Conn(t.Context())
	require.NoError(t, err)
	return func() { require.NoError(t, conn.Close()) }
}

// put is a caller in a goroutine of its own.
type put struct {
	applied []bool
	err     error
}

func startPut(ctx context.Context, wg *sync.WaitGroup, s *Store, rows ...store.Row) *put {
	p := &put{}
	wg.Go(func() { p.applied, p.err = s.PutActions(ctx, rows) })
	return p
}

// Issue 2, The store: concurrent writers are grouped into one transaction.
func TestWritersThatWaitShareATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openMemory(t)
		release := hold(t, s)
		var wg sync.WaitGroup
		puts := []*put{startPut(t.Context(), &wg, s, clientRow(0))}
		synctest.Wait() // the first is a group of its own and waits for the connection
		for client := 1; client < clients; client++ {
			puts = append(puts, startPut(t.Context(), &wg, s, clientRow(client)))
		}
		synctest.Wait() // the others wait for the writer
		release()
		wg.Wait()
		for _, p := range puts {
			require.NoError(t, p.err)
			require.Equal(t, []bool{true}, p.applied)
		}
		require.Equal(t, Stats{Transactions: 2, Writes: clients}, s.Stats())
	})
}

// In a bubble time passes only when all wait: had the writer waited for company,
// the clock would have moved.
func TestWriterAloneIsNotDelayed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openMemory(t)
		begin := s.config.Now()
		for client := range 5 {
			_, err := s.PutActions(t.Context(), []store.Row{clientRow(client)})
			require.NoError(t, err)
		}
		require.Equal(t, Stats{Transactions: 5, Writes: 5}, s.Stats())
		require.Equal(t, begin, s.config.Now())
	})
}

func TestGroupIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openMemory(t)
		release := hold(t, s)
		var wg sync.WaitGroup
		startPut(t.Context(), &wg, s, testRow("first"))
		synctest.Wait()
		for client := range 4 {
			rows := make([]store.Row, groupStatements/2)
			for i := range rows {
				rows[i] = testRow(fmt.Sprintf("%d-%d", client, i))
			}
			startPut(t.Context(), &wg, s, rows...)
		}
		synctest.Wait()
		release()
		wg.Wait()
		require.Equal(t, Stats{Transactions: 3, Writes: 5}, s.Stats(), "the first, then two and two")
	})
}

// A statement that fails is its caller's affair, whether SQLite undoes only the
// statement or the whole transaction.
func TestFailedStatementFailsItsCallerOnly(t *testing.T) {
	t.Parallel()
	for _, undo := range []string{"ABORT", "ROLLBACK", "FAIL"} {
		t.Run(undo, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openMemory(t)
				_, err := s.db.write.ExecContext(t.Context(), fmt.Sprintf(`
					CREATE TRIGGER poison BEFORE INSERT ON scheduled_actions WHEN NEW.meta_action_id = 'poison'
					BEGIN SELECT RAISE(%s, 'poisoned'); END`, undo))
				require.NoError(t, err)
				release := hold(t, s)
				var wg sync.WaitGroup
				startPut(t.Context(), &wg, s, testRow("first"))
				synctest.Wait()
				var good []*put
				for client := range 5 {
					good = append(good, startPut(t.Context(), &wg, s, clientRow(client)))
				}
				bad := startPut(t.Context(), &wg, s, testRow("before"), testRow("poison"), testRow("after"))
				synctest.Wait()
				release()
				wg.Wait()
				for _, p := range good {
					require.NoError(t, p.err)
					require.Equal(t, []bool{true}, p.applied)
				}
				require.ErrorContains(t, bad.err, "poisoned")
				rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 100})
				require.NoError(t, err)
				require.Len(t, rows, 6, "nothing of the call that failed is left")
			})
		})
	}
}

func TestCallerWhoseContextEndsReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openMemory(t)
		release := hold(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		var left, stays sync.WaitGroup
		begun := startPut(ctx, &left, s, testRow("begun"))
		synctest.Wait()
		queued := startPut(ctx, &left, s, testRow("queued"))
		other := startPut(t.Context(), &stays, s, testRow("other"))
		synctest.Wait()
		cancel()
		left.Wait() // while the writer still waits
		require.ErrorIs(t, begun.err, context.Canceled)
		require.ErrorIs(t, queued.err, context.Canceled)
		release()
		stays.Wait()
		require.NoError(t, other.err)
		_, err := s.GetAction(t.Context(), "queued")
		require.ErrorIs(t, err, store.ErrNotFound, "nobody waits for it, so it was not written")
		_, err = s.GetAction(t.Context(), "begun")
		require.NoError(t, err, "its group had begun")
	})
}

// SQLite calls an interrupted statement by a name of its own.
func TestFailureOfAnEndedContextIsTheContexts(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted (9)")
	require.ErrorIs(t, failure(t.Context(), "GetAction", interrupted), interrupted)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, failure(ctx, "GetAction", interrupted), context.Canceled)
	require.NoError(t, failure(ctx, "GetAction", nil), "what was done in time is done")
}

func TestCloseWaitsForTheGroupUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openMemory(t)
		release := hold(t, s)
		var wg sync.WaitGroup
		begun := startPut(t.Context(), &wg, s, testRow("begun"))
		synctest.Wait()
		queued := startPut(t.Context(), &wg, s, testRow("queued"))
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		require.Empty(t, closed, "it waits")
		require.ErrorIs(t, queued.err, ErrClosed)
		release()
		wg.Wait()
		require.NoError(t, <-closed)
		require.NoError(t, begun.err)
		require.Equal(t, Stats{Transactions: 1, Writes: 1}, s.Stats())
		_, err := s.PutActions(t.Context(), []store.Row{testRow("late")})
		require.ErrorIs(t, err, ErrClosed)
	})
}

// The writer's connection may be replaced by database/sql at any time.
func TestMemoryOutlivesItsConnections(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	s.db.write.SetConnMaxLifetime(1) // a nanosecond: every connection is used once
	for client := range 5 {
		_, err := s.PutActions(t.Context(), []store.Row{clientRow(client)})
		require.NoError(t, err)
	}
	rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 100})
	require.NoError(t, err)
	require.Len(t, rows, 5)
}

// A transaction that cannot begin is nobody's fault and fails the whole group,
// instead of waiting the busy timeout once for each of its callers.
func TestLockedDatabaseFailsTheGroupAndRecovers(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/gnomon.db"
	s, err := Open(t.Context(), Config{Path: path, Migrate: true, BusyTimeout: 1e6})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	other, err := sql.Open(driverName, "file:"+path+"?_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })

	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = s.PutActions(t.Context(), []store.Row{testRow("a")})
	require.ErrorContains(t, err, "no transaction could begin")
	require.NoError(t, s.Ping(t.Context()), "reads go on")
	require.NoError(t, tx.Rollback())
	_, err = s.PutActions(t.Context(), []store.Row{testRow("a")})
	require.NoError(t, err)
}
