package ydb

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/types"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/store"
)

// listNodeActionsStatement is the statement of a list, or nil where no row can be found.
func listNodeActionsStatement(q store.NodeActionQuery) (*statement, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("NodeActionQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	if !utf8.ValidString(q.Cluster) || !utf8.ValidString(q.Node) || !utf8.ValidString(q.Playbook) {
		return nil, nil //nolint:nilnil // nothing has such a name, and YDB would refuse the parameter
	}
	var b conditions
	b.where(whereCluster)
	b.add("$cluster", types.TextValue(q.Cluster))
	view := viewNodeActionsByCreatedAt
	if len(q.States) == 1 {
		view = viewNodeActionsByState
	}
	if q.Node != "" {
		b.where(whereNode)
		b.add("$node", types.TextValue(q.Node))
		view = viewNodeActionsByNode
	}
	if q.Playbook != "" {
		b.where(wherePlaybook)
		b.add("$playbook", types.TextValue(q.Playbook))
		view = viewNodeActionsByPlaybook
	}
	addNumbers(&b, q.States)
	if err := b.addAfter(whereAfterCreated, q.After); err != nil {
		return nil, fmt.Errorf("NodeActionQuery.%w", err)
	}
	b.page(listNodeActions+listView+view, orderByCreated+listNodeActionsEnd, q.Limit)
	return &b.statement, nil
}

// listPlaybooksStatement is the statement of a list, or nil where no row can be found.
func listPlaybooksStatement(q store.PlaybookQuery) (*statement, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("PlaybookQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	if !utf8.ValidString(q.Cluster) {
		return nil, nil //nolint:nilnil // as above
	}
	var b conditions
	b.where(whereAny)
	view := viewPlaybooksByCreatedAt
	if q.Cluster != "" {
		b.where(whereCluster)
		b.add("$cluster", types.TextValue(q.Cluster))
		view = viewPlaybooksByCluster
	}
	addNumbers(&b, q.States)
	if err := b.addAfter(whereBeforeCreated, q.After); err != nil {
		return nil, fmt.Errorf("PlaybookQuery.%w", err)
	}
	b.page(listPlaybooks+listView+view, orderByCreatedDesc+listPlaybooksEnd, q.Limit)
	return &b.statement, nil
}

// addNumbers restricts the states.
func addNumbers[S ~int32](b *conditions, states []S) {
	switch len(states) {
	case 0:
	case 1:
		b.where(whereOneState)
		b.add("$state", types.Int32Value(int32(states[0])))
	default:
		b.where(whereStates)
		b.add("$states", list(states, func(s S) types.Value { return types.Int32Value(int32(s)) }))
	}
}

// addAfter begins the page behind the one before.
func (b *conditions) addAfter(where string, after *store.ActionPosition) error {
	if after == nil {
		return nil
	}
	if !utf8.ValidString(after.ID) {
		return fmt.Errorf("After.ID must be valid UTF-8, but is %q", after.ID)
	}
	b.where(where)
	b.add("$after_at", types.Int64Value(after.ScheduledAt.UnixMicro()))
	b.add("$after_id", types.TextValue(after.ID))
	return nil
}

// page puts the statement together.
func (b *conditions) page(from, end string, limit int) {
	b.add("$limit", types.Uint64Value(uint64(limit)))
	b.text = from + listWhere + strings.Join(b.conditions, whereConjunction) + end
}

// byCreated compares by what rows are stored with.
func byCreated(a, b *timestamppb.Timestamp, idA, idB string) int {
	return cmp.Or(cmp.Compare(a.AsTime().UnixMicro(), b.AsTime().UnixMicro()), strings.Compare(idA, idB))
}
