package ydb

import (
	"context"
	"errors"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store"
	"gnomon/store/internal/ledger"
	"gnomon/store/internal/mirror"
)

// batchTx is one transaction over batches.
type batchTx struct {
	query.TxActor

	ctx    context.Context
	prefix string
}

// change runs a transaction that writes. All that the SDK may repeat is repeated, as a
// whole, within Config.Timeout: every one here may be.
func (s *Store) change(ctx context.Context, call string, do func(*batchTx) error) error {
	return failure(ctx, call, s.transact(ctx, query.WithSerializableReadWrite(), do))
}

// look runs a transaction that only reads, as one moment saw the rows.
func (s *Store) look(ctx context.Context, call string, do func(*batchTx) error) error {
	return failure(ctx, call, s.transact(ctx, query.WithSnapshotReadOnly(), do))
}

func (s *Store) transact(ctx context.Context, mode query.TransactionOption, do func(*batchTx) error) error {
	s.calls.RLock() // Close waits for what is under way
	defer s.calls.RUnlock()
	if err := s.check(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	return s.driver.Query().DoTx(ctx, func(ctx context.Context, tx query.TxActor) error {
		return do(&batchTx{TxActor: tx, ctx: ctx, prefix: s.prefix})
	}, query.WithTxSettings(query.TxSettings(mode)), query.WithIdempotent())
}

// read gives the rows of a statement to scan.
func (tx *batchTx) read(st *statement, scan func(query.Row) error) error {
	found, err := tx.QueryResultSet(tx.ctx, st.yql(tx.prefix), query.WithParameters(st.values()))
	if err != nil {
		return err
	}
	for row, err := range found.Rows(tx.ctx) {
		if err != nil {
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
	return nil
}

// write has the server make all writes and commit, unless one could not be encoded.
func (tx *batchTx) write(w *writes, encoded ...error) error {
	if err := errors.Join(encoded...); err != nil || w.text == "" {
		return err
	}
	return tx.Exec(tx.ctx, w.yql(tx.prefix), query.WithParameters(w.values()), query.WithCommit())
}

// head reads a batch without its changes, nil if there is none.
func (tx *batchTx) head(id string) (head *ledger.Head, err error) {
	st := &statement{text: statementBatch}
	st.add("$hash", types.Uint64Value(mirror.HashID(id)))
	st.add("$id", types.TextValue(id))
	err = tx.read(st, func(row query.Row) error {
		head, err = scanHead(row)
		return err
	})
	return head, err
}

func scanHead(row query.Row) (*ledger.Head, error) {
	var stored ledger.StoredHead
	if err := row.Scan(&stored.Batch, &stored.Problems, &stored.Revision, &stored.Fence, &stored.CreateRequestID); err != nil {
		return nil, err
	}
	return stored.Decode()
}

// staged reads what is staged, nil if it is not.
func (tx *batchTx) staged(uid string) (head *ledger.Head, err error) {
	st := &statement{text: statementStaged}
	st.add("$uid", types.TextValue(uid))
	err = tx.read(st, func(row query.Row) error {
		var stored ledger.StoredHead
		if err := row.Scan(&stored.Batch, &stored.CreateRequestID); err != nil {
			return err
		}
		head, err = stored.Decode()
		return err
	})
	return head, err
}

// changeAt reads one change, nil if there is none.
func (tx *batchTx) changeAt(uid string, index int) (c *ledger.Change, err error) {
	st := &statement{text: statementChange}
	st.add("$uid", types.TextValue(uid))
	st.add("$change_index", types.Uint32Value(uint32(index)))
	err = tx.read(st, func(row query.Row) error {
		c, err = scanChange(row)
		return err
	})
	return c, err
}

func scanChange(row query.Row) (*ledger.Change, error) {
	var stored ledger.ChangeColumns
	var index uint32
	if err := row.Scan(&index, &stored.Content, &stored.Status, &stored.Fence, &stored.Expires); err != nil {
		return nil, err
	}
	stored.Index = int(index)
	return stored.Decode()
}

// headAndChange reads both, nil where there is none.
func (tx *batchTx) headAndChange(id, uid string, index int) (*ledger.Head, *ledger.Change, error) {
	head, err := tx.head(id)
	if err != nil {
		return nil, nil, err
	}
	c, err := tx.changeAt(uid, index)
	return head, c, err
}

// assemble reads the changes of a head.
func (tx *batchTx) assemble(head *ledger.Head) (store.BatchRow, error) {
	st := &statement{text: statementChanges}
	st.add("$uid", types.TextValue(head.Batch.GetUid()))
	var all []*ledger.Change
	err := tx.read(st, func(row query.Row) error {
		c, err := scanChange(row)
		all = append(all, c)
		return err
	})
	if err != nil {
		return store.BatchRow{}, err
	}
	return ledger.Assemble(head, all), nil
}

func (tx *batchTx) oldStaged(before time.Time, limit int) (uids []string, err error) {
	st := &statement{text: statementOldStaged}
	st.add("$before", timestamp(before))
	st.add("$limit", types.Uint64Value(uint64(limit)))
	err = tx.read(st, func(row query.Row) error {
		var uid string
		var at time.Time
		if err := row.Scan(&uid, &at); err != nil {
			return err
		}
		uids = append(uids, uid)
		return nil
	})
	return uids, err
}

// writes are what a transaction writes with its last statement.
type writes struct{ statement }

func (w *writes) head(h *ledger.Head) error {
	c, err := h.Columns()
	if err != nil {
		return err
	}
	w.text += upsertHead
	w.add("$heads", types.ListValue(types.StructValue(
		types.StructFieldValue("id_hash", types.Uint64Value(c.Hash)),
		types.StructFieldValue("id", types.TextValue(c.ID)),
		types.StructFieldValue("uid", types.TextValue(c.UID)),
		types.StructFieldValue("scheduled_at", types.Int64Value(c.ScheduledAt)),
		types.StructFieldValue("state", types.Int32Value(c.State)),
		types.StructFieldValue("labels", types.TextValue(labelsText(c.Labels))),
		types.StructFieldValue("revision", types.Uint64Value(c.Revision)),
		types.StructFieldValue("fence", types.Uint64Value(c.Fence)),
		types.StructFieldValue("batch", types.BytesValue(c.Batch)),
		types.StructFieldValue("problems", types.BytesValue(c.Problems)),
		types.StructFieldValue("create_request_id", types.TextValue(c.CreateRequestID)),
	)))
	return nil
}

func (w *writes) stage(h *ledger.Head, now time.Time) error {
	c, err := h.Columns()
	if err != nil {
		return err
	}
	w.text += upsertStaged
	w.add("$staged", types.ListValue(types.StructValue(
		types.StructFieldValue("uid", types.TextValue(c.UID)),
		types.StructFieldValue("id", types.TextValue(c.ID)),
		types.StructFieldValue("staged_at", timestamp(now)),
		types.StructFieldValue("batch", types.BytesValue(c.Batch)),
		types.StructFieldValue("create_request_id", types.TextValue(c.CreateRequestID)),
	)))
	return nil
}

func (w *writes) changes(uid string, all ...*ledger.Change) error {
	values := make([]types.Value, len(all))
	for i, change := range all {
		c, err := change.Columns()
		if err != nil {
			return err
		}
		values[i] = types.StructValue(
			types.StructFieldValue("uid", types.TextValue(uid)),
			types.StructFieldValue("change_index", types.Uint32Value(uint32(c.Index))),
			types.StructFieldValue("content", types.BytesValue(c.Content)),
			types.StructFieldValue("status", types.BytesValue(c.Status)),
			types.StructFieldValue("fence", types.Uint64Value(c.Fence)),
			types.StructFieldValue("lease_expires", types.Int64Value(c.Expires)),
		)
	}
	w.text += upsertChanges
	w.add("$changes", types.ListValue(values...))
	return nil
}

func (w *writes) unstage(uids ...string) {
	w.text += deleteStaged
	w.add("$unstaged", list(uids, types.TextValue))
}

// purge removes what is staged with its changes.
func (w *writes) purge(uids ...string) {
	if len(uids) == 0 {
		return
	}
	w.unstage(uids...)
	w.text += deleteChanges
}
