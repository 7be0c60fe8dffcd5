package metrics

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

var quiet = slog.New(slog.DiscardHandler)

// registry is that of a process that is starter and worker.
func registry(t *testing.T) (*Registry, *Facade, *Worker) {
	t.Helper()
	r, err := New("test")
	require.NoError(t, err)
	return r, NewFacade(r), NewWorker(r)
}

// value is the value of one series, given as name and labels in pairs; a histogram's is
// its count.
func value(t *testing.T, r *Registry, name string, labels ...string) float64 {
	t.Helper()
	m := series(t, r, name, labels...)
	require.NotNil(t, m, "%s %v", name, labels)
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	default:
		return m.GetGauge().GetValue()
	}
}

// series is the one series that has all of the labels, or nil.
func series(t *testing.T, r *Registry, name string, labels ...string) *dto.Metric {
	t.Helper()
	all, err := r.Gatherer().Gather()
	require.NoError(t, err)
	for _, family := range all {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			if has(m, labels) {
				return m
			}
		}
	}
	return nil
}

func has(m *dto.Metric, labels []string) bool {
	for i := 0; i < len(labels); i += 2 {
		found := false
		for _, l := range m.GetLabel() {
			found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}

// get fetches a page of a server.
func get(t *testing.T, s *Server, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr()+path, nil)
	require.NoError(t, err)
	reply, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, strings.TrimSpace(string(body))
}
