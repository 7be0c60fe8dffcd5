package sqlite

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// plan is how SQLite would run a statement, one step a line.
func plan(t *testing.T, s *Store, statement string, arguments []any) string {
	t.Helper()
	rows, err := s.db.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, arguments...)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	require.NoError(t, rows.Err())
	return strings.Join(steps, "\n")
}

// A page must cost the same whether a hundred actions wait or a million: read along
// an index from where the page before ended, and nothing is sorted.
func TestPagesAreReadAlongAnIndex(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	for index, order := range map[string]store.ActionOrder{
		"scheduled_actions_by_scheduled_at": store.ByScheduledAt, "scheduled_actions_by_id": store.ByID,
	} {
		for _, q := range []store.ActionQuery{
			{},
			{Descending: true},
			{ShowFinished: true},
			{Labels: map[string]string{"a": "b"}, Kinds: []string{"http_request"}},
		} {
			q.Order, q.Limit = order, 50
			for _, q.After = range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
				statement, arguments, err := listStatement(q, time.Unix(2, 0))
				require.NoError(t, err)
				got := plan(t, s, statement, arguments)
				used := index
				if order == store.ByScheduledAt && !q.ShowFinished {
					// In the index of all, what finished would have to be passed first.
					used = "scheduled_actions_living_by_scheduled_at"
				}
				require.Contains(t, got, "USING INDEX "+used, "%+v", q)
				require.NotContains(t, got, "TEMP B-TREE", "%+v", q)
				if q.After != nil {
					require.Contains(t, got, "SEARCH scheduled_actions", "%+v", q)
				}
			}
		}
	}
}

func TestSingleRowsAreFoundByKey(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	got := plan(t, s, statementGet, []any{sql.Named("hash", 1), sql.Named("id", "a"), sql.Named("now", 1)})
	require.Contains(t, got, "(meta_action_id_hash=? AND meta_action_id=?)")
	statement, arguments, err := listStatement(store.ActionQuery{ID: "a", Limit: 1}, time.Unix(2, 0))
	require.NoError(t, err)
	require.Contains(t, plan(t, s, statement, arguments), "(meta_action_id_hash=? AND meta_action_id=?)")
}

func TestPrefixIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	statement, arguments, err := listStatement(store.ActionQuery{IDPrefix: "a", Order: store.ByID, Limit: 1}, time.Unix(2, 0))
	require.NoError(t, err)
	require.Contains(t, plan(t, s, statement, arguments), "scheduled_actions_by_id (meta_action_id>? AND meta_action_id<?)")
}

func TestPurgeReadsOnlyWhatExpired(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	got := plan(t, s, statementPurge, []any{sql.Named("now", 1), sql.Named("limit", 1)})
	require.Contains(t, got, "scheduled_actions_by_expire_at (expire_at<?)")
}

func TestPurgesOfNodesReadOnlyWhatFinished(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	arguments := []any{sql.Named("before", 1), sql.Named("limit", 1)}
	require.Contains(t, plan(t, s, statementPurgeNodeActions, arguments), "node_actions_by_finished_at (finished_at<?)")
	require.Contains(t, plan(t, s, statementPurgePlaybooks, arguments), "playbooks_by_finished_at (finished_at<?)")
}

func TestAfterPrefix(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{
		"a": "b", "ab": "ac", "a~": "a\x7f", "a\x7f": "a\x80", "\xff": "", "a\xff\xff": "b", "": "",
	} {
		require.Equal(t, want, afterPrefix(prefix), "%q", prefix)
	}
}

// Pages of batches are read along an index, with and without a state.
func TestPagesOfBatchesAreReadAlongAnIndex(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	for index, q := range map[string]store.BatchQuery{
		"INDEX batches_by_scheduled_at": {Labels: map[string]string{"a": "b"}},
		"INDEX batches_by_state":        {States: []gnomonv1.BatchStatus_State{gnomonv1.BatchStatus_PENDING}},
		"PRIMARY KEY":                   {Order: store.ByID, IDPrefix: "a"},
	} {
		q.Limit = 50
		for _, q.Descending = range []bool{false, true} {
			for _, q.After = range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
				statement, arguments, err := listBatchesStatement(q)
				require.NoError(t, err)
				got := plan(t, s, statement, arguments)
				require.Contains(t, got, index, "%+v", q)
				require.NotContains(t, got, "TEMP B-TREE", "%+v", q)
			}
		}
	}
	for _, statement := range []string{statementBatch, statementStaged, statementChanges, statementChange, statementHasChanges, statementOldStaged} {
		got := plan(t, s, statement, []any{
			sql.Named("id", "a"), sql.Named("uid", "a"), sql.Named("change_index", 0), sql.Named("before", 1), sql.Named("limit", 1),
		})
		require.Contains(t, got, "SEARCH", statement)
		require.NotContains(t, got, "SCAN", statement)
		require.NotContains(t, got, "TEMP B-TREE", statement)
	}
}

// Pages of node actions and playbooks are read along the index of what restricts them.
func TestPagesOfNodesAreReadAlongAnIndex(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	for _, after := range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
		for index, q := range map[string]store.NodeActionQuery{
			"node_actions_by_created_at": {},
			"node_actions_by_node":       {Node: "n", States: []gnomonv1.NodeAction_State{1, 2}},
			"node_actions_by_playbook":   {Playbook: "p"},
			"node_actions_by_state":      {States: []gnomonv1.NodeAction_State{1}},
		} {
			q.Cluster, q.After, q.Limit = "c", after, 50
			statement, arguments, err := listNodeActionsStatement(q)
			require.NoError(t, err)
			requireAlong(t, s, index, statement, arguments)
		}
		for index, q := range map[string]store.PlaybookQuery{
			"playbooks_by_created_at": {States: []gnomonv1.PlaybookStatus_State{1}},
			"playbooks_by_cluster":    {Cluster: "c"},
		} {
			q.After, q.Limit = after, 50
			statement, arguments, err := listPlaybooksStatement(q)
			require.NoError(t, err)
			requireAlong(t, s, index, statement, arguments)
		}
	}
	requireAlong(t, s, "PRIMARY KEY", statementNodeAction, []any{sql.Named("cluster", "c"), sql.Named("id", "a")})
	requireAlong(t, s, "PRIMARY KEY", statementPlaybook, []any{sql.Named("id", "a")})
}

func requireAlong(t *testing.T, s *Store, index, statement string, arguments []any) {
	t.Helper()
	got := plan(t, s, statement, arguments)
	require.Contains(t, got, index, statement)
	require.NotContains(t, got, "TEMP B-TREE", statement)
}

// Pages of entities, queues and what is forgotten are read along an index, and all that
// belongs to one entity by its key.
func TestEntitiesAreReadAlongAnIndex(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	var arguments []any
	for _, name := range []string{
		"type", "id", "stage", "request_id", "after", "limit", "before", "sequence", "holder", "version", "deleted", "commit_id", "entity",
	} {
		arguments = append(arguments, sql.Named(name, 1))
	}
	for index, statement := range map[string]string{
		"entities_living":                                  statementListEntities,
		"entities_living ":                                 statementCountEntities,
		"sqlite_autoindex_entities_1":                      statementEntity,
		"USING PRIMARY KEY":                                statementTurn,
		"USING PRIMARY KEY ":                               statementEndTurn,
		"(entity_type=? AND entity_id=":                    statementStates,
		"(entity_type=? AND entity_id=? AND stage=?)":      statementState,
		"(entity_type=? AND entity_id=? AND sequence<?)":   statementPublished,
		"sqlite_autoindex_entity_records_1":                statementUnpublished,
		"(entity_type=? AND entity_id=? AND request_id=?)": statementRequest,
		"entity_requests_by_used_at":                       statementPurgeRequests,
		"USING PRIMARY KEY  ":                              statementQueueRevision,
		"stage_queue_inverted":                             statementLeaveQueues,
		"(stage=?)":                                        statementSlots,
		"(stage=? AND holder=?)":                           statementReleaseSlot,
		"USING PRIMARY KEY   ":                             statementRewalk,
		"entity_records_by_committed_at":                   statementForgotten,
	} {
		got := plan(t, s, statement, arguments)
		require.Contains(t, got, strings.TrimSpace(index), statement)
		require.Contains(t, got, "SEARCH", statement)
		require.NotContains(t, got, "SCAN", statement)
		require.NotContains(t, got, "TEMP B-TREE", statement)
	}
	for _, after := range []*store.QueueEntry{nil, {Key: store.EntityKey{Type: "a", ID: "b"}, EnqueueTime: time.Unix(1, 0)}} {
		statement, arguments := peekStatement(store.QueueQuery{Stage: "s", After: after, Limit: 50})
		requireAlong(t, s, "SEARCH stage_queue USING PRIMARY KEY (stage=?", statement, arguments)
	}
}
