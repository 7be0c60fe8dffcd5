package starter

import (
	"context"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
	"gnomon/stages/wake"
	"gnomon/store"
)

// stated is a request about the state of a stage.
type stated interface {
	addressed
	GetStage() string
}

// stateOf is the entity and the stage that a request is about.
func (s *Entities) stateOf(req stated) (store.EntityKey, error) {
	key, err := keyIn(req)
	if err != nil {
		return key, err
	}
	d, err := s.declared(req.GetStage())
	if err != nil {
		return key, err
	}
	if d.EntityType != key.Type {
		return key, stageOfOther(d.Name, d.EntityType, key.Type)
	}
	return key, nil
}

// GetStageState implements the service (G-18).
func (s *Entities) GetStageState(ctx context.Context, req *gnomonv1.GetStageStateRequest) (*gnomonv1.StageState, error) {
	key, err := s.stateOf(req)
	if err != nil {
		return nil, err
	}
	state, err := s.Store.GetStageState(ctx, key, req.GetStage())
	if err != nil {
		return nil, fromEntityStore(ctx, err, key)
	}
	return state, nil
}

// UpdateStageState implements the service (G-18, G-19).
func (s *Entities) UpdateStageState(ctx context.Context, req *gnomonv1.UpdateStageStateRequest) (*gnomonv1.UpdateStageStateResponse, error) {
	bad := append(entity.ValidateKey("type", req.GetType(), "id", req.GetId()), entity.ValidateState("state", req.GetState())...)
	if err := invalid(append(bad, versionRule("version", req.GetVersion())...), ""); err != nil {
		return nil, err
	}
	key, err := s.stateOf(req)
	if err != nil {
		return nil, err
	}
	result, err := s.Store.UpdateStageState(ctx, store.StateUpdate{
		Key: key, Stage: req.GetStage(), State: &gnomonv1.StageState{State: req.GetState()}, Version: req.GetVersion(), At: s.Now(),
	})
	if err != nil {
		return nil, fromEntityStore(ctx, err, key)
	}
	if result.Updated && req.GetVisit() {
		if err := s.request(ctx, key, req.GetStage(), result.EntityVersion); err != nil {
			return nil, err
		}
	}
	return &gnomonv1.UpdateStageStateResponse{Updated: new(result.Updated), Current: result.Current}, nil
}

// request asks for a visit after a state was replaced. Nothing in the store would have it
// made later, so that the caller must hear if it was not asked for.
func (s *Entities) request(ctx context.Context, key store.EntityKey, stage string, version int64) error {
	wait, cancel := s.untilTold(ctx)
	defer cancel()
	err := wake.Visit(wait, s.Client, s.TaskQueue, key, &workflowv1.VisitRequested{
		Stage: stage, Cause: gnomonv1.ProcessRequest_REQUEST, Version: version,
	})
	if err == nil {
		return nil
	}
	return unavailable(reasonVisitNotWanted,
		"the state was replaced, and Temporal did not take the visit: read the state and replace it once more with visit set", err)
}
