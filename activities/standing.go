package activities

import (
	"context"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Asker asks whether the attempts of a workflow may begin. Its answers see every
// command accepted before the question.
type Asker interface {
	// Untouched reports whether nothing has reached the workflow since it scheduled the
	// activity and this attempt of it is the one that runs. No worker takes part in the
	// answer, which in a herd is what makes it cheap. False says nothing.
	Untouched(ctx context.Context, info activity.Info) (bool, error)
	// Standing asks the workflow itself, by a query.
	Standing(ctx context.Context, workflowID, runID string) (*workflowv1.Standing, error)
}

// NewAsker asks through a Temporal client.
func NewAsker(c client.Client) Asker { return temporalAsker{c} }

type temporalAsker struct{ client client.Client }

// Untouched implements Asker.
func (t temporalAsker) Untouched(ctx context.Context, info activity.Info) (bool, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID)
	if err != nil {
		return false, err
	}
	// A workflow task is pending from when a command is accepted until it is decided on,
	// and what commands were buffered meanwhile is not in the history's length yet.
	if d.GetPendingWorkflowTask() != nil || d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false, nil
	}
	return scheduledLast(d.GetWorkflowExecutionInfo(), info) && runs(d.GetPendingActivities(), info), nil
}

// scheduledLast says whether the history ends with the event that scheduled the activity.
// The Go SDK names an activity by the id of that event; attempts add none before the last
// of them has ended.
func scheduledLast(w *workflowpb.WorkflowExecutionInfo, info activity.Info) bool {
	return strconv.FormatInt(w.GetHistoryLength(), 10) == info.ActivityID
}

// runs says whether this attempt of the activity is under way and not to be canceled.
func runs(pending []*workflowpb.PendingActivityInfo, info activity.Info) bool {
	for _, p := range pending {
		if p.GetActivityId() == info.ActivityID {
			return p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED && p.GetAttempt() == info.Attempt
		}
	}
	return false
}

// Standing implements Asker.
func (t temporalAsker) Standing(ctx context.Context, workflowID, runID string) (*workflowv1.Standing, error) {
	answer, err := t.client.QueryWorkflow(ctx, workflowID, runID, workflowv1.QueryStanding)
	if err != nil {
		return nil, err
	}
	s := &workflowv1.Standing{}
	return s, answer.Get(s)
}

const (
	// askCall bounds one question, askFor all of them for one attempt.
	askCall = 5 * time.Second
	askFor  = 25 * time.Second
	// askPause lies between questions that got no answer.
	askPause = 250 * time.Millisecond
)

// ask asks until there is an answer.
func ask(ctx context.Context, a Asker, workflowID, runID string) (*workflowv1.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	for {
		call, done := context.WithTimeout(ctx, askCall)
		s, err := a.Standing(call, workflowID, runID)
		done()
		if err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(askPause):
		}
	}
}

// untouched asks once. What is not answered is asked of the workflow.
func untouched(ctx context.Context, a Asker, info activity.Info) bool {
	ctx, cancel := context.WithTimeout(ctx, askCall)
	defer cancel()
	yes, err := a.Untouched(ctx, info)
	return err == nil && yes
}
