package faulty

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// PutEntity implements store.Entities.
func (s *Store) PutEntity(ctx context.Context, p store.EntityPut) (store.EntityResult, error) {
	return through(ctx, s, PutEntity, func() (store.EntityResult, error) { return s.inner.PutEntity(ctx, p) })
}

// GetEntity implements store.Entities.
func (s *Store) GetEntity(ctx context.Context, key store.EntityKey) (*gnomonv1.Entity, error) {
	return through(ctx, s, GetEntity, func() (*gnomonv1.Entity, error) { return s.inner.GetEntity(ctx, key) })
}

// ListEntities implements store.Entities.
func (s *Store) ListEntities(ctx context.Context, q store.EntityQuery) ([]*gnomonv1.Entity, error) {
	return through(ctx, s, ListEntities, func() ([]*gnomonv1.Entity, error) { return s.inner.ListEntities(ctx, q) })
}

// CountEntities implements store.Entities.
func (s *Store) CountEntities(ctx context.Context, entityType string) (uint64, error) {
	return through(ctx, s, CountEntities, func() (uint64, error) { return s.inner.CountEntities(ctx, entityType) })
}

// DeleteEntity implements store.Entities.
func (s *Store) DeleteEntity(ctx context.Context, key store.EntityKey, version int64, at time.Time) (store.EntityResult, error) {
	return through(ctx, s, DeleteEntity, func() (store.EntityResult, error) { return s.inner.DeleteEntity(ctx, key, version, at) })
}

// GetStageState implements store.Entities.
func (s *Store) GetStageState(ctx context.Context, key store.EntityKey, stage string) (*gnomonv1.StageState, error) {
	return through(ctx, s, GetStageState, func() (*gnomonv1.StageState, error) { return s.inner.GetStageState(ctx, key, stage) })
}

// UpdateStageState implements store.Entities.
func (s *Store) UpdateStageState(ctx context.Context, u store.StateUpdate) (store.StateResult, error) {
	return through(ctx, s, UpdateStageState, func() (store.StateResult, error) { return s.inner.UpdateStageState(ctx, u) })
}

// BeginVisit implements store.Entities.
func (s *Store) BeginVisit(ctx context.Context, b store.VisitBegin) (store.VisitBegun, error) {
	return through(ctx, s, BeginVisit, func() (store.VisitBegun, error) { return s.inner.BeginVisit(ctx, b) })
}

// KeepTurn implements store.Entities.
func (s *Store) KeepTurn(ctx context.Context, key store.EntityKey, holder string, until time.Time) error {
	_, err := through(ctx, s, KeepTurn, func() (struct{}, error) { return struct{}{}, s.inner.KeepTurn(ctx, key, holder, until) })
	return err
}

// EndVisit implements store.Entities.
func (s *Store) EndVisit(ctx context.Context, key store.EntityKey, holder string) error {
	_, err := through(ctx, s, EndVisit, func() (struct{}, error) { return struct{}{}, s.inner.EndVisit(ctx, key, holder) })
	return err
}

// CommitVisit implements store.Entities.
func (s *Store) CommitVisit(ctx context.Context, c store.VisitCommit) (*workflowv1.VisitResult, error) {
	return through(ctx, s, CommitVisit, func() (*workflowv1.VisitResult, error) { return s.inner.CommitVisit(ctx, c) })
}

// TakeSlot implements store.Entities.
func (s *Store) TakeSlot(ctx context.Context, t store.SlotTake) error {
	_, err := through(ctx, s, TakeSlot, func() (struct{}, error) { return struct{}{}, s.inner.TakeSlot(ctx, t) })
	return err
}

// ReleaseSlot implements store.Entities.
func (s *Store) ReleaseSlot(ctx context.Context, stage, holder string) error {
	_, err := through(ctx, s, ReleaseSlot, func() (struct{}, error) { return struct{}{}, s.inner.ReleaseSlot(ctx, stage, holder) })
	return err
}

// TakeToken implements store.Entities.
func (s *Store) TakeToken(ctx context.Context, t store.TokenTake) (time.Time, error) {
	return through(ctx, s, TakeToken, func() (time.Time, error) { return s.inner.TakeToken(ctx, t) })
}

// Unpublished implements store.Entities.
func (s *Store) Unpublished(ctx context.Context, key store.EntityKey, limit int) ([]*gnomonv1.SavedRecord, error) {
	return through(ctx, s, Unpublished, func() ([]*gnomonv1.SavedRecord, error) { return s.inner.Unpublished(ctx, key, limit) })
}

// Published implements store.Entities.
func (s *Store) Published(ctx context.Context, key store.EntityKey, sequence int64) error {
	_, err := through(ctx, s, Published, func() (struct{}, error) { return struct{}{}, s.inner.Published(ctx, key, sequence) })
	return err
}

// Forgotten implements store.Entities.
func (s *Store) Forgotten(ctx context.Context, before time.Time, after store.EntityKey, limit int) ([]store.EntityVersion, error) {
	return through(ctx, s, Forgotten, func() ([]store.EntityVersion, error) { return s.inner.Forgotten(ctx, before, after, limit) })
}

// PutQueue implements store.Entities.
func (s *Store) PutQueue(ctx context.Context, q store.QueueWrite) error {
	_, err := through(ctx, s, PutQueue, func() (struct{}, error) { return struct{}{}, s.inner.PutQueue(ctx, q) })
	return err
}

// PeekQueue implements store.Entities.
func (s *Store) PeekQueue(ctx context.Context, q store.QueueQuery) ([]store.QueueEntry, error) {
	return through(ctx, s, PeekQueue, func() ([]store.QueueEntry, error) { return s.inner.PeekQueue(ctx, q) })
}

// PutRewalk implements store.Entities.
func (s *Store) PutRewalk(ctx context.Context, w *gnomonv1.Rewalk, revision store.Revision) error {
	_, err := through(ctx, s, PutRewalk, func() (struct{}, error) { return struct{}{}, s.inner.PutRewalk(ctx, w, revision) })
	return err
}

// GetRewalk implements store.Entities.
func (s *Store) GetRewalk(ctx context.Context, stage string) (*gnomonv1.Rewalk, error) {
	return through(ctx, s, GetRewalk, func() (*gnomonv1.Rewalk, error) { return s.inner.GetRewalk(ctx, stage) })
}

// PurgeEntityRequests implements store.Entities.
func (s *Store) PurgeEntityRequests(ctx context.Context, before time.Time, limit int) (int, error) {
	return through(ctx, s, PurgeEntityRequests, func() (int, error) { return s.inner.PurgeEntityRequests(ctx, before, limit) })
}
