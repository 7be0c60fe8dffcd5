package ydb

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// GetStageState implements store.Entities.
func (s *Store) GetStageState(ctx context.Context, key store.EntityKey, stage string) (found *gnomonv1.StageState, err error) {
	err = s.lookAtEntity(ctx, "GetStageState", key, func(tx *entityTx) error {
		e, state, err := tx.entityAndState(stage)
		if err != nil {
			return err
		}
		if !e.Stands() {
			return store.ErrNotFound
		}
		found = state.Shown()
		return nil
	})
	return found, err
}

// UpdateStageState implements store.Entities.
func (s *Store) UpdateStageState(ctx context.Context, u store.StateUpdate) (result store.StateResult, err error) {
	a := newAttempt()
	err = s.changeEntity(ctx, "UpdateStageState", u.Key, func(tx *entityTx) error {
		e, state, err := tx.entityAndState(u.Stage)
		if err != nil {
			return err
		}
		if done, err := a.done(e); done || err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Update(e, state, u, a.commitID); err != nil {
			return err
		}
		return a.commit(tx, e, change)
	})
	return result, err
}

// BeginVisit implements store.Entities.
func (s *Store) BeginVisit(ctx context.Context, b store.VisitBegin) (begun store.VisitBegun, err error) {
	err = s.changeEntity(ctx, "BeginVisit", b.Key, func(tx *entityTx) error {
		e, state, err := tx.entityAndState(b.Stage)
		if err != nil {
			return err
		}
		turn, err := tx.turn()
		if err != nil {
			return err
		}
		if begun, turn, err = dossier.Begin(e, state, turn, b); err != nil || turn == nil {
			return err
		}
		return tx.commitTurn(turn)
	})
	return begun, err
}

// KeepTurn implements store.Entities.
func (s *Store) KeepTurn(ctx context.Context, key store.EntityKey, holder string, until time.Time) error {
	return s.changeEntity(ctx, "KeepTurn", key, func(tx *entityTx) error {
		turn, err := tx.turn()
		if err != nil {
			return err
		}
		if turn, err = dossier.Keep(turn, holder, until); err != nil {
			return err
		}
		return tx.commitTurn(turn)
	})
}

// EndVisit implements store.Entities.
func (s *Store) EndVisit(ctx context.Context, key store.EntityKey, holder string) error {
	if !named(key.Type, key.ID, holder) {
		return nil
	}
	return s.changeEntity(ctx, "EndVisit", key, func(tx *entityTx) error {
		w := &entityWrites{key: key}
		w.endTurn(holder)
		return tx.write(&w.writes)
	})
}

// CommitVisit implements store.Entities.
func (s *Store) CommitVisit(ctx context.Context, c store.VisitCommit) (result *workflowv1.VisitResult, err error) {
	err = s.changeEntity(ctx, "CommitVisit", c.Key, func(tx *entityTx) error {
		e, err := tx.entity()
		if err != nil {
			return err
		}
		states, err := tx.statesFor(c)
		if err != nil {
			return err
		}
		turn, err := tx.turn()
		if err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Commit(e, states, turn, c); err != nil {
			return err
		}
		return tx.commit(change, c.Holder)
	})
	return result, err
}

// entityAndState reads both, nil where there is none.
func (tx *entityTx) entityAndState(stage string) (*dossier.Entity, *dossier.State, error) {
	e, err := tx.entity()
	if err != nil {
		return nil, nil, err
	}
	state, err := tx.state(stage)
	return e, state, err
}

// statesFor reads what a commit needs: the stage's state, or all if the entity goes.
func (tx *entityTx) statesFor(c store.VisitCommit) ([]*dossier.State, error) {
	if c.Delete {
		return tx.states()
	}
	state, err := tx.state(c.Stage)
	if err != nil || state == nil {
		return nil, err
	}
	return []*dossier.State{state}, nil
}

func (tx *entityTx) commitTurn(t *dossier.Turn) error {
	w := &entityWrites{key: tx.key}
	w.turn(t)
	return tx.write(&w.writes)
}
