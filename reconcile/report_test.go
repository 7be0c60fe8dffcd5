package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/reconcile"
)

func TestReportForPeople(t *testing.T) {
	t.Parallel()
	r := reconcile.Report{
		Began: now, Took: 2, Workflows: 7, Rows: 9,
		Found: map[reconcile.Kind]int64{reconcile.Missing: 2, reconcile.Stale: 3, reconcile.Unanswered: 1, reconcile.Foreign: 1, reconcile.Young: 4},
	}
	require.EqualValues(t, 5, r.Wrong())
	require.EqualValues(t, 5, r.Left())
	require.EqualValues(t, 2, r.Unjudged())
	require.Equal(t, "7 open workflows and 9 living rows compared: 2 missing, 3 stale, 5 not repaired; 4 left alone as young; 1 left alone as unanswered; 1 left alone as foreign", r.Sentence())
	r.DryRun = true
	require.Contains(t, r.Sentence(), "nothing repaired as this is a dry run")
	r.DryRun, r.Repaired = false, map[reconcile.Kind]int64{reconcile.Missing: 2, reconcile.Stale: 3}
	require.Zero(t, r.Left())
	require.Contains(t, r.Sentence(), "all repaired")
	for range 12 {
		r.Items = append(r.Items, reconcile.Item{ID: "a", Kind: reconcile.Stale, Why: "because"})
	}
	require.Contains(t, r.Table(), "| missing | 2, repaired 2 |")
	require.Contains(t, r.Table(), "- `a` stale: because")
	require.Contains(t, r.Table(), "and 2 more")
	require.Equal(t, "0 open workflows and 0 living rows compared: nothing wrong", reconcile.Report{}.Sentence())
}

func TestConfigIsValidated(t *testing.T) {
	t.Parallel()
	_, err := reconcile.Run(context.Background(), reconcile.Config{Rate: -1, Grace: -time.Second, Page: 2000}, reconcile.Cursor{})
	require.ErrorContains(t, err, "Client and Store must be set")
	require.ErrorContains(t, err, "Rate is -1 and must be above 0")
	require.ErrorContains(t, err, "Grace is -1s")
	require.ErrorContains(t, err, "Page is 2000 and must be 1 to 1000")
}
