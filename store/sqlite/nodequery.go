package sqlite

import (
	"database/sql"
	"fmt"
	"strings"

	"gnomon/store"
)

// listNodeActionsStatement is the statement and the parameters of a list.
func listNodeActionsStatement(q store.NodeActionQuery) (string, []any, error) {
	if q.Limit < 1 {
		return "", nil, fmt.Errorf("NodeActionQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	b.add(whereCluster, sql.Named("cluster", q.Cluster))
	if q.Node != "" {
		b.add(whereNode, sql.Named("node", q.Node))
	}
	if q.Playbook != "" {
		b.add(wherePlaybook, sql.Named("playbook", q.Playbook))
	}
	if err := addNumbers(&b, q.States); err != nil {
		return "", nil, err
	}
	if q.After != nil {
		b.add(whereAfterCreated, sql.Named("after_at", q.After.ScheduledAt.UnixMicro()), sql.Named("after_id", q.After.ID))
	}
	b.arguments = append(b.arguments, sql.Named("limit", q.Limit))
	return selectNodeActions + strings.Join(b.where, whereConjunction) + orderByCreated, b.arguments, nil
}

// listPlaybooksStatement is the statement and the parameters of a list.
func listPlaybooksStatement(q store.PlaybookQuery) (string, []any, error) {
	if q.Limit < 1 {
		return "", nil, fmt.Errorf("PlaybookQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	var b conditions
	b.add(whereAny)
	if q.Cluster != "" {
		b.add(whereCluster, sql.Named("cluster", q.Cluster))
	}
	if err := addNumbers(&b, q.States); err != nil {
		return "", nil, err
	}
	if q.After != nil {
		b.add(whereBeforeCreated, sql.Named("after_at", q.After.ScheduledAt.UnixMicro()), sql.Named("after_id", q.After.ID))
	}
	b.arguments = append(b.arguments, sql.Named("limit", q.Limit))
	return selectPlaybooks + strings.Join(b.where, whereConjunction) + orderByCreatedDesc, b.arguments, nil
}

// addNumbers restricts the states. One alone is compared, so that the index of states
// has the order too.
func addNumbers[S ~int32](b *conditions, states []S) error {
	switch len(states) {
	case 0:
		return nil
	case 1:
		b.add(whereOneState, sql.Named("state", int32(states[0])))
		return nil
	}
	numbers := make([]int32, len(states))
	for i, state := range states {
		numbers[i] = int32(state)
	}
	return b.addJSON(whereStates, "states", numbers)
}
