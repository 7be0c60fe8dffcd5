package starter

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// GetAction implements the service: from the store, or from Temporal where that is
// asked for or the store cannot say.
func (s *Actions) GetAction(ctx context.Context, req *gnomonv1.GetActionRequest) (*gnomonv1.ScheduledAction, error) {
	id := req.GetId()
	if err := invalid(action.ValidateID("id", id), ""); err != nil {
		return nil, err
	}
	row, err := s.Store.GetAction(ctx, id)
	switch {
	case err == nil && row.Tombstone && row.Action.GetStatus().GetState() == gnomonv1.Status_DELETED:
		return nil, notFound(id)
	case err == nil && (row.Tombstone || !req.GetFresh()):
		return row.Action, nil
	}
	known := err == nil || errors.Is(err, store.ErrNotFound)
	a, asked := s.ask(ctx, id, known)
	if asked != nil {
		return nil, asked
	}
	if err != nil {
		s.condition(a, life.ConditionMirrored, "STORE_BEHIND", "the store does not show this yet; this is Temporal's answer")
	}
	return a, nil
}

// ask reads an action from its workflow. openOnly leaves out one that has ended,
// which the store no longer shows either.
func (s *Actions) ask(ctx context.Context, id string, openOnly bool) (*gnomonv1.ScheduledAction, error) {
	seen, err := s.describe(ctx, id)
	if err != nil {
		return nil, fromTemporal(err, id)
	}
	open := seen.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	if !open && openOnly {
		return nil, notFound(id)
	}
	runID := seen.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	wait, cancel := within(ctx, s.ApplyTimeout)
	defer cancel()
	answer, err := s.Client.QueryWorkflowWithOptions(wait, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowv1.WorkflowID(id), RunID: runID, QueryType: workflowv1.QueryAction,
	})
	if err != nil {
		// No worker: what the run began with is the best there is.
		st, err := s.startedWith(ctx, id, runID)
		if err != nil {
			return nil, fromTemporal(err, id)
		}
		a := life.Action(st)
		s.attempts(seen.GetPendingActivities(), a)
		s.condition(a, life.ConditionApplied, "NO_WORKER", "no worker answered; commands since may be missing here")
		return a, nil
	}
	result := &workflowv1.CommandResult{}
	if err := answer.QueryResult.Get(result); err != nil {
		return nil, internal("ENCODING", "the workflow's answer cannot be decoded", err)
	}
	a := result.GetAction()
	if a.GetStatus().GetState() == gnomonv1.Status_DELETED {
		return nil, notFound(id)
	}
	s.attempts(seen.GetPendingActivities(), a)
	return a, nil
}
