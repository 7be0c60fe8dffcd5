package metrics

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
)

// Attempts are counted by kind and outcome, also those that only a workflow knows of.
func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()
	r, _, w := registry(t)
	w.AttemptBegan("http_request")
	w.AttemptBegan("http_request")
	w.OccurrenceBegan("http_request", 40*time.Millisecond)
	w.OccurrenceBegan("http_request", -time.Second)
	w.AttemptEnded("http_request", Failure, time.Second)
	w.AttemptRefused("http_request", Held)
	w.AttemptEnded("no-such-kind-secret-canary", Success, 0)
	require.InDelta(t, 1, value(t, r, "gnomon_attempts_running", "kind", "http_request"), 0)
	require.InDelta(t, 1, value(t, r, "gnomon_attempts_total", "kind", "http_request", "outcome", "failure"), 0)
	require.InDelta(t, 1, value(t, r, "gnomon_attempts_total", "kind", "unknown", "outcome", "success"), 0)
	require.InDelta(t, 1, value(t, r, "gnomon_attempts_refused_total", "kind", "http_request", "reason", "held"), 0)
	require.InDelta(t, 2, value(t, r, "gnomon_lag_seconds", "kind", "http_request"), 0)
	require.InDelta(t, .04, series(t, r, "gnomon_lag_seconds", "kind", "http_request").GetHistogram().GetSampleSum(), 1e-9)

	fromWorkflow := r.Temporal().WithTags(map[string]string{"namespace": "default", workflowv1.MetricTagKind: "other"}).
		WithTags(map[string]string{workflowv1.MetricTagKind: "mock_action"})
	fromWorkflow.Counter(workflowv1.MetricAttemptsLost).Inc(1)
	fromWorkflow.Counter("temporal_other").Inc(2)
	require.InDelta(t, 1, value(t, r, "gnomon_attempts_total", "kind", "mock_action", "outcome", "lost"), 0)
	require.InDelta(t, 2, value(t, r, "temporal_other_total", "namespace", "default"), 0)
}

// A process that is no worker has no counter for what workflows count.
func TestLostAttemptsWithoutWorker(t *testing.T) {
	t.Parallel()
	r, err := New("test")
	require.NoError(t, err)
	r.Temporal().Counter(workflowv1.MetricAttemptsLost).Inc(1)
	require.Nil(t, series(t, r, "gnomon_attempts_total"))
}

// What waits for the store is asked for at each scrape.
func TestBacklog(t *testing.T) {
	t.Parallel()
	r, _, w := registry(t)
	require.Nil(t, series(t, r, "gnomon_mirror_waiting_rows"))
	since := time.Now().Add(-time.Hour)
	w.WatchMirror(func() (int, time.Time) { return 7, since })
	require.InDelta(t, 7, value(t, r, "gnomon_mirror_waiting_rows"), 0)
	require.InDelta(t, 3600, value(t, r, "gnomon_mirror_oldest_waiting_seconds"), 60)
	w.WatchMirror(func() (int, time.Time) { return 0, time.Time{} })
	require.Zero(t, value(t, r, "gnomon_mirror_oldest_waiting_seconds"))
	w.RowStored(time.Second)
	w.RowsDropped(3)
	require.InDelta(t, 1, value(t, r, "gnomon_mirror_lag_seconds"), 0)
	require.InDelta(t, 3, value(t, r, "gnomon_mirror_dropped_rows_total"), 0)
}

// Repairs are counted by finding; a round that fails counts as such alone.
func TestRoundsAreCounted(t *testing.T) {
	t.Parallel()
	r, _, w := registry(t)
	w.RoundsEvery(10 * time.Minute)
	require.InDelta(t, 600, value(t, r, "gnomon_reconcile_interval_seconds"), 0)
	require.Zero(t, value(t, r, "gnomon_reconcile_last_round_timestamp_seconds"))
	report := reconcile.Report{
		Found:    map[reconcile.Kind]int64{reconcile.Missing: 3, reconcile.Young: 2},
		Repaired: map[reconcile.Kind]int64{reconcile.Missing: 1}, Took: 4,
	}
	w.RoundEnded(report, errors.New("stopped half-way"))
	require.InDelta(t, 1, value(t, r, "gnomon_reconcile_rounds_total", "result", "failed"), 0)
	require.Zero(t, value(t, r, "gnomon_reconcile_findings_total", "finding", "missing", "repaired", "true"))
	w.RoundEnded(report, nil)
	require.InDelta(t, 1, value(t, r, "gnomon_reconcile_findings_total", "finding", "missing", "repaired", "true"), 0)
	require.InDelta(t, 2, value(t, r, "gnomon_reconcile_findings_total", "finding", "missing", "repaired", "false"), 0)
	require.InDelta(t, 2, value(t, r, "gnomon_reconcile_findings_total", "finding", "young", "repaired", "false"), 0)
	require.InDelta(t, float64(time.Now().Unix()), value(t, r, "gnomon_reconcile_last_round_timestamp_seconds"), 60)
}

// Whoever is not measured asks no one.
func TestNothingIsMeasured(t *testing.T) {
	t.Parallel()
	var w *Worker
	w.AttemptBegan("a")
	w.OccurrenceBegan("a", 1)
	w.AttemptEnded("a", Success, 1)
	w.AttemptRefused("a", Held)
	w.WatchMirror(nil)
	w.RowStored(1)
	w.RowsDropped(1)
	w.RoundsEvery(1)
	w.RoundEnded(reconcile.Report{}, nil)
	var f *Facade
	f.WatchOverdue(t.Context(), nil, quiet)
	require.Empty(t, f.ServerOptions())
}
