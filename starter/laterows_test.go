package starter

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// F5, M-61: a store that is down costs the reply a condition and Temporal nothing: the
// facade writes the rows when the store is back, within seconds.
func TestCreateWithoutTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, rows := newFacade(t)
		f.status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		rows.answers(errors.New("down"))
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction(id)})
			require.NoError(t, err)
			require.True(t, isFalse(reply, life.ConditionMirrored))
		}
		<-time.After(time.Minute)
		synctest.Wait()
		require.Empty(t, f.told())
		require.LessOrEqual(t, len(rows.ids()), len(ids)+int(time.Minute/lateLatest)+10, "calls of a store that is away")
		rows.answers(nil)
		<-time.After(lateLatest)
		synctest.Wait()
		require.Equal(t, ids, rows.ids())
		for _, row := range rows.inserted {
			require.False(t, isFalse(row.Action, life.ConditionMirrored), "a row does not say that it is missing")
		}
		s.Close(t.Context())
		require.Empty(t, f.told())
	})
}

// F5, M-61: what the store does not take for longer the workflow sees to.
func TestTheWorkflowIsAskedForItsRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, rows := newFacade(t)
		rows.answers(errors.New("down"))
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
		require.NoError(t, err)
		<-time.After(s.MirrorPatience - time.Second)
		synctest.Wait()
		require.Empty(t, f.told())
		<-time.After(time.Second + lateLatest)
		synctest.Wait()
		require.Len(t, f.told(), 1)
		require.Equal(t, workflowv1.SignalMirror, f.told()[0].name)
		require.Equal(t, "action/a", f.told()[0].workflow)
		s.Close(t.Context())
		require.Len(t, f.told(), 1)
	})
}

// F5, M-61: a facade that stops leaves the rows that the store did not take to workflows.
func TestCloseLeavesRowsToWorkflows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, rows := newFacade(t)
		rows.answers(errors.New("down"))
		for _, id := range []string{"a", "b"} {
			_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction(id)})
			require.NoError(t, err)
		}
		s.Close(t.Context())
		require.Len(t, f.told(), 2)
		// One that is created yet is not lost either.
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("c")})
		require.NoError(t, err)
		require.Len(t, f.told(), 3)
	})
}

// F5, M-49: a store that takes longer than a call waits writes the row still, once.
func TestCreateBeforeASlowStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, rows := newFacade(t)
		rows.hang = make(chan struct{})
		began := time.Now()
		reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
		require.NoError(t, err)
		require.True(t, isFalse(reply, life.ConditionMirrored))
		require.Equal(t, s.MirrorTimeout, time.Since(began))
		close(rows.hang)
		synctest.Wait()
		require.Equal(t, []string{"a"}, rows.ids())
		require.False(t, isFalse(rows.inserted[0].Action, life.ConditionMirrored))
		<-time.After(s.MirrorPatience)
		s.Close(t.Context())
		require.Len(t, rows.ids(), 1)
		require.Empty(t, f.told())
	})
}

// M-61: a first row that comes late takes nothing away: not where a row stands, and none
// of a run that has closed.
func TestLateRowsThatAreNotOwed(t *testing.T) {
	t.Parallel()
	for name, c := range standing("run-1") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, f, rows := newFacade(t)
				f.status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
				if c.closed {
					f.status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
				}
				if c.row != nil {
					rows.rows["a"] = *c.row
				}
				rows.answers(errors.New("down"))
				_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
				require.NoError(t, err)
				rows.answers(nil)
				<-time.After(lateLatest)
				synctest.Wait()
				require.Equal(t, c.writes, len(rows.ids()) == 1)
				s.Close(t.Context())
				require.Empty(t, f.told(), "it is done with")
			})
		})
	}
}

// M-61: so many rows wait and no more.
func TestLateRowsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, _ := newFacade(t)
		s.late.working = true // nobody takes any away
		row := store.Row{Action: wantedAction("a")}
		for range lateKept {
			s.late.add(t.Context(), row)
		}
		require.Empty(t, f.told())
		s.late.add(t.Context(), row)
		require.Len(t, f.told(), 1)
		require.Len(t, s.late.waiting, lateKept)
	})
}
