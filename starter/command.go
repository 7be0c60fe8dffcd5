package starter

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// update sends a command as a workflow update and waits until it is applied: then
// no attempt of what stood before can begin.
func (s *Actions) update(ctx context.Context, id, name string, c *workflowv1.Command) (*workflowv1.CommandResult, error) {
	return send[workflowv1.CommandResult](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
		return s.Client.UpdateWorkflow(wait, updateOptions(id, name, c))
	})
}

// updateOrStart is update, and starts the workflow with st where none is open.
func (s *Actions) updateOrStart(ctx context.Context, st *workflowv1.ActionState, c *workflowv1.Command) (*workflowv1.CommandResult, error) {
	return whileNew(ctx, attributesUnknown, func() (*workflowv1.CommandResult, error) {
		return send[workflowv1.CommandResult](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
			return s.Client.UpdateWithStartWorkflow(wait, client.UpdateWithStartWorkflowOptions{
				StartWorkflowOperation: s.Client.NewWithStartWorkflowOperation(s.startOptions(st), workflowv1.ActionWorkflow, st),
				UpdateOptions:          updateOptions(st.GetMeta().GetId(), workflowv1.CommandUpdate, c),
			})
		})
	})
}

func updateOptions(id, name string, c *workflowv1.Command) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		UpdateID:     updateID(c),
		WorkflowID:   workflowv1.WorkflowID(id),
		UpdateName:   name,
		Args:         []any{c},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}

// updateID is what Temporal knows a command by while its run lives: it answers a
// repeated one with the first one's result, so that another request under the same
// request_id must have another.
func updateID(c *workflowv1.Command) string {
	if c.GetDigest() == "" {
		return c.GetId()
	}
	return c.GetId() + "/" + c.GetDigest()
}

// leave leaves a command with Temporal, which keeps it until a worker applies it,
// before any attempt. It has the id of the update that nobody answered, which
// Temporal may still deliver: each id is applied once. A deletion is requested as
// Temporal's cancellation too, which the run's description shows to all.
func (s *Actions) leave(ctx context.Context, id, name string, c *workflowv1.Command) error {
	err := s.Client.SignalWorkflow(ctx, workflowv1.WorkflowID(id), "", name, c)
	if err != nil || name != workflowv1.CommandCancel || c.GetEtag() != "" {
		return err
	}
	err = s.Client.CancelWorkflow(ctx, workflowv1.WorkflowID(id), "")
	var already *serviceerror.CancellationAlreadyRequested
	if errors.As(err, &already) || missing(err) {
		return nil
	}
	return err
}

// command sends a command as an update and, where no worker answers, leaves it. It
// says whether it was applied; if it was only left there is no result.
func (s *Actions) command(ctx context.Context, id, name string, c *workflowv1.Command) (*workflowv1.CommandResult, bool, error) {
	result, err := s.update(ctx, id, name, c)
	if err == nil {
		s.mirrorResult(ctx, result)
		return result, true, nil
	}
	if !errors.Is(err, errNoWorker) {
		return nil, false, s.refusal(id, err)
	}
	if err := s.etagOfRow(ctx, id, c.GetEtag()); err != nil {
		return nil, false, err
	}
	if err := s.leave(ctx, id, name, c); err != nil {
		return nil, false, fromTemporal(err, id)
	}
	return nil, false, nil
}

// etagOfRow compares an etag with the row while nobody can ask the workflow, which
// compares it again when it applies the command.
func (s *Actions) etagOfRow(ctx context.Context, id, etag string) error {
	if etag == "" {
		return nil
	}
	row, err := s.Store.GetAction(ctx, id)
	if err == nil && !row.Tombstone && row.Action.GetMeta().GetGuid() != etag {
		return etagMismatch(id)
	}
	return nil
}

// refusal maps why the workflow refused an update.
func (s *Actions) refusal(id string, err error) error {
	switch refusedAs(err) {
	case workflowv1.RefusedEtag:
		return etagMismatch(id)
	case workflowv1.RefusedNotFound:
		return notFound(id)
	case workflowv1.RefusedExists:
		return alreadyExists(id)
	case workflowv1.RefusedNotPaused:
		return failedPrecondition("ACTION_NOT_PAUSED", id, "not paused")
	case workflowv1.RefusedPaused:
		return failedPrecondition("ACTION_PAUSED", id, "PAUSED")
	case workflowv1.RefusedReused:
		return requestIDReused()
	case workflowv1.RefusedMalformed:
		return internal("COMMAND_REFUSED", "the workflow refused the command", err)
	default:
		return fromTemporal(err, id)
	}
}

// notApplied is what a reply says of a command that was only left.
func (s *Actions) notApplied(reply *gnomonv1.ScheduledAction) {
	s.condition(reply, life.ConditionApplied, "NO_WORKER", "no worker answered; the command is kept and applied before any attempt")
}
