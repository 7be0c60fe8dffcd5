package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
	"gnomon/store/internal/paging"
)

// listStatement is the statement and the parameters of a list.
func listStatement(q store.ActionQuery, now time.Time) (string, []any, error) {
	if q.Limit < 1 {
		return "", nil, fmt.Errorf("ActionQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	if q.ShowFinished {
		b.add(whereStands, sql.Named("now", now.UnixMicro()))
	} else {
		b.add(whereLives)
	}
	if err := b.addFilter(q); err != nil {
		return "", nil, err
	}
	order, err := b.addOrder("ActionQuery", actionPlaces, q.Order, q.Descending, q.After)
	if err != nil {
		return "", nil, err
	}
	b.arguments = append(b.arguments, sql.Named("limit", q.Limit))
	return selectRow + strings.Join(b.where, whereConjunction) + order, b.arguments, nil
}

// conditions are what a row must meet, and their parameters.
type conditions struct {
	where     []string
	arguments []any
}

func (b *conditions) add(where string, arguments ...any) {
	b.where = append(b.where, where)
	b.arguments = append(b.arguments, arguments...)
}

// addJSON adds a condition whose parameter is bound as JSON.
func (b *conditions) addJSON(where, name string, v any) error {
	text, err := textJSON(v)
	if err != nil {
		return fmt.Errorf("the filter by %s cannot be encoded: %w", name, err)
	}
	b.add(where, sql.Named(name, text))
	return nil
}

// addFilter adds what the query restricts.
func (b *conditions) addFilter(q store.ActionQuery) error {
	if len(q.States) > 0 {
		if err := b.addJSON(whereStates, "states", stateNumbers(q.States)); err != nil {
			return err
		}
	}
	if len(q.Kinds) > 0 {
		if err := b.addJSON(whereKinds, "kinds", q.Kinds); err != nil {
			return err
		}
	}
	if len(q.Labels) > 0 {
		if err := b.addJSON(whereLabels, "labels", q.Labels); err != nil {
			return err
		}
	}
	if q.ID != "" {
		b.add(whereHash, sql.Named("hash", hashID(q.ID)))
		b.add(whereID, sql.Named("id", q.ID))
	}
	known := reach{q.Order, q.Descending, q.After}
	b.addPrefix(q.IDPrefix, known, whereIDFrom, whereIDBefore)
	if !q.DueFrom.IsZero() || !q.DueBefore.IsZero() {
		// A row without a scheduled_at is in no range of it.
		from := mirror.Unscheduled + 1
		if !q.DueFrom.IsZero() {
			from = max(from, q.DueFrom.UnixMicro())
		}
		if !known.dueFrom(from) {
			b.add(whereDueFrom, sql.Named("due_from", from))
		}
	}
	if before := q.DueBefore.UnixMicro(); !q.DueBefore.IsZero() && !known.dueBefore(before) {
		b.add(whereDueBefore, sql.Named("due_before", before))
	}
	return nil
}

// addPrefix restricts ids to those that begin with a prefix, unless it is empty.
func (b *conditions) addPrefix(prefix string, known reach, whereFrom, whereBefore string) {
	if prefix == "" {
		return
	}
	if !known.idFrom(prefix) {
		b.add(whereFrom, sql.Named("id_from", prefix))
	}
	if before := afterPrefix(prefix); before != "" && !known.idBefore(before) {
		b.add(whereBefore, sql.Named("id_before", before))
	}
}

// actionPlaces are those of actions.
var actionPlaces = paging.Places{
	ByID: paging.Place{After: whereAfterID, Order: orderByID}, ByIDDesc: paging.Place{After: whereBeforeID, Order: orderByIDDesc},
	ByDue: paging.Place{After: whereAfterDueID, Order: orderByDueID}, ByDueDesc: paging.Place{After: whereBeforeDueID, Order: orderByDueIDDesc},
}

// addOrder adds where the page of a query begins and gives the order that belongs to it.
func (b *conditions) addOrder(query string, p paging.Places, order store.ActionOrder, descending bool, after *store.ActionPosition) (string, error) {
	at, err := p.In(query, order, descending)
	if err != nil {
		return "", err
	}
	if after != nil {
		b.add(at.After, sql.Named("after_id", after.ID))
		if order == store.ByScheduledAt {
			b.arguments = append(b.arguments, sql.Named("after_due", after.ScheduledAt.UnixMicro()))
		}
	}
	return at.Order, nil
}

// stateNumbers are the states as the column has them.
func stateNumbers(states []gnomonv1.Status_State) []int32 {
	numbers := make([]int32, len(states))
	for i, state := range states {
		numbers[i] = int32(state)
	}
	return numbers
}

// afterPrefix is the least text, in the order of bytes, that comes after all that
// begin with prefix. Empty where there is none. A range can use the index, LIKE
// would have its own ideas of %, _ and letter case.
func afterPrefix(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return ""
	}
	b[len(b)-1]++
	return string(b)
}
