package metrics

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// batchOperations are the operations of a store of batches.
var batchOperations = []string{
	"StageBatch", "AcceptBatch", "GetBatch", "GetBatchHead", "ListBatches",
	"PutBatch", "TakeTurn", "BeginChange", "RecordChange", "PurgeStaged",
}

// StageBatch implements store.Batches.
func (s *measuredStore) StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error {
	_, err := measure(s.metrics, "StageBatch", func() (struct{}, error) { return struct{}{}, s.inner.StageBatch(ctx, b, requestID) })
	return err
}

// AcceptBatch implements store.Batches.
func (s *measuredStore) AcceptBatch(ctx context.Context, id, uid string) (store.BatchRow, error) {
	return measure(s.metrics, "AcceptBatch", func() (store.BatchRow, error) { return s.inner.AcceptBatch(ctx, id, uid) })
}

// GetBatch implements store.Batches.
func (s *measuredStore) GetBatch(ctx context.Context, id string) (store.BatchRow, error) {
	return measure(s.metrics, "GetBatch", func() (store.BatchRow, error) { return s.inner.GetBatch(ctx, id) })
}

// GetBatchHead implements store.Batches.
func (s *measuredStore) GetBatchHead(ctx context.Context, id string) (store.BatchRow, error) {
	return measure(s.metrics, "GetBatchHead", func() (store.BatchRow, error) { return s.inner.GetBatchHead(ctx, id) })
}

// ListBatches implements store.Batches.
func (s *measuredStore) ListBatches(ctx context.Context, q store.BatchQuery) ([]store.BatchRow, error) {
	return measure(s.metrics, "ListBatches", func() ([]store.BatchRow, error) { return s.inner.ListBatches(ctx, q) })
}

// PutBatch implements store.Batches.
func (s *measuredStore) PutBatch(ctx context.Context, w store.BatchWrite) (store.BatchRow, error) {
	return measure(s.metrics, "PutBatch", func() (store.BatchRow, error) { return s.inner.PutBatch(ctx, w) })
}

// TakeTurn implements store.Batches.
func (s *measuredStore) TakeTurn(ctx context.Context, t store.BatchTurn) (store.BatchRow, error) {
	return measure(s.metrics, "TakeTurn", func() (store.BatchRow, error) { return s.inner.TakeTurn(ctx, t) })
}

// BeginChange implements store.Batches.
func (s *measuredStore) BeginChange(ctx context.Context, b store.ChangeBegin) (*gnomonv1.ChangeStatus, error) {
	return measure(s.metrics, "BeginChange", func() (*gnomonv1.ChangeStatus, error) { return s.inner.BeginChange(ctx, b) })
}

// RecordChange implements store.Batches.
func (s *measuredStore) RecordChange(ctx context.Context, e store.ChangeEnd) (*gnomonv1.ChangeStatus, error) {
	return measure(s.metrics, "RecordChange", func() (*gnomonv1.ChangeStatus, error) { return s.inner.RecordChange(ctx, e) })
}

// PurgeStaged implements store.Batches.
func (s *measuredStore) PurgeStaged(ctx context.Context, before time.Time, limit int) (int, error) {
	return measure(s.metrics, "PurgeStaged", func() (int, error) { return s.inner.PurgeStaged(ctx, before, limit) })
}
