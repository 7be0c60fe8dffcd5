package dossier

import (
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// Turn is who works on an entity, and until when unless the turn is kept.
type Turn struct {
	Holder string
	Until  time.Time
}

// is says whether it is the holder's, who may be late as long as nobody else took it.
func (t *Turn) is(holder string) bool { return t != nil && t.Holder == holder }

// Begin decides as BeginVisit says. The turn is to be written, unless it is nil. state is
// that of the stage, or nil.
func Begin(had *Entity, state *State, turn *Turn, b store.VisitBegin) (store.VisitBegun, *Turn, error) {
	begun := store.VisitBegun{Entity: had.entity(), State: state.Shown(), Committed: state.committed(b.VisitID)}
	switch {
	case begun.Committed != nil:
		return begun, nil, nil
	case !had.Stands():
		return store.VisitBegun{}, nil, store.ErrNotFound
	case turn.is(b.Holder):
		return begun, turn.kept(b.Until), nil
	case turn != nil && b.At.Before(turn.Until):
		return store.VisitBegun{}, nil, store.ErrBusy
	default:
		return begun, &Turn{Holder: b.Holder, Until: b.Until}, nil
	}
}

// Keep decides as KeepTurn says.
func Keep(turn *Turn, holder string, until time.Time) (*Turn, error) {
	if !turn.is(holder) {
		return nil, store.ErrTurnLost
	}
	return turn.kept(until), nil
}

// kept is the turn until then, if that is later.
func (t *Turn) kept(until time.Time) *Turn {
	if until.Before(t.Until) {
		until = t.Until
	}
	return &Turn{Holder: t.Holder, Until: until}
}

// committed is what became of the visit, if it was the stage's last commit. There is one
// visit of a stage at a time, and its repetitions come before the next one.
func (s *State) committed(visitID string) *workflowv1.VisitResult {
	if s == nil || s.Result == nil || s.VisitID != visitID {
		return nil
	}
	return s.Result
}

// Commit decides as CommitVisit says. states has the stage's state, if there is one, and
// all others if the entity is deleted.
func Commit(had *Entity, states []*State, turn *Turn, c store.VisitCommit) (*workflowv1.VisitResult, Change, error) {
	state := stateOf(states, c.Stage)
	if result := state.committed(c.VisitID); result != nil {
		return result, Change{}, nil
	}
	switch {
	case !had.Stands():
		return nil, Change{}, store.ErrNotFound
	case !turn.is(c.Holder):
		return nil, Change{}, store.ErrTurnLost
	case had.version() != c.EntityVersion || state.Shown().GetVersion() != c.StateVersion:
		return nil, Change{}, store.ErrVersion
	}
	next, fields := had.after(c)
	saved, stateChanged := state.with(c.Stage, state.Shown().GetState(), c.At)
	if c.State != nil && !c.Delete {
		saved, stateChanged = state.with(c.Stage, c.State.GetState(), c.At)
	}
	result := &workflowv1.VisitResult{}
	if c.Result != nil {
		result = proto.CloneOf(c.Result)
	}
	result.Version, result.Changed, result.Fields, result.Gone = had.version(), next != nil, fields, c.Delete
	var change Change
	switch {
	case next != nil:
		next.Entity.ChangedByStage = c.Stage
		result.Version = next.version()
		change = next.record(&gnomonv1.SavedRecord{Stage: c.Stage, Changed: true, Deleted: c.Delete}, c.At, c.VisitID)
	case stateChanged:
		kept := *had
		change = kept.record(&gnomonv1.SavedRecord{Stage: c.Stage}, c.At, c.VisitID)
	}
	saved.VisitID, saved.Result = c.VisitID, result
	if c.Delete {
		change.States = emptied(replaced(states, saved))
	} else {
		change.States = []*State{saved}
		if change.Record != nil {
			change.Record.State = saved.Shown()
		}
	}
	change.EndTurn = true
	return result, change, nil
}

// after is the entity after a commit and the top-level fields that it changed, nil if it
// stays as it is.
func (e *Entity) after(c store.VisitCommit) (*Entity, []string) {
	switch {
	case c.Delete:
		return e.without(c.At)
	case c.Content != nil:
		return e.with(KeyOf(e.Entity), c.Content.GetContent(), c.At)
	default:
		return nil, nil
	}
}

// replaced are these states with the one of its stage instead of what it was.
func replaced(states []*State, one *State) []*State {
	all := []*State{one}
	for _, s := range states {
		if s.Stage != one.Stage {
			all = append(all, s)
		}
	}
	return all
}
