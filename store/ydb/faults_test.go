package ydb_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// faults are all that YDB's documentation and SDK call retryable, and answers that are
// lost after their commit. Those that the SDK waits a second or more for are slow.
var faults = map[string]struct {
	ydbdouble.Fault

	slow bool
}{
	"aborted":               {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_ABORTED}},
	"unavailable":           {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_UNAVAILABLE}},
	"overloaded":            {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_OVERLOADED}, slow: true},
	"undetermined":          {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_UNDETERMINED}},
	"timeout":               {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_TIMEOUT}},
	"session busy":          {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_SESSION_BUSY}},
	"session expired":       {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_SESSION_EXPIRED}},
	"bad session":           {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_BAD_SESSION}},
	"session lost":          {Fault: ydbdouble.Fault{SessionLost: true}},
	"aborted midway":        {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_ABORTED, Midway: true}},
	"connection lost":       {Fault: ydbdouble.Fault{Transport: codes.Unavailable}},
	"lost midway":           {Fault: ydbdouble.Fault{Transport: codes.Unavailable, Midway: true}},
	"call aborted":          {Fault: ydbdouble.Fault{Transport: codes.Aborted}},
	"internal":              {Fault: ydbdouble.Fault{Transport: codes.Internal}},
	"too late":              {Fault: ydbdouble.Fault{Transport: codes.DeadlineExceeded}},
	"exhausted":             {Fault: ydbdouble.Fault{Transport: codes.ResourceExhausted}, slow: true},
	"answer undetermined":   {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_UNDETERMINED, Committed: true}},
	"answer timed out":      {Fault: ydbdouble.Fault{Status: Ydb.StatusIds_TIMEOUT, Committed: true}},
	"answer lost":           {Fault: ydbdouble.Fault{Transport: codes.Unavailable, Committed: true}},
	"answer lost, canceled": {Fault: ydbdouble.Fault{Transport: codes.Canceled, Committed: true}},
	"answer lost, internal": {Fault: ydbdouble.Fault{Transport: codes.Internal, Committed: true}},
	"answer lost, too late": {Fault: ydbdouble.Fault{Transport: codes.DeadlineExceeded, Committed: true}},
}

// Every statement of the store, by what only it says.
const (
	isPut   = "COALESCE(r.revision > t.revision, false)" // and inserts
	isGet   = "WHERE meta_action_id_hash = $hash AND meta_action_id = $id"
	isList  = "$page"
	isPurge = "$expired"
	isPing  = "LIMIT 1;"
	isOpen  = "SELECT MAX(version_id)"
)

// once has a fault happen to the first execution of the statement that says mark, and
// gives how many executions it had.
func once(server *ydbdouble.Server, mark string, fault ydbdouble.Fault) *atomic.Int64 {
	var executions atomic.Int64
	server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
		if strings.Contains(e.Text, mark) && executions.Add(1) == 1 {
			return fault
		}
		return ydbdouble.Fault{}
	})
	return &executions
}

func numbered(id string, sequence uint64) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}, Status: &gnomonv1.Status{}},
		Revision: store.Revision{Sequence: sequence}, Chain: "chain",
	}
}

func tombstone(id string) store.Row {
	row := numbered(id, 1)
	row.Tombstone = true
	return row
}

// Issue 4: each retryable fault at each statement. The call does what it says and
// says what it did, as if nothing had happened.
func TestEachFaultAtEachStatement(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fault.slow && testing.Short() {
				t.Skip("the SDK waits seconds")
			}
			server := start(t, ydbdouble.Options{})
			now := time.Now()
			s := open(t, ydb.Config{
				ConnectionString: server.ConnectionString(""), Timeout: 20 * time.Second,
				Now: func() time.Time { return now }, TombstoneTTL: time.Hour,
			})
			try := func(mark string, call func() error) {
				executions := once(server, mark, fault.Fault)
				require.NoError(t, call(), mark)
				require.EqualValues(t, 2, executions.Load(), mark)
			}
			try(isPut, func() error {
				applied, err := s.PutActions(t.Context(), []store.Row{numbered("a", 5), numbered("b", 1), tombstone("ended")})
				require.Equal(t, []bool{true, true, true}, applied)
				return err
			})
			try(isPut, func() error {
				applied, err := s.PutActions(t.Context(), []store.Row{numbered("a", 5), numbered("b", 2)})
				require.Equal(t, []bool{false, true}, applied, "an equal revision did not apply, repeated or not")
				return err
			})
			try(isPut, func() error {
				applied, err := s.InsertAction(t.Context(), numbered("c", 0))
				require.True(t, applied)
				return err
			})
			try(isPut, func() error {
				applied, err := s.InsertAction(t.Context(), numbered("c", 0))
				require.False(t, applied)
				return err
			})
			try(isGet, func() error {
				row, err := s.GetAction(t.Context(), "a")
				require.EqualValues(t, 5, row.Revision.Sequence)
				return err
			})
			try(isList, func() error {
				rows, err := s.ListActions(t.Context(), store.ActionQuery{Order: store.ByID, Limit: 10})
				require.Len(t, rows, 3)
				return err
			})
			try(isPing, func() error { return s.Ping(t.Context()) })
			try(isOpen, func() error {
				again, err := ydb.Open(t.Context(), ydb.Config{ConnectionString: server.ConnectionString("")})
				if err != nil {
					return err
				}
				return again.Close()
			})
			now = now.Add(time.Hour)
			try(isPurge, func() error {
				purged, err := s.PurgeActions(t.Context(), 10)
				if !fault.Committed { // what the lost answer would have said is gone with it
					require.Equal(t, 1, purged)
				}
				return err
			})
			server.Inject(nil)
			purged, err := s.PurgeActions(t.Context(), 10)
			require.NoError(t, err)
			require.Zero(t, purged)
		})
	}
}

// A migration may fail at any of its statements, or its answer may be lost there: run
// again, it goes on.
func TestMigrationsAmidFaults(t *testing.T) {
	t.Parallel()
	kinds := []string{"unavailable", "session lost", "answer lost"}
	clean := start(t, ydbdouble.Options{})
	var statements atomic.Int64
	clean.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
		statements.Add(1)
		return ydbdouble.Fault{}
	})
	require.NoError(t, ydb.Migrate(t.Context(), ydb.Config{ConnectionString: clean.ConnectionString("")}))
	require.Greater(t, statements.Load(), int64(5))
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := start(t, ydbdouble.Options{})
			for n := range statements.Load() {
				c := ydb.Config{ConnectionString: server.ConnectionString(directory())}
				var executions atomic.Int64
				server.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
					if executions.Add(1) == n+1 {
						return faults[kind].Fault
					}
					return ydbdouble.Fault{}
				})
				first := ydb.Migrate(t.Context(), c)
				server.Inject(nil)
				if first != nil {
					require.NoError(t, ydb.Migrate(t.Context(), c), "again, after statement %d: %v", n+1, first)
				}
				s, err := ydb.Open(t.Context(), c)
				require.NoError(t, err)
				applied, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
				require.NoError(t, err)
				require.Equal(t, []bool{true}, applied)
				require.NoError(t, s.Close())
			}
		})
	}
}

// Issue 4: the whole suite while every third statement fails, in turn in each way
// that does not take the SDK seconds. A purge loses no answer: it would count less.
func TestConformanceAmidFaults(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	var quick []ydbdouble.Fault
	for _, fault := range faults {
		if !fault.slow {
			quick = append(quick, fault.Fault)
		}
	}
	var suffered atomic.Int64
	storetest.Run(t, func(t *testing.T, o storetest.Options) store.Actions {
		t.Helper()
		c := ydb.Config{
			ConnectionString: server.ConnectionString(directory()), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Timeout: 30 * time.Second,
		}
		server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
			fault := quick[e.Number/3%uint64(len(quick))]
			ours := strings.Contains(e.Text, "FROM scheduled_actions") || strings.Contains(e.Text, "UPSERT INTO scheduled_actions")
			if e.Number%3 > 0 || !ours || fault.Committed && strings.Contains(e.Text, isPurge) {
				return ydbdouble.Fault{}
			}
			suffered.Add(1)
			return fault
		})
		return open(t, c)
	})
	t.Cleanup(func() { require.Greater(t, suffered.Load(), int64(100)) })
}

// A call ends by its own time where the server never recovers, and says why.
func TestServerThatDoesNotRecover(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 300 * time.Millisecond})
	for _, fault := range []ydbdouble.Fault{{Status: Ydb.StatusIds_UNAVAILABLE}, {Delay: time.Minute}} {
		server.Inject(func(ydbdouble.Execution) ydbdouble.Fault { return fault })
		begin := time.Now()
		_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
		require.Error(t, err)
		_, err = s.GetAction(t.Context(), "a")
		require.Error(t, err)
		require.NotErrorIs(t, err, store.ErrNotFound)
		require.Less(t, time.Since(begin), 10*time.Second)
	}
	server.Inject(nil)
	applied, err := s.PutActions(t.Context(), []store.Row{numbered("a", 2)})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, applied)
}

// What the server refuses for good is not repeated, and is only its caller's.
func TestRefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString("")})
	executions := once(server, isPut, ydbdouble.Fault{Status: Ydb.StatusIds_BAD_REQUEST})
	_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
	require.ErrorContains(t, err, "ydb: PutActions: ")
	require.ErrorContains(t, err, "BAD_REQUEST")
	require.NotContains(t, err.Error(), "ydb-go-sdk", "no places of the SDK's source")
	require.EqualValues(t, 1, executions.Load())
}

// Nodes are restarted: all their sessions are gone at once.
func TestSessionsThatAreAllLost(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString("")})
	for i := range uint64(5) {
		server.DropSessions()
		applied, err := s.PutActions(t.Context(), []store.Row{numbered("a", i+1)})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, applied)
	}
}
