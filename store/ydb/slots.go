package ydb

import (
	"context"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// TakeSlot implements store.Entities.
func (s *Store) TakeSlot(ctx context.Context, t store.SlotTake) error {
	return s.change(ctx, "TakeSlot", func(tx *batchTx) error { return dossier.TakeSlot(tx, t) })
}

// TakeToken implements store.Entities.
func (s *Store) TakeToken(ctx context.Context, t store.TokenTake) (at time.Time, err error) {
	err = s.change(ctx, "TakeToken", func(tx *batchTx) error {
		at, err = dossier.TakeToken(tx, t)
		return err
	})
	return at, err
}

// Slots implements dossier.SlotTx.
func (tx *batchTx) Slots(stage string) (taken []dossier.Slot, err error) {
	st := &statement{text: statementSlots}
	st.add("$stage", types.TextValue(stage))
	err = tx.read(st, func(row query.Row) error {
		var c dossier.TurnColumns
		err := row.Scan(&c.Holder, &c.Until)
		taken = append(taken, c.DecodeSlot())
		return err
	})
	return taken, err
}

// PutSlot implements dossier.SlotTx.
func (tx *batchTx) PutSlot(stage string, over []string, put dossier.Slot) error {
	slot := func(holder string, others ...types.StructValueOption) types.Value {
		return types.StructValue(append([]types.StructValueOption{
			types.StructFieldValue("stage", types.TextValue(stage)), types.StructFieldValue("holder", types.TextValue(holder)),
		}, others...)...)
	}
	w := &writes{}
	if len(over) > 0 {
		w.table(deleteSlots, "$released", rows(over, func(holder string) types.Value { return slot(holder) })...)
	}
	w.table(upsertSlot, "$slots", slot(put.Holder, types.StructFieldValue("until_at", types.Int64Value(put.Until.UnixMicro()))))
	return tx.write(w)
}

// rows are items as parameters.
func rows[T any](items []T, row func(T) types.Value) []types.Value {
	all := make([]types.Value, len(items))
	for i, item := range items {
		all[i] = row(item)
	}
	return all
}

// ReleaseSlot implements store.Entities.
func (s *Store) ReleaseSlot(ctx context.Context, stage, holder string) error {
	if !named(stage, holder) {
		return nil
	}
	return s.change(ctx, "ReleaseSlot", func(tx *batchTx) error {
		w := &writes{statement{text: deleteSlot}}
		w.add("$stage", types.TextValue(stage))
		w.add("$holder", types.TextValue(holder))
		return tx.write(w)
	})
}
