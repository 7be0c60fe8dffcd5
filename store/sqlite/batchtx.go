package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gnomon/store"
	"gnomon/store/internal/ledger"
)

// batchTx is one transaction over batches.
type batchTx struct {
	*sql.Tx

	ctx context.Context
}

// change runs a transaction that writes. It takes its turn with the writer of actions,
// which has the same connection.
func (s *Store) change(ctx context.Context, call string, do func(*batchTx) error) error {
	return failure(ctx, call, s.transact(ctx, s.db.write, do))
}

// look runs a transaction that only reads, as one moment saw the rows.
func (s *Store) look(ctx context.Context, call string, do func(*batchTx) error) error {
	return failure(ctx, call, s.transact(ctx, s.db.read, do))
}

func (s *Store) transact(ctx context.Context, db *sql.DB, do func(*batchTx) error) error {
	s.calls.RLock() // Close waits for what is under way
	defer s.calls.RUnlock()
	if err := s.check(ctx); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(&batchTx{Tx: tx, ctx: ctx}); err != nil {
		return errors.Join(err, quiet(tx.Rollback()))
	}
	return tx.Commit()
}

// quiet leaves out that a context's end has rolled back already.
func quiet(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// head reads a batch without its changes, nil if there is none.
func (tx *batchTx) head(id string) (*ledger.Head, error) {
	return none(scanHead(tx.QueryRowContext(tx.ctx, statementBatch, sql.Named("id", id)).Scan))
}

// staged reads what is staged, nil if it is not.
func (tx *batchTx) staged(uid string) (*ledger.Head, error) {
	var stored ledger.StoredHead
	err := tx.QueryRowContext(tx.ctx, statementStaged, sql.Named("uid", uid)).Scan(&stored.Batch, &stored.CreateRequestID)
	if err != nil {
		return none[ledger.Head](nil, err)
	}
	return stored.Decode()
}

// none is nil where there is no row.
func none[T any](row *T, err error) (*T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no row
	}
	return row, err
}

func scanHead(scan func(...any) error) (*ledger.Head, error) {
	var stored ledger.StoredHead
	var revision, fence int64
	if err := scan(&stored.Batch, &stored.Problems, &revision, &fence, &stored.CreateRequestID); err != nil {
		return nil, err
	}
	stored.Revision, stored.Fence = uint64(revision), uint64(fence)
	return stored.Decode()
}

func scanChange(scan func(...any) error) (*ledger.Change, error) {
	var stored ledger.ChangeColumns
	var fence int64
	if err := scan(&stored.Index, &stored.Content, &stored.Status, &fence, &stored.Expires); err != nil {
		return nil, err
	}
	stored.Fence = uint64(fence)
	return stored.Decode()
}

// headAndChange reads both, nil where there is none.
func (tx *batchTx) headAndChange(id, uid string, index int) (*ledger.Head, *ledger.Change, error) {
	head, err := tx.head(id)
	if err != nil {
		return nil, nil, err
	}
	c, err := none(scanChange(tx.QueryRowContext(tx.ctx, statementChange, sql.Named("uid", uid), sql.Named("change_index", index)).Scan))
	return head, c, err
}

// assemble reads the changes of a head.
func (tx *batchTx) assemble(head *ledger.Head) (store.BatchRow, error) {
	found, err := tx.QueryContext(tx.ctx, statementChanges, sql.Named("uid", head.Batch.GetUid()))
	if err != nil {
		return store.BatchRow{}, err
	}
	defer func() { _ = found.Close() }() // Err says what went wrong
	var all []*ledger.Change
	for found.Next() {
		c, err := scanChange(found.Scan)
		if err != nil {
			return store.BatchRow{}, err
		}
		all = append(all, c)
	}
	return ledger.Assemble(head, all), found.Err()
}

// putHead writes a head by the statement that inserts or the one that updates.
func (tx *batchTx) putHead(statement string, head *ledger.Head) error {
	c, err := head.Columns()
	if err != nil {
		return err
	}
	labels, err := labelsJSON(c.Labels)
	if err != nil {
		return err
	}
	arguments := []any{
		sql.Named("id", c.ID), sql.Named("uid", c.UID), sql.Named("scheduled_at", c.ScheduledAt),
		sql.Named("state", c.State), sql.Named("labels", labels), sql.Named("revision", int64(c.Revision)),
		sql.Named("fence", int64(c.Fence)), sql.Named("batch", c.Batch), sql.Named("problems", c.Problems),
	}
	if statement == statementInsertBatch {
		arguments = append(arguments, sql.Named("create_request_id", c.CreateRequestID))
	}
	_, err = tx.ExecContext(tx.ctx, statement, arguments...)
	return err
}

// putChange writes a change by the statement that inserts or the one that updates.
func (tx *batchTx) putChange(statement, uid string, change *ledger.Change) error {
	c, err := change.Columns()
	if err != nil {
		return err
	}
	arguments := []any{
		sql.Named("uid", uid), sql.Named("change_index", c.Index), sql.Named("status", c.Status),
		sql.Named("fence", int64(c.Fence)), sql.Named("lease_expires", c.Expires),
	}
	if statement == statementInsertChange {
		arguments = append(arguments, sql.Named("content", c.Content))
	}
	_, err = tx.ExecContext(tx.ctx, statement, arguments...)
	return err
}

func (tx *batchTx) oldStaged(before time.Time, limit int) ([]string, error) {
	found, err := tx.QueryContext(tx.ctx, statementOldStaged, sql.Named("before", before.UnixMicro()), sql.Named("limit", limit))
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err says what went wrong
	var uids []string
	for found.Next() {
		var uid string
		if err := found.Scan(&uid); err != nil {
			return nil, err
		}
		uids = append(uids, uid)
	}
	return uids, found.Err()
}
