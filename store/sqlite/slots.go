package sqlite

import (
	"context"
	"database/sql"
	"time"

	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// TakeSlot implements store.Entities. Who waits asks again and again, so that what is in
// vain only reads: of those that write there is one at a time, among all processes.
func (s *Store) TakeSlot(ctx context.Context, t store.SlotTake) error {
	if err := s.look(ctx, "TakeSlot", func(tx *batchTx) error { return dossier.TakeSlot(dossier.Trial{SlotTx: tx}, t) }); err != nil {
		return err
	}
	return s.change(ctx, "TakeSlot", func(tx *batchTx) error { return dossier.TakeSlot(tx, t) })
}

// TakeToken implements store.Entities. See TakeSlot.
func (s *Store) TakeToken(ctx context.Context, t store.TokenTake) (at time.Time, err error) {
	err = s.look(ctx, "TakeToken", func(tx *batchTx) error {
		at, err = dossier.TakeToken(dossier.Trial{SlotTx: tx}, t)
		return err
	})
	if err != nil {
		return at, err
	}
	err = s.change(ctx, "TakeToken", func(tx *batchTx) error {
		at, err = dossier.TakeToken(tx, t)
		return err
	})
	return at, err
}

// Slots implements dossier.SlotTx.
func (tx *batchTx) Slots(stage string) (taken []dossier.Slot, err error) {
	err = tx.each(statementSlots, []any{sql.Named("stage", stage)}, func(scan func(...any) error) error {
		var c dossier.TurnColumns
		err := scan(&c.Holder, &c.Until)
		taken = append(taken, c.DecodeSlot())
		return err
	})
	return taken, err
}

// PutSlot implements dossier.SlotTx.
func (tx *batchTx) PutSlot(stage string, over []string, slot dossier.Slot) error {
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
