package faulty

import (
	"context"
	"time"

	"gnomon/store"
)

// PutNodeActions implements store.Nodes. No fault drops it: nothing mends what the
// workflow was told is stored.
func (s *Store) PutNodeActions(ctx context.Context, rows []store.NodeActionRow) error {
	_, err := through(ctx, s, PutNodeActions, func() (struct{}, error) { return struct{}{}, s.inner.PutNodeActions(ctx, rows) })
	return err
}

// GetNodeAction implements store.Nodes.
func (s *Store) GetNodeAction(ctx context.Context, cluster, id string) (store.NodeActionRow, error) {
	return through(ctx, s, GetNodeAction, func() (store.NodeActionRow, error) { return s.inner.GetNodeAction(ctx, cluster, id) })
}

// ListNodeActions implements store.Nodes.
func (s *Store) ListNodeActions(ctx context.Context, q store.NodeActionQuery) ([]store.NodeActionRow, error) {
	return through(ctx, s, ListNodeActions, func() ([]store.NodeActionRow, error) { return s.inner.ListNodeActions(ctx, q) })
}

// PutPlaybook implements store.Nodes. No fault drops it, as PutNodeActions.
func (s *Store) PutPlaybook(ctx context.Context, row store.PlaybookRow) error {
	_, err := through(ctx, s, PutPlaybook, func() (struct{}, error) { return struct{}{}, s.inner.PutPlaybook(ctx, row) })
	return err
}

// GetPlaybook implements store.Nodes.
func (s *Store) GetPlaybook(ctx context.Context, id string) (store.PlaybookRow, error) {
	return through(ctx, s, GetPlaybook, func() (store.PlaybookRow, error) { return s.inner.GetPlaybook(ctx, id) })
}

// ListPlaybooks implements store.Nodes.
func (s *Store) ListPlaybooks(ctx context.Context, q store.PlaybookQuery) ([]store.PlaybookRow, error) {
	return through(ctx, s, ListPlaybooks, func() ([]store.PlaybookRow, error) { return s.inner.ListPlaybooks(ctx, q) })
}

// PurgeNodeActions implements store.Nodes.
func (s *Store) PurgeNodeActions(ctx context.Context, before time.Time, limit int) (int, error) {
	return through(ctx, s, PurgeNodeActions, func() (int, error) { return s.inner.PurgeNodeActions(ctx, before, limit) })
}

// PurgePlaybooks implements store.Nodes.
func (s *Store) PurgePlaybooks(ctx context.Context, before time.Time, limit int) (int, error) {
	return through(ctx, s, PurgePlaybooks, func() (int, error) { return s.inner.PurgePlaybooks(ctx, before, limit) })
}
