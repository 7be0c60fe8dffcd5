package starter

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// verb is what Delete, Pause, Resume and Trigger have in common.
type verb interface {
	GetId() string
	GetEtag() string
	GetRequestId() string
}

// PauseAction implements the service.
func (s *Actions) PauseAction(ctx context.Context, req *gnomonv1.PauseActionRequest) (*gnomonv1.ScheduledAction, error) {
	return s.verb(ctx, workflowv1.CommandPause, req)
}

// ResumeAction implements the service.
func (s *Actions) ResumeAction(ctx context.Context, req *gnomonv1.ResumeActionRequest) (*gnomonv1.ScheduledAction, error) {
	return s.verb(ctx, workflowv1.CommandResume, req)
}

// TriggerAction implements the service.
func (s *Actions) TriggerAction(ctx context.Context, req *gnomonv1.TriggerActionRequest) (*gnomonv1.ScheduledAction, error) {
	return s.verb(ctx, workflowv1.CommandTrigger, req)
}

// DeleteAction implements the service. A deletion that was repeated with its
// request_id after it took effect answers with what it left.
func (s *Actions) DeleteAction(ctx context.Context, req *gnomonv1.DeleteActionRequest) (*gnomonv1.ScheduledAction, error) {
	if req.GetRequestId() != "" {
		row, err := s.Store.GetAction(ctx, req.GetId())
		if err == nil && row.DeletedBy == req.GetRequestId() {
			return deleted(row), nil
		}
	}
	reply, err := s.verb(ctx, workflowv1.CommandCancel, req)
	if status.Code(err) != codes.NotFound {
		return reply, err
	}
	if req.GetAllowMissing() {
		return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: req.GetId()}}, nil
	}
	return nil, err
}

// deleted is the reply to a deletion that took effect before; the id may have been
// used anew since.
func deleted(row store.Row) *gnomonv1.ScheduledAction {
	if row.Tombstone {
		return row.Action
	}
	return &gnomonv1.ScheduledAction{
		Meta:   &gnomonv1.Meta{Id: row.Action.GetMeta().GetId()},
		Status: &gnomonv1.Status{State: gnomonv1.Status_DELETED},
	}
}

func (s *Actions) verb(ctx context.Context, name string, req verb) (*gnomonv1.ScheduledAction, error) {
	bad := append(action.ValidateID("id", req.GetId()), requestIDRule(req.GetRequestId())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	id := req.GetId()
	result, applied, err := s.command(ctx, id, name, &workflowv1.Command{Id: commandID(req.GetRequestId()), Etag: req.GetEtag()})
	if err != nil {
		return nil, err
	}
	if applied {
		return result.GetAction(), nil
	}
	reply := s.lastSeen(ctx, id)
	s.notApplied(reply)
	return reply, nil
}

// lastSeen is the action as the store has it, or just its id: what a reply shows
// where no worker answered.
func (s *Actions) lastSeen(ctx context.Context, id string) *gnomonv1.ScheduledAction {
	if row, err := s.Store.GetAction(ctx, id); err == nil && !row.Tombstone {
		return row.Action
	}
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}}
}
