package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"gnomon/activities/performers"
	"gnomon/reconcile"
	"gnomon/reconcile/periodic"
	"gnomon/store"
	"gnomon/worker"
)

// reconciling replaces the worker by one that runs the reconciler at an interval.
func (r *reconciled) reconciling(t *testing.T, interval time.Duration) {
	t.Helper()
	r.rest()
	w, err := worker.New(r.client, worker.Config{
		TaskQueue: r.queue, Store: r.store, Performers: performers.Default(), StopGrace: time.Second,
		Pollers: 4, Logger: r.log, ReconcileInterval: interval,
	})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	r.working = w
}

// Issue 4: the reconciler runs by itself, one for each task queue, repairs, shows what
// it came to and hands over to the next worker; with interval 0 it ends.
func TestReconcilePeriodically(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	id := r.id("old")
	old := r.once(id, "/ok", time.Hour)
	_, err := r.store.PutActions(t.Context(), []store.Row{{Action: old, Chain: "gone", Revision: store.Revision{Sequence: 1}}})
	require.NoError(t, err)
	// The interval of the first is so long that only the second can do two rounds.
	r.reconciling(t, time.Hour)
	eventually(t, 30*time.Second, "the orphan is buried", func() bool { return r.row(t, id).Tombstone })
	eventually(t, 10*time.Second, "the figures show", func() bool { return r.last(t).Repaired[reconcile.Orphaned] == 1 })
	first := r.describe(t)
	r.reconciling(t, time.Second)
	eventually(t, 30*time.Second, "another round", func() bool { return r.last(t).Wrong() == 0 })
	require.Equal(t, first.GetWorkflowExecutionInfo().GetFirstRunId(), r.describe(t).GetWorkflowExecutionInfo().GetFirstRunId(), "one reconciler")
	r.reconciling(t, 0)
	eventually(t, 30*time.Second, "it ends", func() bool {
		return r.describe(t).GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	})
}

func (r *reconciled) describe(t *testing.T) *workflowservice.DescribeWorkflowExecutionResponse {
	t.Helper()
	seen, err := r.client.DescribeWorkflowExecution(t.Context(), periodic.WorkflowID(r.queue), "")
	require.NoError(t, err)
	return seen
}

// last is the report of the newest round in the reconciler's history.
func (r *reconciled) last(t *testing.T) reconcile.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var last reconcile.Report
	events := r.client.GetWorkflowHistory(ctx, periodic.WorkflowID(r.queue), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		if done := e.GetActivityTaskCompletedEventAttributes(); done != nil {
			last = reconcile.Report{}
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(done.GetResult(), &last))
		}
	}
	return last
}
