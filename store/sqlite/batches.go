package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/ledger"
)

// StageBatch implements store.Batches.
func (s *Store) StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error {
	return s.change(ctx, "StageBatch", func(tx *batchTx) error {
		var known int
		if err := tx.QueryRowContext(ctx, statementHasChanges, sql.Named("uid", b.GetUid())).Scan(&known); err != nil || known > 0 {
			return err
		}
		head, err := ledger.NewHead(b, requestID).Columns()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, statementStage, sql.Named("uid", head.UID), sql.Named("id", head.ID),
			sql.Named("staged_at", s.config.Now().UnixMicro()), sql.Named("batch", head.Batch), sql.Named("create_request_id", requestID))
		if err != nil {
			return err
		}
		for _, c := range ledger.NewChanges(b) {
			if err := tx.putChange(statementInsertChange, b.GetUid(), c); err != nil {
				return err
			}
		}
		return nil
	})
}

// AcceptBatch implements store.Batches.
func (s *Store) AcceptBatch(ctx context.Context, id, uid string) (row store.BatchRow, err error) {
	err = s.change(ctx, "AcceptBatch", func(tx *batchTx) error {
		head, err := tx.head(id)
		if err != nil {
			return err
		}
		if head == nil {
			if head, err = tx.staged(uid); err != nil {
				return err
			}
			if head == nil || head.Batch.GetId() != id {
				return store.ErrNotFound
			}
			if err := tx.putHead(statementInsertBatch, head); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, statementUnstage, sql.Named("uid", uid)); err != nil {
				return err
			}
		}
		if head.Batch.GetUid() != uid {
			return store.ErrBatchExists
		}
		row = head.Row()
		return nil
	})
	return row, err
}

// GetBatch implements store.Batches.
func (s *Store) GetBatch(ctx context.Context, id string) (row store.BatchRow, err error) {
	err = s.look(ctx, "GetBatch", func(tx *batchTx) error {
		head, err := tx.head(id)
		if err != nil {
			return err
		}
		if head == nil {
			return store.ErrNotFound
		}
		row, err = tx.assemble(head)
		return err
	})
	return row, err
}

// GetBatchHead implements store.Batches.
func (s *Store) GetBatchHead(ctx context.Context, id string) (row store.BatchRow, err error) {
	err = s.look(ctx, "GetBatchHead", func(tx *batchTx) error {
		head, err := tx.head(id)
		if err != nil {
			return err
		}
		if head == nil {
			return store.ErrNotFound
		}
		row = head.Row()
		return nil
	})
	return row, err
}

// PutBatch implements store.Batches.
func (s *Store) PutBatch(ctx context.Context, w store.BatchWrite) (row store.BatchRow, err error) {
	err = s.change(ctx, "PutBatch", func(tx *batchTx) error {
		head, err := tx.head(w.Head.GetId())
		if err != nil {
			return err
		}
		applies, err := head.Put(w)
		if err != nil {
			return err
		}
		if applies {
			err = tx.putHead(statementUpdateBatch, head)
		}
		row = head.Row()
		return err
	})
	return row, err
}

// TakeTurn implements store.Batches.
func (s *Store) TakeTurn(ctx context.Context, t store.BatchTurn) (row store.BatchRow, err error) {
	err = s.change(ctx, "TakeTurn", func(tx *batchTx) error {
		head, err := tx.head(t.Head.GetId())
		if err != nil {
			return err
		}
		if err := head.Take(t); err != nil {
			return err
		}
		if err := tx.putHead(statementUpdateBatch, head); err != nil {
			return err
		}
		row, err = tx.assemble(head)
		return err
	})
	return row, err
}

// BeginChange implements store.Batches.
func (s *Store) BeginChange(ctx context.Context, b store.ChangeBegin) (st *gnomonv1.ChangeStatus, err error) {
	err = s.change(ctx, "BeginChange", func(tx *batchTx) error {
		head, c, err := tx.headAndChange(b.ID, b.UID, b.Index)
		if err != nil {
			return err
		}
		if err := c.Begin(head, b); err != nil {
			return err
		}
		st = c.Change.GetStatus()
		return tx.putChange(statementUpdateChange, b.UID, c)
	})
	return st, err
}

// RecordChange implements store.Batches.
func (s *Store) RecordChange(ctx context.Context, e store.ChangeEnd) (st *gnomonv1.ChangeStatus, err error) {
	err = s.change(ctx, "RecordChange", func(tx *batchTx) error {
		head, c, err := tx.headAndChange(e.ID, e.UID, e.Index)
		if err != nil {
			return err
		}
		if err := c.Record(head, e); err != nil {
			return err
		}
		st = c.Change.GetStatus()
		return errors.Join(tx.putChange(statementUpdateChange, e.UID, c), tx.putHead(statementUpdateBatch, head))
	})
	return st, err
}

// PurgeStaged implements store.Batches. A limit below 1 removes nothing.
func (s *Store) PurgeStaged(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	err = s.change(ctx, "PurgeStaged", func(tx *batchTx) error {
		uids, err := tx.oldStaged(before, max(0, limit))
		if err != nil {
			return err
		}
		for _, uid := range uids {
			for _, statement := range []string{statementDeleteChanges, statementUnstage} {
				if _, err := tx.ExecContext(ctx, statement, sql.Named("uid", uid)); err != nil {
					return err
				}
			}
		}
		purged = len(uids)
		return nil
	})
	return purged, err
}

// ListBatches implements store.Batches. A limit below 1 is an error.
func (s *Store) ListBatches(ctx context.Context, q store.BatchQuery) (rows []store.BatchRow, err error) {
	statement, arguments, err := listBatchesStatement(q)
	if err != nil {
		return nil, fmt.Errorf("sqlite: ListBatches: %w", err)
	}
	err = s.look(ctx, "ListBatches", func(tx *batchTx) error {
		found, err := tx.QueryContext(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		defer func() { _ = found.Close() }() // Err says what went wrong
		for found.Next() {
			head, err := scanHead(found.Scan)
			if err != nil {
				return err
			}
			rows = append(rows, head.Row())
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}
