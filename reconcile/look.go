package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// look is one look at an action: its row, then its workflow.
type look struct {
	row      *store.Row
	workflow Workflow
}

// payloads decodes what facade and workers encode.
var payloads = converter.GetDefaultDataConverter()

// look reads the row and then what Temporal knows.
func (r *round) look(ctx context.Context, id string) (look, error) {
	row, err := r.row(ctx, id)
	if err != nil {
		return look{}, err
	}
	w, err := r.workflow(ctx, id)
	return look{row, w}, err
}

// row is what stands for an id, nil for nothing.
func (r *round) row(ctx context.Context, id string) (*store.Row, error) {
	row, err := r.Store.GetAction(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // no row is an answer
	case err != nil:
		return nil, fmt.Errorf("the row of %s cannot be read: %w", id, err)
	}
	return &row, nil
}

// workflow describes the newest run of an action and asks it, if it is open.
func (r *round) workflow(ctx context.Context, id string) (Workflow, error) {
	seen, err := r.Client.DescribeWorkflowExecution(ctx, workflowv1.WorkflowID(id), "")
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return Workflow{}, nil
	}
	if err != nil {
		return Workflow{}, fmt.Errorf("the workflow of %s cannot be described: %w", id, err)
	}
	info := seen.GetWorkflowExecutionInfo()
	w := Workflow{
		State: Closed, RunID: info.GetExecution().GetRunId(), Chain: info.GetFirstRunId(), Ended: info.GetStatus(),
		Foreign: info.GetTaskQueue() != r.TaskQueue || info.GetType().GetName() != workflowv1.ActionWorkflow,
	}
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED,
		enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: // the last is followed by another
		w.State = Open
	default:
	}
	if w.Foreign {
		return w, nil
	}
	if w.State == Open {
		w.Performing, w.Attempts = attempts(seen.GetPendingActivities())
		w.Answer = r.ask(ctx, id, w.RunID)
		return w, context.Cause(ctx)
	}
	return w, r.final(ctx, id, &w)
}

// ask asks a run for its action; nil if nobody answers for it in time. Once many were
// asked and none has answered, no worker runs, and no more are asked.
func (r *round) ask(ctx context.Context, id, runID string) *workflowv1.CommandResult {
	if !r.answers.Load() && r.silences.Load() >= hopeless {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, r.AnswerTime)
	defer cancel()
	answer, err := r.Client.QueryWorkflowWithOptions(wait, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowv1.WorkflowID(id), RunID: runID, QueryType: workflowv1.QueryAction,
	})
	result := &workflowv1.CommandResult{}
	if err == nil {
		err = answer.QueryResult.Get(result)
	}
	if err != nil {
		r.silences.Add(1)
		return nil // what else is wrong with it is for a later round
	}
	r.answers.Store(true)
	return result
}

// hopeless is how many must not answer before no more are asked.
const hopeless = 4 * looking

// final completes what is known of a closed run: its result, its incarnation and its
// last state. What can never be read is a Problem and no error, so that one action does
// not stop all rounds.
func (r *round) final(ctx context.Context, id string, w *Workflow) error {
	if w.Ended == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		st := &gnomonv1.Status{}
		if err := r.Client.GetWorkflow(ctx, workflowv1.WorkflowID(id), w.RunID).Get(ctx, st); err != nil {
			return r.problem(w, fmt.Errorf("the result of %s cannot be read: %w", id, err))
		}
		w.Result = st
	}
	events := r.Client.GetWorkflowHistory(ctx, workflowv1.WorkflowID(id), w.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return r.problem(w, fmt.Errorf("the history of %s cannot be read: %w", id, err))
	}
	began := &workflowv1.ActionState{}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := payloads.FromPayloads(input, began); err != nil {
		return r.problem(w, fmt.Errorf("the input of the workflow of %s cannot be decoded: %w", id, err))
	}
	w.Incarnation = first.GetEventTime().AsTime()
	if began.GetIncarnation() != nil {
		w.Incarnation = began.GetIncarnation().AsTime()
	}
	w.Final = &workflowv1.CommandResult{Action: life.Action(began), Chain: w.Chain}
	if answer := r.ask(ctx, id, w.RunID); answer != nil {
		w.Final = answer
	}
	return context.Cause(ctx)
}

// problem keeps an error that concerns one action, and gives back one that concerns
// Temporal as a whole, which a later attempt may not meet.
func (*round) problem(w *Workflow, err error) error {
	var unavailable *serviceerror.Unavailable
	var exhausted *serviceerror.ResourceExhausted
	var late *serviceerror.DeadlineExceeded
	var stopped *serviceerror.Canceled
	if errors.As(err, &unavailable) || errors.As(err, &exhausted) || errors.As(err, &late) || errors.As(err, &stopped) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	w.Problem = err.Error()
	return nil
}

// attempts says whether attempts of a workflow are under way, and the status that
// they left with the server.
func attempts(pending []*workflowpb.PendingActivityInfo) (bool, *gnomonv1.Status) {
	for _, p := range pending {
		if p.GetActivityType().GetName() != workflowv1.PerformActivity ||
			p.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			continue
		}
		progress := &workflowv1.Progress{}
		if !decoded(p.GetHeartbeatDetails(), progress) || progress.GetStatus() == nil {
			return true, nil
		}
		st := proto.CloneOf(progress.GetStatus())
		st.State = gnomonv1.Status_RETRYING
		if p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED || p.GetAttempt() <= 1 {
			st.State = gnomonv1.Status_RUNNING
		}
		return true, st
	}
	return false, nil
}

func decoded(p *commonpb.Payloads, into proto.Message) bool {
	return p != nil && payloads.FromPayloads(p, into) == nil
}

// same says whether two looks saw the same, so that nothing moved between them.
func (l look) same(other look) bool {
	if (l.row == nil) != (other.row == nil) {
		return false
	}
	if l.row != nil && (l.row.Revision.Encode() != other.row.Revision.Encode() ||
		l.row.Chain != other.row.Chain || l.row.Tombstone != other.row.Tombstone) {
		return false
	}
	a, b := l.workflow, other.workflow
	return a.State == b.State && a.RunID == b.RunID && a.Ended == b.Ended &&
		proto.Equal(a.Answer.GetRevision(), b.Answer.GetRevision())
}

// settled is what changed after it is too young.
func (r *round) settled() time.Time { return r.Now().Add(-r.Grace) }
