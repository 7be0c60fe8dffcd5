package starter

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// ApprovePlaybook implements the service.
func (s *Playbooks) ApprovePlaybook(ctx context.Context, req *gnomonv1.ApprovePlaybookRequest) (*gnomonv1.Playbook, error) {
	d := &workflowv1.PlaybookDecision{By: req.GetDecidedBy()}
	return s.command(ctx, req.GetId(), d, &workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Approve{Approve: d}})
}

// RejectPlaybook implements the service.
func (s *Playbooks) RejectPlaybook(ctx context.Context, req *gnomonv1.RejectPlaybookRequest) (*gnomonv1.Playbook, error) {
	d := &workflowv1.PlaybookDecision{By: req.GetDecidedBy(), Reason: req.GetReason()}
	return s.command(ctx, req.GetId(), d, &workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Reject{Reject: d}})
}

// CancelPlaybook implements the service.
func (s *Playbooks) CancelPlaybook(ctx context.Context, req *gnomonv1.CancelPlaybookRequest) (*gnomonv1.Playbook, error) {
	d := &workflowv1.PlaybookDecision{Reason: req.GetReason()}
	return s.command(ctx, req.GetId(), d, &workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Cancel{Cancel: d}})
}

// NudgePlaybook implements the service.
func (s *Playbooks) NudgePlaybook(ctx context.Context, req *gnomonv1.NudgePlaybookRequest) (*gnomonv1.Playbook, error) {
	d := &workflowv1.PlaybookDecision{}
	return s.command(ctx, req.GetId(), d, &workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Nudge{Nudge: d}})
}

// command has a playbook's workflow apply a command, and waits for that.
func (s *Playbooks) command(ctx context.Context, id string, d *workflowv1.PlaybookDecision, c *workflowv1.PlaybookCommand) (*gnomonv1.Playbook, error) {
	if err := invalid(decisionRules(id, d.GetBy(), d.GetReason()), ""); err != nil {
		return nil, err
	}
	updateID := uuid.NewString()
	p, err := send[gnomonv1.Playbook](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
		return s.Client.UpdateWorkflow(wait, client.UpdateWorkflowOptions{
			UpdateID: updateID, WorkflowID: workflowv1.PlaybookWorkflowID(id), UpdateName: workflowv1.CommandPlaybook, Args: []any{c},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
	})
	switch {
	case err == nil:
		s.await(ctx, p)
		return p, nil
	case errors.Is(err, errNoWorker):
		return nil, noWorker(err)
	case missing(err):
		return nil, s.ended(ctx, id)
	}
	switch refusedAs(err) {
	case workflowv1.RefusedNotPending, workflowv1.RefusedFinished:
		return nil, playbookState(id, refusedState(err))
	case "":
		return nil, fromTemporal(err, id)
	default:
		return nil, internal("COMMAND_REFUSED", "the workflow refused the command", err)
	}
}

// ended is the refusal of a command to a playbook whose workflow is over, or was never.
func (s *Playbooks) ended(ctx context.Context, id string) error {
	row, err := s.Store.GetPlaybook(ctx, id)
	if err != nil {
		return fromPlaybookStore(ctx, err, id)
	}
	state := row.Playbook.GetStatus().GetState()
	if !playbook.Ended(state) {
		return unavailable(reasonMirrorNotCaughtUp, "the playbook has ended, and how is not stored yet; try again later", nil)
	}
	return playbookState(id, state.String())
}

// await waits a little until the store has what a command changed, so that its caller
// reads it. The workflow stores it, for as long as that takes.
func (s *Playbooks) await(ctx context.Context, p *gnomonv1.Playbook) {
	wait, cancel := context.WithTimeout(ctx, s.MirrorTimeout)
	defer cancel()
	for {
		row, err := s.Store.GetPlaybook(wait, p.GetId())
		if err == nil && !row.Playbook.GetUpdateTime().AsTime().Before(p.GetUpdateTime().AsTime()) {
			return
		}
		if pauseFor(wait, closingPause) != nil {
			return
		}
	}
}
