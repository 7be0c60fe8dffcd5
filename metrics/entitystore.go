package metrics

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// entityOperations are the operations of a store of entities.
var entityOperations = []string{
	"PutEntity", "GetEntity", "ListEntities", "CountEntities", "DeleteEntity", "GetStageState",
	"UpdateStageState", "BeginVisit", "KeepTurn", "EndVisit", "CommitVisit", "TakeSlot", "ReleaseSlot", "TakeToken",
	"Unpublished", "Published", "Forgotten", "PutQueue", "PeekQueue", "PutRewalk", "GetRewalk",
	"PurgeEntityRequests",
}

// PutEntity implements store.Entities.
func (s *measuredStore) PutEntity(ctx context.Context, p store.EntityPut) (store.EntityResult, error) {
	return measure(s.metrics, "PutEntity", func() (store.EntityResult, error) { return s.inner.PutEntity(ctx, p) })
}

// GetEntity implements store.Entities.
func (s *measuredStore) GetEntity(ctx context.Context, key store.EntityKey) (*gnomonv1.Entity, error) {
	return measure(s.metrics, "GetEntity", func() (*gnomonv1.Entity, error) { return s.inner.GetEntity(ctx, key) })
}

// ListEntities implements store.Entities.
func (s *measuredStore) ListEntities(ctx context.Context, q store.EntityQuery) ([]*gnomonv1.Entity, error) {
	return measure(s.metrics, "ListEntities", func() ([]*gnomonv1.Entity, error) { return s.inner.ListEntities(ctx, q) })
}

// CountEntities implements store.Entities.
func (s *measuredStore) CountEntities(ctx context.Context, entityType string) (uint64, error) {
	return measure(s.metrics, "CountEntities", func() (uint64, error) { return s.inner.CountEntities(ctx, entityType) })
}

// DeleteEntity implements store.Entities.
func (s *measuredStore) DeleteEntity(ctx context.Context, key store.EntityKey, version int64, at time.Time) (store.EntityResult, error) {
	return measure(s.metrics, "DeleteEntity", func() (store.EntityResult, error) { return s.inner.DeleteEntity(ctx, key, version, at) })
}

// GetStageState implements store.Entities.
func (s *measuredStore) GetStageState(ctx context.Context, key store.EntityKey, stage string) (*gnomonv1.StageState, error) {
	return measure(s.metrics, "GetStageState", func() (*gnomonv1.StageState, error) { return s.inner.GetStageState(ctx, key, stage) })
}

// UpdateStageState implements store.Entities.
func (s *measuredStore) UpdateStageState(ctx context.Context, u store.StateUpdate) (store.StateResult, error) {
	return measure(s.metrics, "UpdateStageState", func() (store.StateResult, error) { return s.inner.UpdateStageState(ctx, u) })
}

// BeginVisit implements store.Entities.
func (s *measuredStore) BeginVisit(ctx context.Context, b store.VisitBegin) (store.VisitBegun, error) {
	return measure(s.metrics, "BeginVisit", func() (store.VisitBegun, error) { return s.inner.BeginVisit(ctx, b) })
}

// KeepTurn implements store.Entities.
func (s *measuredStore) KeepTurn(ctx context.Context, key store.EntityKey, holder string, until time.Time) error {
	_, err := measure(s.metrics, "KeepTurn", func() (struct{}, error) { return struct{}{}, s.inner.KeepTurn(ctx, key, holder, until) })
	return err
}

// EndVisit implements store.Entities.
func (s *measuredStore) EndVisit(ctx context.Context, key store.EntityKey, holder string) error {
	_, err := measure(s.metrics, "EndVisit", func() (struct{}, error) { return struct{}{}, s.inner.EndVisit(ctx, key, holder) })
	return err
}

// CommitVisit implements store.Entities.
func (s *measuredStore) CommitVisit(ctx context.Context, c store.VisitCommit) (*workflowv1.VisitResult, error) {
	return measure(s.metrics, "CommitVisit", func() (*workflowv1.VisitResult, error) { return s.inner.CommitVisit(ctx, c) })
}

// TakeSlot implements store.Entities.
func (s *measuredStore) TakeSlot(ctx context.Context, t store.SlotTake) error {
	_, err := measure(s.metrics, "TakeSlot", func() (struct{}, error) { return struct{}{}, s.inner.TakeSlot(ctx, t) })
	return err
}

// ReleaseSlot implements store.Entities.
func (s *measuredStore) ReleaseSlot(ctx context.Context, stage, holder string) error {
	_, err := measure(s.metrics, "ReleaseSlot", func() (struct{}, error) { return struct{}{}, s.inner.ReleaseSlot(ctx, stage, holder) })
	return err
}

// TakeToken implements store.Entities.
func (s *measuredStore) TakeToken(ctx context.Context, t store.TokenTake) (time.Time, error) {
	return measure(s.metrics, "TakeToken", func() (time.Time, error) { return s.inner.TakeToken(ctx, t) })
}

// Unpublished implements store.Entities.
func (s *measuredStore) Unpublished(ctx context.Context, key store.EntityKey, limit int) ([]*gnomonv1.SavedRecord, error) {
	return measure(s.metrics, "Unpublished", func() ([]*gnomonv1.SavedRecord, error) { return s.inner.Unpublished(ctx, key, limit) })
}

// Published implements store.Entities.
func (s *measuredStore) Published(ctx context.Context, key store.EntityKey, sequence int64) error {
	_, err := measure(s.metrics, "Published", func() (struct{}, error) { return struct{}{}, s.inner.Published(ctx, key, sequence) })
	return err
}

// Forgotten implements store.Entities.
func (s *measuredStore) Forgotten(ctx context.Context, before time.Time, after store.EntityKey, limit int) ([]store.EntityVersion, error) {
	return measure(s.metrics, "Forgotten", func() ([]store.EntityVersion, error) { return s.inner.Forgotten(ctx, before, after, limit) })
}

// PutQueue implements store.Entities.
func (s *measuredStore) PutQueue(ctx context.Context, q store.QueueWrite) error {
	_, err := measure(s.metrics, "PutQueue", func() (struct{}, error) { return struct{}{}, s.inner.PutQueue(ctx, q) })
	return err
}

// PeekQueue implements store.Entities.
func (s *measuredStore) PeekQueue(ctx context.Context, q store.QueueQuery) ([]store.QueueEntry, error) {
	return measure(s.metrics, "PeekQueue", func() ([]store.QueueEntry, error) { return s.inner.PeekQueue(ctx, q) })
}

// PutRewalk implements store.Entities.
func (s *measuredStore) PutRewalk(ctx context.Context, w *gnomonv1.Rewalk, revision store.Revision) error {
	_, err := measure(s.metrics, "PutRewalk", func() (struct{}, error) { return struct{}{}, s.inner.PutRewalk(ctx, w, revision) })
	return err
}

// GetRewalk implements store.Entities.
func (s *measuredStore) GetRewalk(ctx context.Context, stage string) (*gnomonv1.Rewalk, error) {
	return measure(s.metrics, "GetRewalk", func() (*gnomonv1.Rewalk, error) { return s.inner.GetRewalk(ctx, stage) })
}

// PurgeEntityRequests implements store.Entities.
func (s *measuredStore) PurgeEntityRequests(ctx context.Context, before time.Time, limit int) (int, error) {
	return measure(s.metrics, "PurgeEntityRequests", func() (int, error) { return s.inner.PurgeEntityRequests(ctx, before, limit) })
}
