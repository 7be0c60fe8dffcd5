package ydb

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/ledger"
)

// StageBatch implements store.Batches.
func (s *Store) StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error {
	return s.change(ctx, "StageBatch", func(tx *batchTx) error {
		first, err := tx.changeAt(b.GetUid(), 0)
		if err != nil || first != nil {
			return err
		}
		w := &writes{}
		return tx.write(w, w.stage(ledger.NewHead(b, requestID), s.config.Now()), w.changes(b.GetUid(), ledger.NewChanges(b)...))
	})
}

// AcceptBatch implements store.Batches.
func (s *Store) AcceptBatch(ctx context.Context, id, uid string) (row store.BatchRow, err error) {
	err = s.change(ctx, "AcceptBatch", func(tx *batchTx) error {
		head, err := tx.head(id)
		if err != nil {
			return err
		}
		w := &writes{}
		if head == nil {
			if head, err = tx.staged(uid); err != nil {
				return err
			}
			if head == nil || head.Batch.GetId() != id {
				return store.ErrNotFound
			}
			if err := w.head(head); err != nil {
				return err
			}
			w.unstage(uid)
		}
		if head.Batch.GetUid() != uid {
			return store.ErrBatchExists
		}
		row = head.Row()
		return tx.write(w)
	})
	return row, err
}

// GetBatch implements store.Batches.
func (s *Store) GetBatch(ctx context.Context, id string) (row store.BatchRow, err error) {
	err = s.look(ctx, "GetBatch", func(tx *batchTx) error {
		head, err := tx.standing(id)
		if err != nil {
			return err
		}
		row, err = tx.assemble(head)
		return err
	})
	return row, err
}

// GetBatchHead implements store.Batches.
func (s *Store) GetBatchHead(ctx context.Context, id string) (row store.BatchRow, err error) {
	err = s.look(ctx, "GetBatchHead", func(tx *batchTx) error {
		head, err := tx.standing(id)
		if err != nil {
			return err
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
		row = head.Row()
		all := &writes{}
		if applies {
			err = all.head(head)
		}
		return tx.write(all, err)
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
		if row, err = tx.assemble(head); err != nil {
			return err
		}
		w := &writes{}
		return tx.write(w, w.head(head))
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
		w := &writes{}
		return tx.write(w, w.changes(b.UID, c))
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
		w := &writes{}
		return tx.write(w, w.changes(e.UID, c), w.head(head))
	})
	return st, err
}

// PurgeStaged implements store.Batches. A limit below 1 removes nothing. Of a removal
// whose answer was lost, only what its repetition removed is counted.
func (s *Store) PurgeStaged(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	err = s.change(ctx, "PurgeStaged", func(tx *batchTx) error {
		uids, err := tx.oldStaged(before, max(0, min(limit, groupRows)))
		if err != nil {
			return err
		}
		purged = len(uids)
		w := &writes{}
		w.purge(uids...)
		return tx.write(w)
	})
	return purged, err
}

// ListBatches implements store.Batches. A limit below 1 is an error.
func (s *Store) ListBatches(ctx context.Context, q store.BatchQuery) ([]store.BatchRow, error) {
	s.calls.RLock() // Close waits for what is under way
	defer s.calls.RUnlock()
	if err := s.check(ctx); err != nil {
		return nil, failure(ctx, "ListBatches", err)
	}
	st, err := listBatchesStatement(q)
	if err != nil || st == nil {
		return nil, failure(ctx, "ListBatches", err)
	}
	var rows []store.BatchRow
	err = s.run(ctx, st, reading(), func(row query.Row) error {
		head, err := scanHead(row)
		if err != nil {
			return err
		}
		rows = append(rows, head.Row())
		return nil
	})
	if err != nil {
		return nil, failure(ctx, "ListBatches", err)
	}
	sortBatches(rows, q)
	return rows, nil
}

// standing reads a batch that must be there.
func (tx *batchTx) standing(id string) (*ledger.Head, error) {
	if !utf8.ValidString(id) { // no id is, and YDB would refuse the parameter
		return nil, store.ErrNotFound
	}
	head, err := tx.head(id)
	if err == nil && head == nil {
		err = store.ErrNotFound
	}
	return head, err
}
