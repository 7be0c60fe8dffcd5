package ydb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// Issue 4: paging through 200,000 rows (GNOMON_TEST_ROWS) sees each exactly once, and
// each page is read along an index: nothing is scanned, nothing sorted.
func TestManyRows(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	server.Plan()
	storetest.Many(t, func(t *testing.T, o storetest.Options) store.Actions {
		t.Helper()
		return open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Timeout: time.Minute})
	})
	requireIndexes(t, server)
}

// Every statement that reads is planned here: each filter, order and direction, with
// and without a page before, and those by key.
func TestNoStatementScans(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), TombstoneTTL: time.Nanosecond})
	_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1), tombstone("b")})
	require.NoError(t, err)
	server.Plan()
	for _, q := range []store.ActionQuery{
		{},
		{ShowFinished: true},
		{States: []gnomonv1.Status_State{1, 2}, Kinds: []string{"http_request"}, Labels: map[string]string{"a": "b", "c": "d"}},
		{IDPrefix: "a"},
		{ID: "a"},
		{DueFrom: time.Unix(1, 0), DueBefore: time.Unix(2, 0)},
	} {
		for _, q.Order = range []store.ActionOrder{store.ByScheduledAt, store.ByID} {
			for _, q.Descending = range []bool{false, true} {
				for _, q.After = range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
					q.Limit = 50
					_, err := s.ListActions(t.Context(), q)
					require.NoError(t, err)
				}
			}
		}
	}
	_, err = s.GetAction(t.Context(), "a")
	require.NoError(t, err)
	purged, err := s.PurgeActions(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, purged)
	_, err = s.InsertAction(t.Context(), numbered("a", 0))
	require.NoError(t, err)
	_, err = s.PutActions(t.Context(), []store.Row{numbered("a", 2)})
	require.NoError(t, err)
	planBatches(t, s)
	planNodes(t, s)
	planEntities(t, s)
	requireIndexes(t, server)
	plans := server.Plans()
	require.Greater(t, len(plans), 30)
	covered := 0
	for statement, plan := range plans {
		if strings.Contains(statement, "INDEXED BY") {
			require.Contains(t, plan, "USING COVERING INDEX", statement)
			covered++
		}
	}
	require.Greater(t, covered, 30)
}

// requireIndexes holds that every step reads by key, along an index, or what the
// statement itself has found or was given.
func requireIndexes(t *testing.T, server *ydbdouble.Server) {
	t.Helper()
	plans := server.Plans()
	require.NotEmpty(t, plans)
	for statement, plan := range plans {
		if strings.Contains(statement, "goose_db_version") { // goose's own
			continue
		}
		require.NotContains(t, plan, "TEMP B-TREE", statement)
		for step := range strings.SplitSeq(plan, "\n") {
			own := strings.HasPrefix(step, "SCAN p") || strings.HasPrefix(step, "SCAN r") || strings.HasPrefix(step, "SCAN (subquery")
			whole := strings.HasPrefix(step, "SCAN") && !own && !strings.Contains(step, "USING COVERING INDEX")
			require.False(t, whole, "%s\nin\n%s\nof\n%s", step, plan, statement)
		}
	}
}

// planBatches has every statement of batches planned.
func planBatches(t *testing.T, s *ydb.Store) {
	t.Helper()
	for _, q := range []store.BatchQuery{
		{},
		{States: []gnomonv1.BatchStatus_State{1}},
		{States: []gnomonv1.BatchStatus_State{1, 2}, Labels: map[string]string{"a": "b", "c": "d"}},
		{IDPrefix: "a"},
		{ID: "a"},
		{DueFrom: time.Unix(1, 0), DueBefore: time.Unix(2, 0)},
	} {
		for _, q.Order = range []store.ActionOrder{store.ByScheduledAt, store.ByID} {
			for _, q.Descending = range []bool{false, true} {
				for _, q.After = range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
					q.Limit = 50
					_, err := s.ListBatches(t.Context(), q)
					require.NoError(t, err)
				}
			}
		}
	}
	liveBatch(t, s, func(_ string, call func() error) { require.NoError(t, call()) })
}

// planNodes has every statement of node actions and playbooks planned.
func planNodes(t *testing.T, s *ydb.Store) {
	t.Helper()
	for _, after := range []*store.ActionPosition{nil, {ID: "a", ScheduledAt: time.Unix(1, 0)}} {
		for _, q := range []store.NodeActionQuery{
			{},
			{Node: "n", States: []gnomonv1.NodeAction_State{1, 2}},
			{Playbook: "p", Node: "n", States: []gnomonv1.NodeAction_State{1}},
			{States: []gnomonv1.NodeAction_State{1}},
		} {
			q.Cluster, q.After, q.Limit = "c", after, 50
			_, err := s.ListNodeActions(t.Context(), q)
			require.NoError(t, err)
		}
		for _, q := range []store.PlaybookQuery{{}, {Cluster: "c"}, {States: []gnomonv1.PlaybookStatus_State{1, 2}}} {
			q.After, q.Limit = after, 50
			_, err := s.ListPlaybooks(t.Context(), q)
			require.NoError(t, err)
		}
	}
	liveNodes(t, s, func(_ string, call func() error) { require.NoError(t, call()) })
	for _, purge := range []func(context.Context, time.Time, int) (int, error){s.PurgeNodeActions, s.PurgePlaybooks} {
		_, err := purge(t.Context(), time.Unix(1, 0), 10)
		require.NoError(t, err)
	}
}

// planEntities has every statement of entities planned.
func planEntities(t *testing.T, s *ydb.Store) {
	t.Helper()
	planted, _ := storetest.RunEntityFaults(t, s, func(int) (context.Context, func() bool) {
		return t.Context(), func() bool { return false }
	})
	require.Zero(t, planted)
	for _, after := range []string{"", "a"} {
		_, err := s.ListEntities(t.Context(), store.EntityQuery{Type: "faults", After: after, Limit: 50})
		require.NoError(t, err)
		_, err = s.Forgotten(t.Context(), time.Unix(1<<40, 0), store.EntityKey{Type: after, ID: after}, 50)
		require.NoError(t, err)
	}
	_, err := s.PeekQueue(t.Context(), store.QueueQuery{Stage: "s", After: &store.QueueEntry{EnqueueTime: time.Unix(1, 0)}, Limit: 50})
	require.NoError(t, err)
	n, err := s.CountEntities(t.Context(), "faults")
	require.NoError(t, err)
	require.Positive(t, n)
	purged, err := s.PurgeEntityRequests(t.Context(), time.Unix(1<<40, 0), 10)
	require.NoError(t, err)
	require.Positive(t, purged)
}
