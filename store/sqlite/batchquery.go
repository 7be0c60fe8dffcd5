package sqlite

import (
	"database/sql"
	"fmt"
	"strings"

	"gnomon/store"
	"gnomon/store/internal/paging"
)

// listBatchesStatement is the statement and the parameters of a list of batches.
func listBatchesStatement(q store.BatchQuery) (string, []any, error) {
	if q.Limit < 1 {
		return "", nil, fmt.Errorf("BatchQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	b.add(whereBatch)
	switch len(q.States) {
	case 0:
	case 1: // so that the index of states has the order too
		b.add(whereBatchState, sql.Named("state", int32(q.States[0])))
	default:
		numbers := make([]int32, len(q.States))
		for i, state := range q.States {
			numbers[i] = int32(state)
		}
		if err := b.addJSON(whereStates, "states", numbers); err != nil {
			return "", nil, err
		}
	}
	if len(q.Labels) > 0 {
		if err := b.addJSON(whereBatchLabels, "labels", q.Labels); err != nil {
			return "", nil, err
		}
	}
	if q.ID != "" {
		b.add(whereBatchID, sql.Named("id", q.ID))
	}
	known := reach{q.Order, q.Descending, q.After}
	b.addPrefix(q.IDPrefix, known, whereBatchIDFrom, whereBatchIDBefore)
	if from := q.DueFrom.UnixMicro(); !q.DueFrom.IsZero() && !known.dueFrom(from) {
		b.add(whereBatchDueFrom, sql.Named("due_from", from))
	}
	if before := q.DueBefore.UnixMicro(); !q.DueBefore.IsZero() && !known.dueBefore(before) {
		b.add(whereBatchDueBefore, sql.Named("due_before", before))
	}
	order, err := b.addOrder("BatchQuery", batchPlaces, q.Order, q.Descending, q.After)
	if err != nil {
		return "", nil, err
	}
	b.arguments = append(b.arguments, sql.Named("limit", q.Limit))
	return selectBatches + strings.Join(b.where, whereConjunction) + order, b.arguments, nil
}

// batchPlaces are those of batches.
var batchPlaces = paging.Places{
	ByID: paging.Place{After: whereBatchAfterID, Order: orderBatchesByID}, ByIDDesc: paging.Place{After: whereBatchBeforeID, Order: orderBatchesByIDDesc},
	ByDue: paging.Place{After: whereBatchAfterDueID, Order: orderBatchesByDue}, ByDueDesc: paging.Place{After: whereBatchBeforeDueID, Order: orderBatchesByDueDesc},
}
