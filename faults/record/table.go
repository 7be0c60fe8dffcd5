package record

import (
	"context"

	"gnomon/store"
)

// Table gives all rows of a store, tombstones included, by id.
func Table(ctx context.Context, s store.Actions) (map[string]store.Row, error) {
	all := map[string]store.Row{}
	q := store.ActionQuery{Order: store.ByID, ShowFinished: true, Limit: 1000}
	for {
		page, err := s.ListActions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			all[r.Action.GetMeta().GetId()] = r
		}
		if len(page) < q.Limit {
			return all, nil
		}
		q.After = &store.ActionPosition{ID: page[len(page)-1].Action.GetMeta().GetId()}
	}
}
