package sqlite

import (
	"context"
	"database/sql"
	"time"

	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// TakeSlot implements store.Entities.
func (s *Store) TakeSlot(ctx context.Context, t store.SlotTake) error {
	return s.change(ctx, "TakeSlot", func(tx *batchTx) error {
		taken, err := tx.slots(t.Stage)
		if err != nil {
			return err
		}
		over, err := dossier.Take(taken, t)
		if err != nil {
			return err
		}
		return tx.putSlot(t.Stage, over, dossier.Slot{Holder: t.Holder, Until: t.Until})
	})
}

// TakeToken implements store.Entities.
func (s *Store) TakeToken(ctx context.Context, t store.TokenTake) (at time.Time, err error) {
	err = s.change(ctx, "TakeToken", func(tx *batchTx) error {
		stage := dossier.RateOf(t.Stage)
		granted, err := tx.slots(stage)
		if err != nil {
			return err
		}
		var over []string
		var fresh bool
		if at, over, fresh, err = dossier.Grant(granted, t); err != nil || !fresh {
			return err
		}
		return tx.putSlot(stage, over, dossier.Slot{Holder: t.Name, Until: at.Add(t.Span)})
	})
	return at, err
}

// slots are all of a stage's that are taken.
func (tx *batchTx) slots(stage string) (taken []dossier.Slot, err error) {
	err = tx.each(statementSlots, []any{sql.Named("stage", stage)}, func(scan func(...any) error) error {
		var c dossier.TurnColumns
		err := scan(&c.Holder, &c.Until)
		taken = append(taken, c.DecodeSlot())
		return err
	})
	return taken, err
}

// putSlot stores one instead of others.
func (tx *batchTx) putSlot(stage string, over []string, slot dossier.Slot) error {
	named := sql.Named("stage", stage)
	for _, holder := range over {
		if _, err := tx.ExecContext(tx.ctx, statementReleaseSlot, named, sql.Named("holder", holder)); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(tx.ctx, statementPutSlot, named, sql.Named("holder", slot.Holder), sql.Named("until", slot.Until.UnixMicro()))
	return err
}

// ReleaseSlot implements store.Entities.
func (s *Store) ReleaseSlot(ctx context.Context, stage, holder string) error {
	return s.change(ctx, "ReleaseSlot", func(tx *batchTx) error {
		_, err := tx.ExecContext(ctx, statementReleaseSlot, sql.Named("stage", stage), sql.Named("holder", holder))
		return err
	})
}
