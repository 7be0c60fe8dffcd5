package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
	"gnomon/store/faulty"
)

// states creates 50 actions and brings them into every state there is; it returns the
// ids of those that are alive.
func (r *reconciled) states(t *testing.T) []string {
	t.Helper()
	var alive []string
	id := func(kind string, n int) string { return r.id(fmt.Sprintf("%s-%d", kind, n)) }
	for n := range 5 {
		r.create(t, r.once(id("waiting", n), "/ok", time.Hour))
		r.create(t, every(r.once(id("periodic", n), "/ok", time.Hour), time.Hour))
		r.create(t, r.once(id("updated", n), "/ok", time.Hour))
		r.update(t, r.once(id("updated", n), "/ok", 2*time.Hour))
		r.create(t, r.once(id("paused", n), "/ok", time.Hour))
		_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id("paused", n)})
		require.NoError(t, err)
		r.create(t, retrying(r.once(id("retrying", n), "/status/503", 0), 8))
		r.create(t, retrying(r.once(id("running", n), "/block", 0), 8))
		r.create(t, r.once(id("succeeded", n), "/ok", 0))
		r.create(t, r.once(id("failed", n), "/status/500", 0))
		r.create(t, r.once(id("deleted", n), "/ok", time.Hour))
		r.delete(t, id("deleted", n))
		expiring := r.once(id("expired", n), "/ok", time.Hour)
		expiring.Spec.SendPolicy.Deadline = stamp(time.Now().Add(time.Second))
		r.create(t, expiring)
	}
	for n := range 5 {
		for _, kind := range []string{"waiting", "periodic", "updated", "paused", "retrying", "running"} {
			alive = append(alive, id(kind, n))
		}
		for _, kind := range []string{"succeeded", "failed", "expired", "deleted"} {
			r.closed(t, id(kind, n), time.Minute)
		}
		r.arrival(t, 30*time.Second, path(id("retrying", n), "/status/503"))
		r.arrival(t, 30*time.Second, path(id("running", n), "/block"))
	}
	return alive
}

// Issue 4: in a healthy installation with actions of all states nothing is found.
func TestReconcileHealthy(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		t.Cleanup(r.inbox.Release)
		alive := r.states(t)
		for range 2 {
			report := r.round(t)
			require.Zero(t, report.Wrong(), "%v", report.Items)
			require.Zero(t, report.Unjudged(), "%v", report.Items)
			require.EqualValues(t, len(alive), report.Rows)
		}
	})
}

// A lost store is filled again from Temporal: every living action as Get with fresh has
// it, its attempts included.
func TestReconcileLostStore(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		t.Cleanup(r.inbox.Release)
		alive := r.states(t)
		for _, id := range alive {
			r.listed(t, id)
		}
		r.removeAll(t)
		eventually(t, time.Minute, "all rows are there", func() bool {
			report := r.round(t)
			require.Zero(t, report.Left(), "%v", report.Items)
			for _, id := range alive {
				if r.row(t, id) == nil {
					return false
				}
			}
			return true
		})
		for _, id := range alive {
			r.asFresh(t, id)
		}
	})
}

// asFresh waits until the row of an id is what Get with fresh answers.
func (r *reconciled) asFresh(t *testing.T, id string) {
	t.Helper()
	eventually(t, 30*time.Second, "the row of "+id+" is as Temporal has it", func() bool {
		fresh, err := r.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
		require.NoError(t, err)
		return proto.Equal(fresh, r.row(t, id).Action)
	})
}

// The row of an action that waits for its retry, lost with the worker that had it: what
// the attempts left with the server is shown, and the next attempt's row stands.
func TestReconcileLostRowOfAttempts(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	id := r.id("a")
	a := retrying(r.once(id, "/status/503", 0), 8)
	a.Spec.SendPolicy.GetSendOncePolicy().RetryPolicy.MinRestartPeriod.Seconds = 8
	r.create(t, a)
	r.arrival(t, 20*time.Second, path(id, "/status/503"))
	eventually(t, 5*time.Second, "the failure shows", func() bool {
		return r.row(t, id).Action.GetStatus().GetFailedAttemptsCounter() == 1
	})
	was := r.row(t, id)
	r.listed(t, id)
	r.remove(t, id)
	report := r.round(t)
	require.Equal(t, map[reconcile.Kind]int64{reconcile.Missing: 1}, report.Repaired, "%v", report.Items)
	now := r.row(t, id)
	require.True(t, proto.Equal(was.Action, now.Action), "%v\n%v", was.Action, now.Action)
	require.Empty(t, r.round(t).Found)
	eventually(t, 20*time.Second, "the next attempt shows", func() bool {
		return r.row(t, id).Action.GetStatus().GetFailedAttemptsCounter() == 2
	})
	r.delete(t, id)
}

// A workflow that was reset to an earlier point hands out sequences that were there
// before: its row follows all the same, and so after the reconciler had buried it.
func TestReconcileReset(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	id := r.id("a")
	r.sleeps(t, "a")
	for range 2 {
		_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
		require.NoError(t, err)
		_, err = r.facade.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: id})
		require.NoError(t, err)
	}
	_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
	require.NoError(t, r.client.TerminateWorkflow(t.Context(), workflowv1.WorkflowID(id), "", "by hand"))
	r.only(t, id, reconcile.Resurrected)
	seen, err := r.client.DescribeWorkflowExecution(t.Context(), workflowv1.WorkflowID(id), "")
	require.NoError(t, err)
	_, err = r.client.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", Reason: "by hand", RequestId: id, WorkflowTaskFinishEventId: 4,
		WorkflowExecution: &commonpb.WorkflowExecution{
			WorkflowId: workflowv1.WorkflowID(id), RunId: seen.GetWorkflowExecutionInfo().GetExecution().GetRunId(),
		},
	})
	require.NoError(t, err)
	r.listed(t, id)
	report := r.round(t)
	require.Zero(t, report.Left(), "%v", report.Items)
	r.shows(t, id)
}

// F5, F6: while the store fails, rounds do too or repair; afterwards one puts right
// what was lost.
func TestReconcileFlakyStore(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	for n := range 5 {
		r.sleeps(t, fmt.Sprint(n))
	}
	r.store.Set(faulty.Faults{Fail: 0.2, LoseReply: 0.2, Double: 0.2})
	r.removeAll(t)
	var cursor reconcile.Cursor
	c := r.config()
	c.Settle, c.Page = time.Millisecond, 2
	c.Progress = func(at reconcile.Cursor) { cursor = at }
	eventually(t, time.Minute, "a round that goes on where the last one failed ends", func() bool {
		_, err := reconcile.Run(t.Context(), c, cursor)
		return err == nil
	})
	r.store.Set(faulty.Faults{})
	require.Equal(t, reconcile.PhaseDone, cursor.Phase)
	require.EqualValues(t, 5, cursor.Report.Workflows)
	require.Zero(t, r.round(t).Left())
	for n := range 5 {
		r.shows(t, r.id(fmt.Sprint(n)))
	}
}
