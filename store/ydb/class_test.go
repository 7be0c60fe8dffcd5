package ydb_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"gnomon/store"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// Issue 4, Operations: what kind of failure it is that lasts until a call's time is over.
func TestClasses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault ydbdouble.Fault
		want  store.Class
	}{
		"aborted":      {ydbdouble.Fault{Status: Ydb.StatusIds_ABORTED}, store.ClassContended},
		"session busy": {ydbdouble.Fault{Status: Ydb.StatusIds_SESSION_BUSY}, store.ClassContended},
		"unavailable":  {ydbdouble.Fault{Status: Ydb.StatusIds_UNAVAILABLE}, store.ClassUnavailable},
		"lost":         {ydbdouble.Fault{Transport: codes.Unavailable}, store.ClassUnavailable},
		"slow":         {ydbdouble.Fault{Delay: time.Minute}, store.ClassTimeout},
		"refused":      {ydbdouble.Fault{Status: Ydb.StatusIds_BAD_REQUEST}, store.ClassOther},
		"denied":       {ydbdouble.Fault{Status: Ydb.StatusIds_UNAUTHORIZED}, store.ClassDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, ydbdouble.Options{})
			s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 500 * time.Millisecond})
			server.Inject(func(ydbdouble.Execution) ydbdouble.Fault { return c.fault })
			_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
			require.Equal(t, c.want, store.ClassOf(err), "%v", err)
			_, err = s.GetAction(t.Context(), "a")
			require.Equal(t, c.want, store.ClassOf(err), "%v", err)
			server.Inject(nil)
		})
	}
}

// A caller who leaves is no failure of the store's.
func TestClassOfCallersWhoLeave(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString("")})
	server.Inject(func(ydbdouble.Execution) ydbdouble.Fault { return ydbdouble.Fault{Delay: time.Minute} })
	left, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	_, err := s.GetAction(left, "a")
	require.Equal(t, store.ClassCanceled, store.ClassOf(err), "%v", err)
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = s.GetAction(late, "a")
	require.Equal(t, store.ClassTimeout, store.ClassOf(err), "%v", err)
	server.Inject(nil)
}

// M-61: what the server refuses of one write is only that one's; the others of its group
// are written again, each alone.
func TestOneBadWriteIsNotItsGroups(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Writers: 1, Timeout: 20 * time.Second})
	const clients = 16
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	var puts, refused atomic.Int64
	server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
		if !strings.Contains(e.Text, isPut) {
			return ydbdouble.Fault{}
		}
		switch puts.Add(1) {
		case 1: // the others wait for it, and are a group
			arrived <- struct{}{}
			<-release
		case 2:
			refused.Add(1)
			return ydbdouble.Fault{Status: Ydb.StatusIds_BAD_REQUEST}
		}
		return ydbdouble.Fault{}
	})
	var failed atomic.Int64
	var wg sync.WaitGroup
	put := func(client int) {
		wg.Go(func() {
			if _, err := s.PutActions(t.Context(), []store.Row{numbered(fmt.Sprint(client), 1)}); err != nil {
				failed.Add(1)
			}
		})
	}
	put(0)
	<-arrived
	for client := 1; client < clients; client++ {
		put(client)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(release) })
	wg.Wait()
	require.EqualValues(t, 1, refused.Load())
	require.LessOrEqual(t, failed.Load(), int64(1), "one at most was refused alone")
	require.Greater(t, puts.Load(), int64(2), "what was refused together is tried apart")
}
