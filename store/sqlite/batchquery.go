package sqlite

import (
	"database/sql"
	"fmt"
	"strings"

	"gnomon/store"
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
	if q.IDPrefix != "" {
		b.add(whereBatchIDFrom, sql.Named("id_from", q.IDPrefix))
		if before := afterPrefix(q.IDPrefix); before != "" {
			b.add(whereBatchIDBefore, sql.Named("id_before", before))
		}
	}
	if !q.DueFrom.IsZero() {
		b.add(whereBatchDueFrom, sql.Named("due_from", q.DueFrom.UnixMicro()))
	}
	if !q.DueBefore.IsZero() {
		b.add(whereBatchDueBefore, sql.Named("due_before", q.DueBefore.UnixMicro()))
	}
	order, err := b.addBatchOrder(q)
	if err != nil {
		return "", nil, err
	}
	b.arguments = append(b.arguments, sql.Named("limit", q.Limit))
	return selectBatches + strings.Join(b.where, whereConjunction) + order, b.arguments, nil
}

// addBatchOrder adds where the page begins and gives the order that belongs to it.
func (b *conditions) addBatchOrder(q store.BatchQuery) (string, error) {
	var after, order string
	switch {
	case q.Order == store.ByID && q.Descending:
		after, order = whereBatchBeforeID, orderBatchesByIDDesc
	case q.Order == store.ByID:
		after, order = whereBatchAfterID, orderBatchesByID
	case q.Order == store.ByScheduledAt && q.Descending:
		after, order = whereBatchBeforeDueID, orderBatchesByDueDesc
	case q.Order == store.ByScheduledAt:
		after, order = whereBatchAfterDueID, orderBatchesByDue
	default:
		return "", fmt.Errorf("BatchQuery.Order must be ByScheduledAt or ByID, but is %d", q.Order)
	}
	if q.After != nil {
		b.add(after, sql.Named("after_id", q.After.ID))
		if q.Order == store.ByScheduledAt {
			b.arguments = append(b.arguments, sql.Named("after_due", q.After.ScheduledAt.UnixMicro()))
		}
	}
	return order, nil
}
