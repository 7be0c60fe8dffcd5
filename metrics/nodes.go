package metrics

import (
	"context"
	"time"

	"gnomon/store"
)

// nodeOperations are the operations of a store of node actions and playbooks.
var nodeOperations = []string{
	"PutNodeActions", "GetNodeAction", "ListNodeActions", "PutPlaybook", "GetPlaybook", "ListPlaybooks",
	"PurgeNodeActions", "PurgePlaybooks",
}

// PutNodeActions implements store.Nodes.
func (s *measuredStore) PutNodeActions(ctx context.Context, rows []store.NodeActionRow) error {
	_, err := measure(s.metrics, "PutNodeActions", func() (struct{}, error) { return struct{}{}, s.inner.PutNodeActions(ctx, rows) })
	return err
}

// GetNodeAction implements store.Nodes.
func (s *measuredStore) GetNodeAction(ctx context.Context, cluster, id string) (store.NodeActionRow, error) {
	return measure(s.metrics, "GetNodeAction", func() (store.NodeActionRow, error) { return s.inner.GetNodeAction(ctx, cluster, id) })
}

// ListNodeActions implements store.Nodes.
func (s *measuredStore) ListNodeActions(ctx context.Context, q store.NodeActionQuery) ([]store.NodeActionRow, error) {
	return measure(s.metrics, "ListNodeActions", func() ([]store.NodeActionRow, error) { return s.inner.ListNodeActions(ctx, q) })
}

// PutPlaybook implements store.Nodes.
func (s *measuredStore) PutPlaybook(ctx context.Context, row store.PlaybookRow) error {
	_, err := measure(s.metrics, "PutPlaybook", func() (struct{}, error) { return struct{}{}, s.inner.PutPlaybook(ctx, row) })
	return err
}

// GetPlaybook implements store.Nodes.
func (s *measuredStore) GetPlaybook(ctx context.Context, id string) (store.PlaybookRow, error) {
	return measure(s.metrics, "GetPlaybook", func() (store.PlaybookRow, error) { return s.inner.GetPlaybook(ctx, id) })
}

// ListPlaybooks implements store.Nodes.
func (s *measuredStore) ListPlaybooks(ctx context.Context, q store.PlaybookQuery) ([]store.PlaybookRow, error) {
	return measure(s.metrics, "ListPlaybooks", func() ([]store.PlaybookRow, error) { return s.inner.ListPlaybooks(ctx, q) })
}

// PurgeNodeActions implements store.Nodes.
func (s *measuredStore) PurgeNodeActions(ctx context.Context, before time.Time, limit int) (int, error) {
	return measure(s.metrics, "PurgeNodeActions", func() (int, error) { return s.inner.PurgeNodeActions(ctx, before, limit) })
}

// PurgePlaybooks implements store.Nodes.
func (s *measuredStore) PurgePlaybooks(ctx context.Context, before time.Time, limit int) (int, error) {
	return measure(s.metrics, "PurgePlaybooks", func() (int, error) { return s.inner.PurgePlaybooks(ctx, before, limit) })
}
