package faulty

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// through makes one call that no fault drops: of batches the store is the truth.
func through[T any](ctx context.Context, s *Store, m Method, do func() (T, error)) (T, error) {
	f, err := s.begin(ctx, m)
	if err != nil {
		var none T
		return none, err
	}
	return call(f, m, do)
}

// StageBatch implements store.Batches.
func (s *Store) StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error {
	_, err := through(ctx, s, StageBatch, func() (struct{}, error) { return struct{}{}, s.inner.StageBatch(ctx, b, requestID) })
	return err
}

// AcceptBatch implements store.Batches.
func (s *Store) AcceptBatch(ctx context.Context, id, uid string) (store.BatchRow, error) {
	return through(ctx, s, AcceptBatch, func() (store.BatchRow, error) { return s.inner.AcceptBatch(ctx, id, uid) })
}

// GetBatch implements store.Batches.
func (s *Store) GetBatch(ctx context.Context, id string) (store.BatchRow, error) {
	return through(ctx, s, GetBatch, func() (store.BatchRow, error) { return s.inner.GetBatch(ctx, id) })
}

// GetBatchHead implements store.Batches.
func (s *Store) GetBatchHead(ctx context.Context, id string) (store.BatchRow, error) {
	return through(ctx, s, GetBatchHead, func() (store.BatchRow, error) { return s.inner.GetBatchHead(ctx, id) })
}

// ListBatches implements store.Batches.
func (s *Store) ListBatches(ctx context.Context, q store.BatchQuery) ([]store.BatchRow, error) {
	return through(ctx, s, ListBatches, func() ([]store.BatchRow, error) { return s.inner.ListBatches(ctx, q) })
}

// PutBatch implements store.Batches.
func (s *Store) PutBatch(ctx context.Context, w store.BatchWrite) (store.BatchRow, error) {
	return through(ctx, s, PutBatch, func() (store.BatchRow, error) { return s.inner.PutBatch(ctx, w) })
}

// TakeTurn implements store.Batches.
func (s *Store) TakeTurn(ctx context.Context, t store.BatchTurn) (store.BatchRow, error) {
	return through(ctx, s, TakeTurn, func() (store.BatchRow, error) { return s.inner.TakeTurn(ctx, t) })
}

// BeginChange implements store.Batches.
func (s *Store) BeginChange(ctx context.Context, b store.ChangeBegin) (*gnomonv1.ChangeStatus, error) {
	return through(ctx, s, BeginChange, func() (*gnomonv1.ChangeStatus, error) { return s.inner.BeginChange(ctx, b) })
}

// RecordChange implements store.Batches.
func (s *Store) RecordChange(ctx context.Context, e store.ChangeEnd) (*gnomonv1.ChangeStatus, error) {
	return through(ctx, s, RecordChange, func() (*gnomonv1.ChangeStatus, error) { return s.inner.RecordChange(ctx, e) })
}

// PurgeStaged implements store.Batches.
func (s *Store) PurgeStaged(ctx context.Context, before time.Time, limit int) (int, error) {
	return through(ctx, s, PurgeStaged, func() (int, error) { return s.inner.PurgeStaged(ctx, before, limit) })
}
