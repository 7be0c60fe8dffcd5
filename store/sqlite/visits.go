package sqlite

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"

	"github.com/google/uuid"
)

// GetStageState implements store.Entities.
func (s *Store) GetStageState(ctx context.Context, key store.EntityKey, stage string) (found *gnomonv1.StageState, err error) {
	err = s.lookAtEntity(ctx, "GetStageState", key, func(tx *entityTx) error {
		found, err = dossier.StageState(tx, stage)
		return err
	})
	return found, err
}

// UpdateStageState implements store.Entities.
func (s *Store) UpdateStageState(ctx context.Context, u store.StateUpdate) (result store.StateResult, err error) {
	err = s.changeEntity(ctx, "UpdateStageState", u.Key, func(tx *entityTx) error {
		e, state, err := dossier.EntityAndState(tx, u.Stage)
		if err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Update(e, state, u, uuid.NewString()); err != nil {
			return err
		}
		return tx.write(change)
	})
	return result, err
}

// BeginVisit implements store.Entities.
func (s *Store) BeginVisit(ctx context.Context, b store.VisitBegin) (begun store.VisitBegun, err error) {
	err = s.changeEntity(ctx, "BeginVisit", b.Key, func(tx *entityTx) error {
		begun, err = dossier.BeginVisit(tx, b)
		return err
	})
	return begun, err
}

// KeepTurn implements store.Entities.
func (s *Store) KeepTurn(ctx context.Context, key store.EntityKey, holder string, until time.Time) error {
	return s.changeEntity(ctx, "KeepTurn", key, func(tx *entityTx) error { return dossier.KeepTurn(tx, holder, until) })
}

// EndVisit implements store.Entities.
func (s *Store) EndVisit(ctx context.Context, key store.EntityKey, holder string) error {
	return s.changeEntity(ctx, "EndVisit", key, func(tx *entityTx) error { return tx.endTurn(holder) })
}

// CommitVisit implements store.Entities.
func (s *Store) CommitVisit(ctx context.Context, c store.VisitCommit) (result *workflowv1.VisitResult, err error) {
	err = s.changeEntity(ctx, "CommitVisit", c.Key, func(tx *entityTx) error {
		var change dossier.Change
		if result, change, err = dossier.CommitVisit(tx, c); err != nil {
			return err
		}
		if change.EndTurn {
			if err := tx.endTurn(c.Holder); err != nil {
				return err
			}
		}
		return tx.write(change)
	})
	return result, err
}
