package record

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/receiver"
	"gnomon/reconcile/periodic"
	"gnomon/replay"
)

const (
	// within bounds every wait, on a machine that is busy with other tests.
	within = 4 * time.Minute
	// patience bounds one question of a wait: its answer may be lost.
	patience = 20 * time.Second
)

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

// workflow is the id of the workflow of an action, or of whatever else has recordings of
// such a name.
func (i *installation) workflow(name string) string {
	if strings.HasPrefix(name, replay.Reconciler) {
		return periodic.WorkflowID(i.queue)
	}
	if strings.HasPrefix(name, replay.Batch) {
		return workflowv1.BatchWorkflowID(name)
	}
	if strings.HasPrefix(name, replay.Entity) {
		return workflowv1.EntityWorkflowID(entityType, strings.TrimSuffix(name, "-next"))
	}
	if strings.HasPrefix(name, replay.Rewalk) {
		return workflowv1.RewalkWorkflowID(strings.TrimSuffix(name, "-next"))
	}
	if strings.HasPrefix(name, replay.Cluster) {
		return workflowv1.ClusterWorkflowID(name)
	}
	if strings.HasPrefix(name, replay.Playbook) {
		return workflowv1.PlaybookWorkflowID(name)
	}
	return workflowv1.WorkflowID(name)
}

func (i *installation) describe(t *testing.T, id string) *workflowservice.DescribeWorkflowExecutionResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		call, done := context.WithTimeout(ctx, patience)
		d, err := i.client.DescribeWorkflowExecution(call, i.workflow(id), "")
		done()
		if !busy(err) || ctx.Err() != nil {
			require.NoError(t, err)
			return d
		}
	}
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

// wakes waits until the newest run of an action has decided upon something. Of a run that
// continues one of less than a second the server holds back the first task
// (history.workflowIdReuseMinimalInterval): it has nothing pending, and has done nothing.
func (i *installation) wakes(t *testing.T, id string) {
	t.Helper()
	i.happens(t, id, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, 1)
}

// settles waits until the newest run of an action has decided upon all it knows.
func (i *installation) settles(t *testing.T, id string) {
	t.Helper()
	i.wakes(t, id)
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
	r := &workflowv1.CommandResult{}
	i.ask(t, workflowv1.WorkflowID(id), workflowv1.QueryAction, r)
	return r.GetAction().GetStatus()
}

// ask asks a workflow. A worker that replays for a question fails when the workflow moves
// on meanwhile (github.com/temporalio/sdk-go/issues/755), as on a busy machine it does.
func (i *installation) ask(t *testing.T, workflow, question string, answer any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		call, done := context.WithTimeout(ctx, patience)
		said, err := i.client.QueryWorkflow(call, workflow, "", question)
		done()
		if err == nil {
			require.NoError(t, said.Get(answer), workflow)
			return
		}
		_, failed := errors.AsType[*serviceerror.QueryFailed](err)
		require.True(t, (failed || busy(err)) && ctx.Err() == nil, "%s: %v", workflow, err)
	}
}

// busy says that the server did not answer in time, which it may yet do.
func busy(err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	_, away := errors.AsType[*serviceerror.Unavailable](err)
	return late || away || errors.Is(err, context.DeadlineExceeded)
}

// closes waits for the newest chain of an action to end.
func (i *installation) closes(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, i.client.GetWorkflow(limited(t), i.workflow(id), "").Get(limited(t), nil), id)
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
