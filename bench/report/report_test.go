package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/bench/report"
)

// Issue 8: the JSON has ratios and counts by the names of the table, and figures that
// were not measured are not in it.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := report.New("quick", time.Unix(0, 0))
	r.Target("create_rate_vs_a1", "here", report.SpreadOf([]float64{0.9, 1.1, math.NaN(), 1}), "")
	r.Target("create_rate_vs_a1", "there", report.Exactly(0.5), "")
	r.Target("events_once", "here", report.Exactly(16), "")
	r.Target("herd_time_vs_ts", "here", report.SpreadOf(nil), "")
	r.Also("else", "here", "", report.Exactly(7))
	text, err := r.JSON()
	require.NoError(t, err)
	var got struct {
		Ratios   map[string]float64 `json:"ratios"`
		Counts   map[string]float64 `json:"counts"`
		Problems []string           `json:"problems"`
		Figures  []report.Figure    `json:"figures"`
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, map[string]float64{"create_rate_vs_a1": 1}, got.Ratios, "the first site counts")
	require.Equal(t, map[string]float64{"events_once": 16}, got.Counts)
	require.Len(t, got.Problems, 1)
	require.Len(t, got.Figures, 4)
	require.Equal(t, report.Spread{Median: 1, Low: 0.9, High: 1.1, Rounds: 3}, got.Figures[0].Spread)
	require.True(t, *got.Figures[0].Met)
	require.False(t, *got.Figures[1].Met)
	require.Nil(t, got.Figures[3].Met)

	var table bytes.Buffer
	r.Table(&table)
	require.Contains(t, table.String(), "MISSED")
	require.Contains(t, table.String(), "0.900 to 1.100")
}

func TestPage(t *testing.T) {
	t.Parallel()
	r := report.New("quick", time.Unix(0, 0))
	r.Lags("here", "a1", []time.Duration{3, 1, 2})
	r.Drain("here", "gnomon", []report.Point{{X: 1, Y: 2}, {X: 2, Y: 3}})
	r.Target("create_rate_vs_a1", "here", report.Exactly(0.5), "")
	r.Target("create_p99_vs_a1", "here", report.Exactly(1), "")
	page, err := r.Page()
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(page, []byte("<svg")))
	require.NotContains(t, string(page), "src=", "it needs nothing else")
	require.Equal(t, 1, bytes.Count(page, []byte(">met<")))
	require.Equal(t, 1, bytes.Count(page, []byte(">MISSED<")))
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	all := []time.Duration{4 * time.Millisecond, time.Millisecond, 3 * time.Millisecond, 2 * time.Millisecond}
	require.InDelta(t, 2, report.Percentile(all, 0.5), 0)
	require.InDelta(t, 4, report.Percentile(all, 0.99), 0)
	require.True(t, math.IsNaN(report.Percentile(nil, 0.5)))
}
