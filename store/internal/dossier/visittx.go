package dossier

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// VisitTx is a transaction over an entity, its states and who works on it. What is not
// there is nil.
type VisitTx interface {
	Entity() (*Entity, error)
	State(stage string) (*State, error)
	// States are those of all stages.
	States() ([]*State, error)
	Turn() (*Turn, error)
	// PutTurn stores the turn instead of what it was.
	PutTurn(t *Turn) error
}

// EntityAndState reads both.
func EntityAndState(tx VisitTx, stage string) (*Entity, *State, error) {
	e, err := tx.Entity()
	if err != nil {
		return nil, nil, err
	}
	state, err := tx.State(stage)
	return e, state, err
}

// StageState is GetStageState of store.Entities within a transaction.
func StageState(tx VisitTx, stage string) (*gnomonv1.StageState, error) {
	e, state, err := EntityAndState(tx, stage)
	if err != nil {
		return nil, err
	}
	if !e.Stands() {
		return nil, store.ErrNotFound
	}
	return state.Shown(), nil
}

// BeginVisit is that of store.Entities within a transaction.
func BeginVisit(tx VisitTx, b store.VisitBegin) (store.VisitBegun, error) {
	e, state, err := EntityAndState(tx, b.Stage)
	if err != nil {
		return store.VisitBegun{}, err
	}
	turn, err := tx.Turn()
	if err != nil {
		return store.VisitBegun{}, err
	}
	begun, turn, err := Begin(e, state, turn, b)
	if err != nil || turn == nil {
		return begun, err
	}
	return begun, tx.PutTurn(turn)
}

// KeepTurn is that of store.Entities within a transaction.
func KeepTurn(tx VisitTx, holder string, until time.Time) error {
	turn, err := tx.Turn()
	if err != nil {
		return err
	}
	if turn, err = Keep(turn, holder, until); err != nil {
		return err
	}
	return tx.PutTurn(turn)
}

// CommitVisit is Commit of what a transaction reads. The change is to be written.
func CommitVisit(tx VisitTx, c store.VisitCommit) (*workflowv1.VisitResult, Change, error) {
	e, err := tx.Entity()
	if err != nil {
		return nil, Change{}, err
	}
	states, err := statesFor(tx, c)
	if err != nil {
		return nil, Change{}, err
	}
	turn, err := tx.Turn()
	if err != nil {
		return nil, Change{}, err
	}
	return Commit(e, states, turn, c)
}

// statesFor reads what a commit needs: the stage's state, or all if the entity goes.
func statesFor(tx VisitTx, c store.VisitCommit) ([]*State, error) {
	if c.Delete {
		return tx.States()
	}
	state, err := tx.State(c.Stage)
	if err != nil || state == nil {
		return nil, err
	}
	return []*State{state}, nil
}
