package ydb

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
	"gnomon/store/internal/paging"
)

// listBatchesStatement is the statement of a list, or nil where no row can be found.
func listBatchesStatement(q store.BatchQuery) (*statement, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("BatchQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	b.where(whereBatch)
	order, err := b.addOrder("BatchQuery", batchPlaces, q.Order, q.Descending, q.After)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(q.ID) || !utf8.ValidString(q.IDPrefix) {
		return nil, nil //nolint:nilnil // no id is such a text, and YDB would refuse the parameter
	}
	b.addBatchFilter(q)
	b.add("$limit", types.Uint64Value(uint64(q.Limit)))
	from := listBatches + listView + viewOfBatches(q)
	if q.ID != "" { // the key is the shortest way
		from = listBatches
	}
	b.text = from + listWhere + strings.Join(b.conditions, whereConjunction) + order + listBatchesEnd
	return &b.statement, nil
}

// viewOfBatches is the index that has the rows in the query's order.
func viewOfBatches(q store.BatchQuery) string {
	switch {
	case q.Order == store.ByID:
		return viewBatchesByID
	case len(q.States) == 1:
		return viewBatchesByState
	default:
		return viewBatchesByScheduledAt
	}
}

// addBatchFilter adds what the query restricts.
func (b *conditions) addBatchFilter(q store.BatchQuery) {
	switch len(q.States) {
	case 0:
	case 1:
		b.where(whereBatchState)
		b.add("$state", types.Int32Value(int32(q.States[0])))
	default:
		b.where(whereStates)
		b.add("$states", list(q.States, func(s gnomonv1.BatchStatus_State) types.Value { return types.Int32Value(int32(s)) }))
	}
	for i, key := range slices.Sorted(maps.Keys(q.Labels)) {
		b.where(fmt.Sprintf(whereLabelFormat, i))
		b.add(fmt.Sprintf("$label_%d", i), types.TextValue("&"+labelText(key, q.Labels[key])+"&"))
	}
	if q.ID != "" {
		b.where(whereBatchID)
		b.add("$hash", types.Uint64Value(mirror.HashID(q.ID)))
		b.add("$id", types.TextValue(q.ID))
	}
	if q.IDPrefix != "" {
		b.where(whereBatchIDFrom)
		b.add("$id_from", types.TextValue(q.IDPrefix))
		if before := afterPrefix(q.IDPrefix); before != "" {
			b.where(whereBatchIDBefore)
			b.add("$id_before", types.TextValue(before))
		}
	}
	if !q.DueFrom.IsZero() {
		b.where(whereBatchDueFrom)
		b.add("$due_from", types.Int64Value(q.DueFrom.UnixMicro()))
	}
	if !q.DueBefore.IsZero() {
		b.where(whereBatchDueBefore)
		b.add("$due_before", types.Int64Value(q.DueBefore.UnixMicro()))
	}
}

// batchPlaces are those of batches.
var batchPlaces = paging.Places{
	ByID: paging.Place{After: whereBatchAfterID, Order: orderBatchesByID}, ByIDDesc: paging.Place{After: whereBatchBeforeID, Order: orderBatchesByIDDesc},
	ByDue: paging.Place{After: whereBatchAfterDueID, Order: orderBatchesByDue}, ByDueDesc: paging.Place{After: whereBatchBeforeDueID, Order: orderBatchesByDueDesc},
}

// sortBatches puts the rows of a page in the query's order.
func sortBatches(rows []store.BatchRow, q store.BatchQuery) {
	slices.SortFunc(rows, func(a, b store.BatchRow) int {
		order := strings.Compare(a.Batch.GetId(), b.Batch.GetId())
		if q.Order == store.ByScheduledAt {
			order = cmp.Or(a.Batch.GetScheduledAt().AsTime().Compare(b.Batch.GetScheduledAt().AsTime()), order)
		}
		if q.Descending {
			return -order
		}
		return order
	})
}
