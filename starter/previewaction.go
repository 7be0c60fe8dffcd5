package starter

import (
	"context"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// PreviewOccurrences implements the service.
func (s *Actions) PreviewOccurrences(ctx context.Context, req *gnomonv1.PreviewOccurrencesRequest) (*gnomonv1.PreviewOccurrencesResponse, error) {
	now := s.Now()
	id, spec := req.GetId(), req.GetSpec()
	if spec == nil {
		a, err := s.GetAction(ctx, &gnomonv1.GetActionRequest{Id: id})
		if err != nil {
			return nil, err
		}
		return preview(req, id, a.GetSpec(), now)
	}
	bad := action.ValidateSpec(spec, now, s.rules())
	if id != "" {
		bad = append(bad, action.ValidateID("id", id)...)
	}
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	normal := action.Normalise(&gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}, Spec: spec})
	return preview(req, id, normal.GetSpec(), now)
}
