package dossier

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// State is a stage's state of an entity, and the last visit it made.
type State struct {
	Stage string
	// State is never nil. Its version never goes back.
	State *gnomonv1.StageState
	// Gone says that the entity was deleted: the stage has no state, but if it gets one
	// again, its version goes on, so that whoever has seen the old one notices (G-19).
	Gone bool
	// VisitID and Result are those of the stage's last commit, if there was one.
	VisitID string
	Result  *workflowv1.VisitResult
}

// stateOf is a stage's among these, nil if it is not there.
func stateOf(states []*State, stage string) *State {
	for _, s := range states {
		if s.Stage == stage {
			return s
		}
	}
	return nil
}

// Shown is what callers see. Never nil.
func (s *State) Shown() *gnomonv1.StageState {
	if s == nil || s.Gone {
		return &gnomonv1.StageState{}
	}
	return s.State
}

// with is the state with this content, and whether that is a change.
func (s *State) with(stage string, content *anypb.Any, at time.Time) (*State, bool) {
	next := &State{Stage: stage, State: &gnomonv1.StageState{}}
	if s != nil {
		*next = *s
	}
	if proto.Equal(s.Shown().GetState(), content) {
		return next, false
	}
	next.Gone = false
	next.State = &gnomonv1.StageState{
		State: proto.CloneOf(content), Version: next.State.GetVersion() + 1, UpdateTime: timestamppb.New(at),
	}
	return next, true
}

// emptied are states of an entity that is deleted. Their versions and visits are kept.
func emptied(states []*State) []*State {
	var all []*State
	for _, s := range states {
		all = append(all, &State{
			Stage: s.Stage, State: &gnomonv1.StageState{Version: s.State.GetVersion()}, Gone: true, VisitID: s.VisitID, Result: s.Result,
		})
	}
	return all
}

// Update decides as UpdateStageState says.
func Update(had *Entity, state *State, u store.StateUpdate, commitID string) (store.StateResult, Change, error) {
	if !had.Stands() {
		return store.StateResult{}, Change{}, store.ErrNotFound
	}
	result := store.StateResult{Current: state.Shown(), EntityVersion: had.version()}
	if state.Shown().GetVersion() != u.Version {
		return result, Change{}, nil
	}
	result.Updated = true
	next, changed := state.with(u.Stage, u.State.GetState(), u.At)
	if !changed {
		return result, Change{}, nil
	}
	result.Current = next.State
	kept := *had
	change := kept.record(&gnomonv1.SavedRecord{Stage: u.Stage, State: next.State}, u.At, commitID)
	change.States = []*State{next}
	return result, change, nil
}
