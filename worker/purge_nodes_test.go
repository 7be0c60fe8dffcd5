package worker

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// A worker removes what finished longer ago than is to be kept, and of that all, and
// nothing where all is to be kept.
func TestPurgeOfNodes(t *testing.T) {
	t.Parallel()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	for name, age := range map[string]time.Duration{"old": 3 * time.Hour, "new": time.Hour} {
		at := timestamppb.New(time.Now().Add(-age))
		require.NoError(t, rows.PutNodeActions(t.Context(), []store.NodeActionRow{{
			Action: &gnomonv1.NodeAction{Id: name, Cluster: "c", State: gnomonv1.NodeAction_DONE, CreateTime: at, FinishTime: at},
		}}))
		require.NoError(t, rows.PutPlaybook(t.Context(), store.PlaybookRow{Playbook: &gnomonv1.Playbook{
			Id: name, Cluster: "c", CreateTime: at, Status: &gnomonv1.PlaybookStatus{State: gnomonv1.PlaybookStatus_DONE, FinishTime: at},
		}}))
	}
	quiet := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	purge(ctx, &ending{Store: rows, t: t, end: cancel}, 0, quiet)

	ctx, cancel = context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		purge(ctx, rows, 2*time.Hour, quiet)
	}()
	require.Eventually(t, func() bool { return !hasEither(t, rows, "old") }, 10*time.Second, time.Millisecond)
	cancel()
	<-over
	require.True(t, hasEither(t, rows, "new"))
	require.ErrorContains(t, Config{Store: rows, RetainNodes: time.Minute}.withDefaults().Validate(), "RetainNodes is 1m0s and must be at least 1h")
}

// ending is a store that ends the purge when it comes to what stands before nodes, whose
// rows are not to be purged.
type ending struct {
	store.Store

	t   *testing.T
	end func()
}

// PurgeEntityRequests implements store.Entities.
func (e *ending) PurgeEntityRequests(context.Context, time.Time, int) (int, error) {
	e.end()
	return 0, nil
}

// PurgeNodeActions implements store.Nodes.
func (e *ending) PurgeNodeActions(context.Context, time.Time, int) (int, error) {
	e.t.Error("all node actions are to be kept")
	return 0, nil
}

// hasEither says whether the store still has either row.
func hasEither(t *testing.T, rows store.Nodes, name string) bool {
	t.Helper()
	_, ofAction := rows.GetNodeAction(t.Context(), "c", name)
	_, ofPlaybook := rows.GetPlaybook(t.Context(), name)
	return ofAction == nil || ofPlaybook == nil
}
