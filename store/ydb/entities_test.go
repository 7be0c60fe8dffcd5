package ydb_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// plantAt has a fault happen to the n-th execution from now on, and gives what ends that.
func plantAt(server *ydbdouble.Server, n int, fault ydbdouble.Fault, then func()) (heal func() bool) {
	var executions atomic.Int64
	server.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
		if executions.Add(1) != int64(n) {
			return ydbdouble.Fault{}
		}
		then()
		return fault
	})
	return func() bool {
		server.Inject(nil)
		return executions.Load() >= int64(n)
	}
}

// Issue 7: each retryable fault at each statement of each write of entities: it is done
// once, and says so, as if nothing had happened.
func TestEachFaultAtEachStatementOfEntities(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only, atLeast := []string(nil), 50
			if fault.slow || testing.Short() { // the SDK waits, in the slow ones for seconds
				only, atLeast = []string{"commit of all"}, 4
			}
			if fault.slow && testing.Short() {
				t.Skip("the SDK waits seconds")
			}
			server := start(t, ydbdouble.Options{})
			s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 60 * time.Second})
			planted, lost := storetest.RunEntityFaults(t, s, func(n int) (context.Context, func() bool) {
				return t.Context(), plantAt(server, n, fault.Fault, func() {})
			}, only...)
			require.GreaterOrEqual(t, planted, atLeast)
			require.Zero(t, lost, "no call fails")
		})
	}
}

// Issue 7: the caller leaves at each statement of each write, which fails or whose answer
// is lost: all or nothing is there then, and the call made again is done once.
func TestCallersThatLeaveAtEachStatementOfEntities(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]ydbdouble.Fault{
		"before":      {Transport: codes.Unavailable},
		"aborted":     {Status: Ydb.StatusIds_ABORTED},
		"midway":      {Transport: codes.Unavailable, Midway: true},
		"answer lost": {Transport: codes.Unavailable, Committed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, ydbdouble.Options{})
			s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 60 * time.Second})
			planted, lost := storetest.RunEntityFaults(t, s, func(n int) (context.Context, func() bool) {
				ctx, cancel := context.WithCancel(t.Context())
				heal := plantAt(server, n, fault, cancel)
				return ctx, func() bool {
					cancel()
					return heal()
				}
			})
			require.GreaterOrEqual(t, planted, 50)
			if fault.Committed {
				require.Positive(t, lost)
			}
			t.Logf("%d faults, %d lost answers", planted, lost)
		})
	}
}

// The whole suite while every fifth statement of entities fails, in turn in each way that
// does not take the SDK seconds.
func TestEntitiesAmidFaults(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	var quick []ydbdouble.Fault
	for _, fault := range faults {
		if !fault.slow {
			quick = append(quick, fault.Fault)
		}
	}
	var suffered atomic.Int64
	var contended sync.Map // directories where many write at once
	storetest.RunEntities(t, func(t *testing.T, o storetest.Options) store.Store {
		t.Helper()
		in := directory()
		if strings.Contains(t.Name(), "together") {
			contended.Store(in, true)
		}
		c := ydb.Config{
			ConnectionString: server.ConnectionString(in), Now: o.Now, TombstoneTTL: o.TombstoneTTL,
			// 64 writers of one entity conflict, one of them gets through at a time, and a busy machine
			// makes each wait long.
			Timeout: 5 * time.Minute,
		}
		server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
			fault := quick[e.Number/5%uint64(len(quick))]
			ours := strings.Contains(e.Text, "entit") && !strings.Contains(e.Text, "CREATE TABLE")
			switch {
			case e.Number%5 > 0 || !ours:
				return ydbdouble.Fault{}
			case fault.Committed && strings.Contains(e.Text, "DELETE FROM entity_requests"): // it would count less
				return ydbdouble.Fault{}
			case strings.Contains(e.Text, "UPSERT INTO entities") && within(&contended, e.Text):
				// A change that may have been done may be overtaken before it is repeated, and fails
				// then: TestChangesThatWereOvertaken.
				fault = ydbdouble.Fault{Status: Ydb.StatusIds_ABORTED, Midway: fault.Midway}
			}
			suffered.Add(1)
			return fault
		})
		return open(t, c)
	})
	t.Cleanup(func() { require.Greater(t, suffered.Load(), int64(100)) })
}

// within says whether a statement is about one of these directories.
func within(directories *sync.Map, text string) (found bool) {
	directories.Range(func(in, _ any) bool {
		found = strings.Contains(text, in.(string)+`"`)
		return !found
	})
	return found
}

// A change whose answer was lost, and which others overtook before it was repeated, is
// neither said to be refused nor done again.
func TestChangesThatWereOvertaken(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	c := ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 30 * time.Second}
	s := open(t, c)
	other, err := ydb.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	key := store.EntityKey{Type: "offer", ID: "1"}
	number := 0
	put := func(s *ydb.Store, version int64) error {
		number++
		content, err := structpb.NewStruct(map[string]any{"n": number})
		require.NoError(t, err)
		_, err = s.PutEntity(t.Context(), store.EntityPut{
			Entity: &gnomonv1.Entity{Type: key.Type, Id: key.ID, Content: content}, Version: version, At: time.Unix(1, 0),
		})
		return err
	}
	require.NoError(t, put(s, 0))
	for name, call := range map[string]func(version int64) error{
		"put": func(version int64) error { return put(s, version) },
		"compare-and-set": func(int64) error {
			_, err := s.UpdateStageState(t.Context(), store.StateUpdate{Key: key, Stage: "s", State: &gnomonv1.StageState{State: &anypb.Any{TypeUrl: "x"}}})
			return err
		},
		"deletion": func(int64) error {
			_, err := s.DeleteEntity(t.Context(), key, 0, time.Unix(1, 0))
			return err
		},
	} {
		e, err := s.GetEntity(t.Context(), key)
		require.NoError(t, err)
		var lost, overtaken atomic.Bool
		server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
			if !strings.Contains(e.Text, "UPSERT INTO entities") || !lost.CompareAndSwap(false, true) {
				return ydbdouble.Fault{}
			}
			return ydbdouble.Fault{Transport: codes.Unavailable, Committed: true, Then: func() {
				overtaken.Store(assert.NoError(t, put(other, 0)))
			}}
		})
		err = call(e.GetVersion())
		server.Inject(nil)
		require.True(t, overtaken.Load(), name)
		require.ErrorContains(t, err, "not known whether it was done", name)
		require.Equal(t, store.ClassUnavailable, store.ClassOf(err), name)
	}
}
