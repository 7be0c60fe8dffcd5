package starter

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Sizes of a page of ListActions.
const (
	// defaultPageSize is what page_size 0 means.
	defaultPageSize = 50
	// maxPageSize is the greatest page_size (AIP-158).
	maxPageSize = 1000
	// maxPageBytes ends a page early, so that it stays below the 4 MiB that gRPC
	// clients accept by default; a spec may have 256 KiB.
	maxPageBytes = 3 << 20
)

// list answers ListActions from the store. A page may be shorter than asked where
// its actions are big; only an empty next_page_token means the end. A store that
// fails is UNAVAILABLE.
func list(ctx context.Context, st store.Actions, req *gnomonv1.ListActionsRequest) (*gnomonv1.ListActionsResponse, error) {
	query, size, err := listQuery(req)
	if err != nil {
		return nil, err
	}
	// One more row than the page holds tells whether there is a next page.
	query.Limit = size + 1
	rows, err := st.ListActions(ctx, query)
	if err != nil {
		return nil, fromStore(ctx, err)
	}
	page := &gnomonv1.ListActionsResponse{}
	bytes := 0
	for i, row := range rows {
		bytes += proto.Size(row.Action)
		if i == size || (i > 0 && bytes > maxPageBytes) {
			page.NextPageToken = listingOfActions(req).pageToken(position(rows[i-1], query.Order))
			break
		}
		page.Actions = append(page.Actions, row.Action)
	}
	return page, nil
}

// listQuery reads a request; the second result is the size of its page.
func listQuery(req *gnomonv1.ListActionsRequest) (store.ActionQuery, int, error) {
	query := store.ActionQuery{ShowFinished: req.GetShowFinished()}
	size, err := readPageSize(req.GetPageSize())
	if err != nil {
		return query, 0, err
	}
	if err := readFilter(req.GetFilter(), &query); err != nil {
		return query, 0, err
	}
	if query.Order, query.Descending, err = readOrder(req.GetOrderBy()); err != nil {
		return query, 0, err
	}
	query.After, err = listingOfActions(req).readPageToken(req.GetPageToken())
	return query, size, err
}

// readPageSize is how many rows a page has at most.
func readPageSize(size int32) (int, error) {
	switch {
	case size < 0 || size > maxPageSize:
		return 0, invalidField("page_size", action.RuleOutOfRange, fmt.Sprintf("must be 0 to %d, is %d", maxPageSize, size))
	case size == 0:
		return defaultPageSize, nil
	}
	return int(size), nil
}

// pageTime is the time that a page of batches ends at, where they are ordered by it.
func pageTime(order store.ActionOrder, b *gnomonv1.Batch) time.Time {
	if order == store.ByScheduledAt {
		return b.GetScheduledAt().AsTime()
	}
	return time.Time{}
}

// position is where a page that ends with row ends.
func position(row store.Row, order store.ActionOrder) store.ActionPosition {
	at := store.ActionPosition{ID: row.Action.GetMeta().GetId()}
	if scheduled := row.Action.GetStatus().GetScheduledAt(); order == store.ByScheduledAt && scheduled != nil {
		at.ScheduledAt = scheduled.AsTime()
	}
	return at
}
