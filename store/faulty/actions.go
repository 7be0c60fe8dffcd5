package faulty

import (
	"context"

	"gnomon/store"
)

// PutActions implements store.Actions.
func (s *Store) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	f, err := s.begin(ctx, PutActions)
	if err != nil {
		return nil, err
	}
	return call(f, PutActions, func() ([]bool, error) {
		if f.drop {
			applied := make([]bool, len(rows))
			for i := range applied {
				applied[i] = true
			}
			return applied, nil
		}
		return s.inner.PutActions(ctx, rows)
	})
}

// InsertAction implements store.Actions.
func (s *Store) InsertAction(ctx context.Context, row store.Row) (bool, error) {
	f, err := s.begin(ctx, InsertAction)
	if err != nil {
		return false, err
	}
	return call(f, InsertAction, func() (bool, error) {
		if f.drop {
			return true, nil
		}
		return s.inner.InsertAction(ctx, row)
	})
}

// GetAction implements store.Actions.
func (s *Store) GetAction(ctx context.Context, id string) (store.Row, error) {
	f, err := s.begin(ctx, GetAction)
	if err != nil {
		return store.Row{}, err
	}
	return call(f, GetAction, func() (store.Row, error) { return s.inner.GetAction(ctx, id) })
}

// ListActions implements store.Actions.
func (s *Store) ListActions(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	f, err := s.begin(ctx, ListActions)
	if err != nil {
		return nil, err
	}
	return call(f, ListActions, func() ([]store.Row, error) { return s.inner.ListActions(ctx, q) })
}

// PurgeActions implements store.Actions.
func (s *Store) PurgeActions(ctx context.Context, limit int) (int, error) {
	f, err := s.begin(ctx, PurgeActions)
	if err != nil {
		return 0, err
	}
	return call(f, PurgeActions, func() (int, error) { return s.inner.PurgeActions(ctx, limit) })
}

// Ping implements store.Actions.
func (s *Store) Ping(ctx context.Context) error {
	f, err := s.begin(ctx, Ping)
	if err != nil {
		return err
	}
	_, err = call(f, Ping, func() (struct{}, error) { return struct{}{}, s.inner.Ping(ctx) })
	return err
}

// Close closes the store that is wrapped.
func (s *Store) Close() error { return s.inner.Close() }
