package record

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/receiver"
	"gnomon/reconcile/periodic"
	"gnomon/replay"
)

// within bounds every wait, on a machine that is busy with other tests.
const within = 2 * time.Minute

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

// arrives waits for an attempt of an action.
func (i *installation) arrives(t *testing.T, id string, attempt uint32) {
	t.Helper()
	_, err := i.inbox.Wait(limited(t), func(a receiver.Arrival) bool { return a.ActionID == id && a.Attempt == attempt })
	require.NoError(t, err, "attempt %d of %s", attempt, id)
}

// passes waits until a time, which nothing tells of.
func passes(t *testing.T, at time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	<-timer.C
}

// nth waits for the nth request of an action.
func (i *installation) nth(t *testing.T, id string, n int) {
	t.Helper()
	_, err := i.inbox.Wait(limited(t), func(a receiver.Arrival) bool {
		if a.ActionID == id {
			n--
		}
		return n == 0
	})
	require.NoError(t, err, id)
}

// succeeds waits until the workflow has counted n successes.
func (i *installation) succeeds(t *testing.T, id string, n uint64) {
	t.Helper()
	require.Eventually(t, func() bool {
		return i.status(t, id).GetSuccessfulAttemptsCounter() >= n
	}, within, 20*time.Millisecond, id)
}

// workflow is the id of the workflow of an action, or of a batch or the reconciler for a
// name of one of their recordings.
func (i *installation) workflow(name string) string {
	if strings.HasPrefix(name, replay.Reconciler) {
		return periodic.WorkflowID(i.queue)
	}
	if strings.HasPrefix(name, replay.Batch) {
		return workflowv1.BatchWorkflowID(name)
	}
	return workflowv1.WorkflowID(name)
}

func (i *installation) describe(t *testing.T, id string) *workflowservice.DescribeWorkflowExecutionResponse {
	t.Helper()
	d, err := i.client.DescribeWorkflowExecution(t.Context(), i.workflow(id), "")
	require.NoError(t, err)
	return d
}

// happens waits for the nth event of a kind in the newest run of an action.
func (i *installation) happens(t *testing.T, id string, kind enumspb.EventType, n int) {
	t.Helper()
	all := i.client.GetWorkflowHistory(limited(t), i.workflow(id), "", true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(t, err, "%s of %s", kind, id)
		if e.GetEventType() == kind {
			n--
		}
		if n == 0 {
			return
		}
	}
	require.Fail(t, "the run closed", "before %s of %s", kind, id)
}

// settles waits until the newest run of an action has decided upon all it knows.
func (i *installation) settles(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return i.describe(t, id).GetPendingWorkflowTask() == nil
	}, within, 20*time.Millisecond, id)
}

// retries waits until the server holds a failed attempt of an action back.
func (i *installation) retries(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, p := range i.describe(t, id).GetPendingActivities() {
			if p.GetActivityType().GetName() == workflowv1.PerformActivity && p.GetAttempt() > 1 && p.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
				return true
			}
		}
		return false
	}, within, 20*time.Millisecond, id)
}

// is holds the state of an action as its workflow sees it.
func (i *installation) is(t *testing.T, id string, want gnomonv1.Status_State) {
	t.Helper()
	require.Equal(t, want, i.status(t, id).GetState(), id)
}

// status is that of the workflow, without what the server knows of its attempts.
func (i *installation) status(t *testing.T, id string) *gnomonv1.Status {
	t.Helper()
	answer, err := i.client.QueryWorkflow(limited(t), workflowv1.WorkflowID(id), "", workflowv1.QueryAction)
	require.NoError(t, err)
	r := &workflowv1.CommandResult{}
	require.NoError(t, answer.Get(r))
	return r.GetAction().GetStatus()
}

// closes waits for the newest chain of an action to end.
func (i *installation) closes(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, i.client.GetWorkflow(limited(t), workflowv1.WorkflowID(id), "").Get(limited(t), &gnomonv1.Status{}), id)
}

// run is the newest run of an action.
func (i *installation) run(t *testing.T, id string) string {
	t.Helper()
	return i.describe(t, id).GetWorkflowExecutionInfo().GetExecution().GetRunId()
}

// history is what the server recorded of a run.
func (i *installation) history(t *testing.T, id, run string) *historypb.History {
	t.Helper()
	h := &historypb.History{}
	all := i.client.GetWorkflowHistory(limited(t), i.workflow(id), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	return h
}
