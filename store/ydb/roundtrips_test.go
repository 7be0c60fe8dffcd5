package ydb

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
	"gnomon/store/ydb/ydbdouble"
)

// onDouble opens a store on a double of its own.
func onDouble(t *testing.T, c Config) (*Store, *ydbdouble.Server) {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	c.ConnectionString = server.ConnectionString("")
	require.NoError(t, Migrate(t.Context(), c))
	s, err := Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, server
}

func rowOf(id string, sequence uint64) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}, Status: &gnomonv1.Status{}},
		Revision: store.Revision{Sequence: sequence}, Chain: "chain",
	}
}

// F5: a group of many callers, some of whom put and some insert, costs one round trip: one
// statement, which begins its transaction, says which rows apply, and commits.
func TestAGroupIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	s, server := onDouble(t, Config{})
	one := func(row store.Row) mirror.Columns {
		c, err := mirror.Derive(row, time.Now(), time.Hour)
		require.NoError(t, err)
		return c
	}
	const callers = 300
	group := func(sequence uint64) (writes []write) {
		for n := range callers {
			writes = append(writes,
				write{rows: []mirror.Columns{
					one(rowOf(fmt.Sprint("put-", n), sequence)), one(rowOf(fmt.Sprint("also-", n), sequence+uint64(n%2))),
				}},
				write{insert: true, rows: []mirror.Columns{one(rowOf(fmt.Sprint("insert-", n), 0))}})
		}
		return writes
	}
	for _, c := range []struct {
		sequence uint64
		put      func(n int) []bool
		inserted bool
	}{
		{sequence: 1, put: func(int) []bool { return []bool{true, true} }, inserted: true},
		{sequence: 1, put: func(int) []bool { return []bool{false, false} }},
		{sequence: 2, put: func(int) []bool { return []bool{true, true} }},
	} {
		var executed atomic.Int64
		server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
			executed.Add(1)
			assert.Equal(t, ydbdouble.ReadWrite, e.Mode, "it begins a transaction of its own")
			assert.True(t, e.Commits, "and commits")
			return ydbdouble.Fault{}
		})
		applied, err := s.commit(group(c.sequence))
		require.NoError(t, err)
		require.EqualValues(t, 1, executed.Load(), "round trips of %d callers", 2*callers)
		for n := range callers {
			require.Equal(t, c.put(n), applied[2*n])
			require.Equal(t, []bool{c.inserted}, applied[2*n+1])
		}
	}
}

// F5: a row does not wait for statements that take long and is written by the one after
// them: its own begins beside them, however many of the first Writers have not ended.
func TestARowDoesNotWaitForSlowStatements(t *testing.T) {
	t.Parallel()
	const rows = slowWriters / 2
	s, server := onDouble(t, Config{Writers: 1, Timeout: time.Minute})
	hang, begun := make(chan struct{}), make(chan struct{}, rows)
	server.Inject(func(ydbdouble.Execution) ydbdouble.Fault {
		begun <- struct{}{}
		<-hang
		return ydbdouble.Fault{}
	})
	var wg sync.WaitGroup
	for n := range rows {
		wg.Go(func() {
			applied, err := s.PutActions(t.Context(), []store.Row{rowOf(fmt.Sprint(n), 1)})
			require.NoError(t, err)
			require.Equal(t, []bool{true}, applied)
		})
		select {
		case <-begun:
		case <-time.After(20 * time.Second):
			close(hang)
			wg.Wait()
			require.Fail(t, "a row waits for statements of others", "%d of them", n)
		}
	}
	close(hang)
	wg.Wait()
}
