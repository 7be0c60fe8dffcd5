package starter

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
	"gnomon/store"
)

// Batches is the facade of scheduled batches: it validates, stores the contents, starts or
// commands the workflow, and reads the store. It holds no state.
type Batches struct {
	gnomonv1.UnimplementedBatchServiceServer

	Config
}

// NewBatches returns the service.
func NewBatches(c Config) (*Batches, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	return &Batches{Config: c}, nil
}

// GetBatch implements the service.
func (s *Batches) GetBatch(ctx context.Context, req *gnomonv1.GetBatchRequest) (*gnomonv1.Batch, error) {
	if err := invalid(idRule(req.GetId()), ""); err != nil {
		return nil, err
	}
	row, err := s.Store.GetBatch(ctx, req.GetId())
	if err != nil {
		return nil, fromBatchStore(ctx, err, req.GetId())
	}
	return row.Batch, nil
}

// ListBatches implements the service.
func (s *Batches) ListBatches(ctx context.Context, req *gnomonv1.ListBatchesRequest) (*gnomonv1.ListBatchesResponse, error) {
	query, size, err := batchQuery(req)
	if err != nil {
		return nil, err
	}
	// One more row than the page holds tells whether there is a next page.
	query.Limit = size + 1
	rows, err := s.Store.ListBatches(ctx, query)
	if err != nil {
		return nil, fromStore(ctx, err)
	}
	page := &gnomonv1.ListBatchesResponse{}
	bytes := 0
	for i, row := range rows {
		bytes += proto.Size(row.Batch)
		if i == size || (i > 0 && bytes > maxPageBytes) {
			last := rows[i-1].Batch
			page.NextPageToken = listingOfBatches(req).pageToken(store.ActionPosition{ID: last.GetId(), ScheduledAt: pageTime(query.Order, last)})
			break
		}
		page.Batches = append(page.Batches, row.Batch)
	}
	return page, nil
}

// batchQuery reads a request; the second result is the size of its page.
func batchQuery(req *gnomonv1.ListBatchesRequest) (query store.BatchQuery, size int, err error) {
	if size, err = readPageSize(req.GetPageSize()); err != nil {
		return query, 0, err
	}
	if err := readBatchFilter(req.GetFilter(), &query); err != nil {
		return query, 0, err
	}
	if query.Order, query.Descending, err = readOrder(req.GetOrderBy()); err != nil {
		return query, 0, err
	}
	query.After, err = listingOfBatches(req).readPageToken(req.GetPageToken())
	return query, size, err
}

// idRule checks the id that a request addresses.
func idRule(id string) []rule.Violation {
	var v rule.Violations
	v.ID("id", id)
	return v
}

// fromBatchStore maps an error of the store, which is the truth of batches: what it does
// not have is not there.
func fromBatchStore(ctx context.Context, err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return batchNotFound(id)
	}
	return fromStore(ctx, err)
}
