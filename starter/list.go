package starter

import (
	"context"
	"fmt"

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
			page.NextPageToken = pageToken(req, position(rows[i-1], query.Order))
			break
		}
		page.Actions = append(page.Actions, row.Action)
	}
	return page, nil
}

// listQuery reads a request; the second result is the size of its page.
func listQuery(req *gnomonv1.ListActionsRequest) (store.ActionQuery, int, error) {
	query := store.ActionQuery{ShowFinished: req.GetShowFinished()}
	size := int(req.GetPageSize())
	if size < 0 || size > maxPageSize {
		return query, 0, invalidField("page_size", action.RuleOutOfRange, fmt.Sprintf("must be 0 to %d, is %d", maxPageSize, size))
	}
	if size == 0 {
		size = defaultPageSize
	}
	if err := readFilter(req.GetFilter(), &query); err != nil {
		return query, 0, err
	}
	if err := readOrder(req.GetOrderBy(), &query); err != nil {
		return query, 0, err
	}
	after, err := readPageToken(req)
	if err != nil {
		return query, 0, err
	}
	query.After = after
	return query, size, nil
}

// position is where a page that ends with row ends.
func position(row store.Row, order store.ActionOrder) store.ActionPosition {
	at := store.ActionPosition{ID: row.Action.GetMeta().GetId()}
	if scheduled := row.Action.GetStatus().GetScheduledAt(); order == store.ByScheduledAt && scheduled != nil {
		at.ScheduledAt = scheduled.AsTime()
	}
	return at
}
