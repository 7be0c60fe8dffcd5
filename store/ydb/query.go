package ydb

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
	"gnomon/store/internal/paging"
)

// listStatement is the statement of a list, or nil where no row can be found.
func listStatement(q store.ActionQuery, now time.Time) (*statement, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("ActionQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	if q.ShowFinished {
		b.where(whereStands)
		b.add("$now", timestamp(now))
	} else {
		b.where(whereLives)
	}
	order, err := b.addOrder("ActionQuery", actionPlaces, q.Order, q.Descending, q.After)
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(q.ID) || !utf8.ValidString(q.IDPrefix) {
		return nil, nil //nolint:nilnil // no id is such a text, and YDB would refuse the parameter
	}
	b.addFilter(q)
	b.add("$limit", types.Uint64Value(uint64(q.Limit)))
	from := listPage + listView + viewOf(q)
	if q.ID != "" { // the key is the shortest way
		from = listPage
	}
	b.text = from + listWhere + strings.Join(b.conditions, whereConjunction) + order + listEnd
	return &b.statement, nil
}

// viewOf is the index that has the rows in the query's order.
func viewOf(q store.ActionQuery) string {
	if q.Order == store.ByID {
		return viewByID
	}
	return viewByScheduledAt
}

// conditions are what a row must meet, and their parameters.
type conditions struct {
	statement

	conditions []string
}

func (b *conditions) where(condition string) { b.conditions = append(b.conditions, condition) }

// addFilter adds what the query restricts.
func (b *conditions) addFilter(q store.ActionQuery) {
	if len(q.States) > 0 {
		b.where(whereStates)
		b.add("$states", list(q.States, func(s gnomonv1.Status_State) types.Value { return types.Int32Value(int32(s)) }))
	}
	if len(q.Kinds) > 0 {
		b.where(whereKinds)
		b.add("$kinds", list(q.Kinds, types.TextValue))
	}
	for i, key := range slices.Sorted(maps.Keys(q.Labels)) {
		b.where(fmt.Sprintf(whereLabelFormat, i))
		b.add(fmt.Sprintf("$label_%d", i), types.TextValue("&"+labelText(key, q.Labels[key])+"&"))
	}
	if q.ID != "" {
		b.where(whereID)
		b.add("$hash", types.Uint64Value(mirror.HashID(q.ID)))
		b.add("$id", types.TextValue(q.ID))
	}
	if q.IDPrefix != "" {
		b.where(whereIDFrom)
		b.add("$id_from", types.TextValue(q.IDPrefix))
		if before := afterPrefix(q.IDPrefix); before != "" {
			b.where(whereIDBefore)
			b.add("$id_before", types.TextValue(before))
		}
	}
	// A row without a scheduled_at is in no range of it.
	if !q.DueFrom.IsZero() || !q.DueBefore.IsZero() {
		b.where(whereScheduled)
		b.add("$unscheduled", types.Int64Value(mirror.Unscheduled))
	}
	if !q.DueFrom.IsZero() {
		b.where(whereDueFrom)
		b.add("$due_from", types.Int64Value(q.DueFrom.UnixMicro()))
	}
	if !q.DueBefore.IsZero() {
		b.where(whereDueBefore)
		b.add("$due_before", types.Int64Value(q.DueBefore.UnixMicro()))
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
	if after == nil {
		return at.Order, nil
	}
	if !utf8.ValidString(after.ID) {
		return "", fmt.Errorf("%s.After.ID must be valid UTF-8, but is %q", query, after.ID)
	}
	b.where(at.After)
	b.add("$after_id", types.TextValue(after.ID))
	if order == store.ByScheduledAt {
		b.add("$after_due", types.Int64Value(after.ScheduledAt.UnixMicro()))
	}
	return at.Order, nil
}

// sortRows puts the rows of a page in the query's order.
func sortRows(rows []store.Row, q store.ActionQuery) {
	slices.SortFunc(rows, func(a, b store.Row) int {
		order := strings.Compare(a.Action.GetMeta().GetId(), b.Action.GetMeta().GetId())
		if q.Order == store.ByScheduledAt {
			order = cmp.Or(cmp.Compare(due(a), due(b)), order)
		}
		if q.Descending {
			return -order
		}
		return order
	})
}

// due is the column that a row is ordered by.
func due(r store.Row) int64 {
	if at := r.Action.GetStatus().GetScheduledAt(); at != nil {
		return at.AsTime().UnixMicro()
	}
	return mirror.Unscheduled
}

// list is a parameter of several values, at least one.
func list[T any](items []T, value func(T) types.Value) types.Value {
	values := make([]types.Value, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return types.ListValue(values...)
}

// afterPrefix is the least text, in the order of bytes, that comes after all that
// begin with prefix, or empty where there is none. It is valid UTF-8, as YDB's text
// must be: the last code point is counted up, not the last byte.
func afterPrefix(prefix string) string {
	const surrogates, afterSurrogates = 0xd800, 0xe000
	runes := []rune(strings.TrimRight(prefix, string(utf8.MaxRune)))
	if len(runes) == 0 {
		return ""
	}
	last := runes[len(runes)-1] + 1
	if last == surrogates {
		last = afterSurrogates
	}
	runes[len(runes)-1] = last
	return string(runes)
}
