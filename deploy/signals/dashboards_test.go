package signals_test

import (
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/stretchr/testify/require"

	"gnomon/deploy/signals"
)

// Dashboards are what Grafana provisions: panels with ids and titles of their own, each
// of which asks for something that can be parsed.
func TestDashboards(t *testing.T) {
	t.Parallel()
	boards, err := signals.Dashboards(directory)
	require.NoError(t, err)
	require.NotEmpty(t, boards)
	for name, panels := range boards {
		ids, titles := map[int]bool{}, map[string]bool{}
		for _, p := range panels {
			require.False(t, ids[p.ID], "%s: two panels are %d", name, p.ID)
			require.False(t, titles[p.Title], "%s: two panels are called %q", name, p.Title)
			ids[p.ID], titles[p.Title] = true, true
			require.Equal(t, p.Type != "row", len(p.Targets) > 0, "%s: %s", name, p.Title)
		}
	}
	all, err := signals.Expressions(directory)
	require.NoError(t, err)
	for _, e := range all {
		_, err := metricsql.Parse(e.PromQL)
		require.NoError(t, err, "%s: %s", e.Where, e.PromQL)
	}
}
