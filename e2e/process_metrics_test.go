package e2e

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/deploy/signals"
)

// exposed is what Prometheus sees: the names of series, and the values of their labels.
type exposed map[string][]map[string]string

// scrape adds what a process of a job shows.
func (e exposed) scrape(t *testing.T, job, address string) {
	t.Helper()
	code, text := page(t, address, "/metrics")
	require.Equal(t, http.StatusOK, code)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader([]byte(text + "\n")))
	require.NoError(t, err)
	for name, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{"job": job, "instance": address}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if family.GetType() != dto.MetricType_HISTOGRAM {
				e[name] = append(e[name], labels)
				continue
			}
			e[name+"_count"] = append(e[name+"_count"], labels)
			e[name+"_sum"] = append(e[name+"_sum"], labels)
			for _, b := range m.GetHistogram().GetBucket() {
				with := map[string]string{"le": model.SampleValue(b.GetUpperBound()).String()}
				maps.Copy(with, labels)
				e[name+"_bucket"] = append(e[name+"_bucket"], with)
			}
		}
	}
	e["up"] = append(e["up"], map[string]string{"job": job, "instance": address})
}

// answers are the series that a selector finds.
func (e exposed) answers(t *testing.T, m *metricsql.MetricExpr) (name string, found []map[string]string) {
	t.Helper()
	require.Len(t, m.LabelFilterss, 1)
	for _, f := range m.LabelFilterss[0] {
		if f.Label == "__name__" {
			require.False(t, f.IsRegexp || f.IsNegative)
			name = f.Value
		}
	}
	for _, labels := range e[name] {
		if slices.ContainsFunc(m.LabelFilterss[0], func(f metricsql.LabelFilter) bool { return !fits(t, f, labels) }) {
			continue
		}
		found = append(found, labels)
	}
	return name, found
}

// fits says whether labels pass a filter; of a label that is not there only the lack
// shows.
func fits(t *testing.T, f metricsql.LabelFilter, labels map[string]string) bool {
	t.Helper()
	if f.Label == "__name__" {
		return true
	}
	value, there := labels[f.Label]
	if !there {
		return false
	}
	matches := value == f.Value
	if f.IsRegexp {
		compiled, err := metricsql.CompileRegexpAnchored(f.Value)
		require.NoError(t, err)
		matches = compiled.MatchString(value)
	}
	return matches != f.IsNegative
}

// busy brings an installation up and has all happen to it that leaves a mark in metrics.
func busy(t *testing.T) exposed {
	t.Helper()
	p := separate(t)
	w := p.work(t, "--metrics-address", "127.0.0.1:0", "--reconcile-interval", "1s", "--heartbeat-timeout", "1s")
	create(t, p.client, p.inbox.once("fine", "/ok", time.Now()))
	create(t, p.client, steadily(p.inbox.once("bad", "/status/503", time.Now()), 1, time.Second))
	create(t, p.client, p.inbox.once("secret-canary", "/ok", time.Now().Add(time.Hour)))
	_, err := p.client.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: "secret-canary"})
	require.NoError(t, err)
	_, err = p.client.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: p.inbox.once("secret-canary", "/ok", time.Now().Add(time.Hour))})
	require.Error(t, err)
	ends(t, p.client, "fine", gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	ends(t, p.client, "bad", gnomonv1.Status_FAILED, counts{failed: 2, inARow: 2})

	// A workflow that no code fits: its task fails.
	c, err := client.Dial(client.Options{HostPort: p.address})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: uuid.NewString(), TaskQueue: workflowv1.DefaultTaskQueue}, "NoSuchWorkflow")
	require.NoError(t, err)
	var e exposed
	scraped := func() exposed {
		e = exposed{}
		e.scrape(t, "gnomon-starter", p.starter.shows(t))
		e.scrape(t, "gnomon-worker", w.shows(t))
		return e
	}
	eventually(t, startWithin, "a workflow task fails", func() bool {
		return len(scraped()["temporal_workflow_task_execution_failed_total"]) > 0
	})
	p.temporal.kill(t)
	eventually(t, startWithin, "Temporal does not answer", func() bool {
		return slices.ContainsFunc(scraped()["temporal_request_failure_total"], func(labels map[string]string) bool {
			return labels["status_code"] == "UNAVAILABLE" || labels["status_code"] == "Unavailable"
		})
	})
	return e
}

// Issue 4, 'It is done when': every metric that alerts and dashboards name exists in what
// a starter and a worker show, with the labels and the values that are asked for. F20:
// labels are few and are never ids: not of actions, workflows, runs or tasks, and no
// address.
func TestProcessMetrics(t *testing.T) {
	t.Parallel()
	shown := busy(t)
	shown.haveAllThatIsAskedFor(t)
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	series := 0
	for name, all := range shown {
		family := histogramPart.ReplaceAllString(name, "")
		require.True(t, !strings.HasPrefix(name, "gnomon_") || strings.Contains(string(page), "`"+family), "%s is not documented", name)
		series += len(all)
		for _, labels := range all {
			bounded(t, name, labels)
		}
	}
	t.Logf("%d series of one starter and one worker", series)
	require.Less(t, series, 5000)
}

// haveAllThatIsAskedFor goes through all expressions of alerts and dashboards.
func (e exposed) haveAllThatIsAskedFor(t *testing.T) {
	t.Helper()
	expressions, err := signals.Expressions("../deploy")
	require.NoError(t, err)
	jobs, err := signals.Jobs("../deploy")
	require.NoError(t, err)
	require.Contains(t, jobs, "gnomon-starter")
	require.Contains(t, jobs, "gnomon-worker")
	asked := 0
	for _, x := range expressions {
		parsed, err := metricsql.Parse(x.PromQL)
		require.NoError(t, err)
		labels := map[string]bool{} // of all that is selected
		metricsql.VisitAll(parsed, func(part metricsql.Expr) {
			if m, ok := part.(*metricsql.MetricExpr); ok && len(m.LabelFilterss) > 0 {
				asked++
				name, found := e.answers(t, m)
				require.NotEmpty(t, e[name], "%s asks for %s, which nobody shows", x.Where, name)
				require.NotEmpty(t, found, "%s: no series fits %s", x.Where, m.AppendString(nil))
				e.haveEach(t, x.Where, name, m.LabelFilterss[0])
				for label := range found[0] {
					labels[label] = true
				}
			}
		})
		metricsql.VisitAll(parsed, func(part metricsql.Expr) {
			if sum, ok := part.(*metricsql.AggrFuncExpr); ok {
				for _, label := range sum.Modifier.Args {
					require.True(t, labels[label], "%s sums by %s, which nothing has", x.Where, label)
				}
			}
		})
	}
	t.Logf("%d selectors in %d expressions, %d names of series", asked, len(expressions), len(e))
	require.Greater(t, asked, 70)
}

// haveEach holds that there is a series for each of the values that a filter names, of
// labels whose values are known beforehand.
func (e exposed) haveEach(t *testing.T, where, name string, filters []metricsql.LabelFilter) {
	t.Helper()
	for _, f := range filters {
		if f.Label == "status_code" || f.Label == "__name__" || !alternatives.MatchString(f.Value) {
			continue
		}
		for value := range strings.SplitSeq(f.Value, "|") {
			require.True(t, slices.ContainsFunc(e[name], func(labels map[string]string) bool { return labels[f.Label] == value }),
				"%s: no %s has %s=%q", where, name, f.Label, value)
		}
	}
}

var histogramPart = regexp.MustCompile(`_(bucket|sum|count)$`)

var alternatives = regexp.MustCompile(`^[\w|.-]+$`)

// bounded holds that the labels of a series are no ids.
func bounded(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	for label, value := range labels {
		if label == "instance" { // Prometheus' own
			continue
		}
		require.NotContains(t, value, "canary", "%s", name)
		require.NotContains(t, value, "127.0.0.1", "%s %s", name, label)
		_, err := uuid.Parse(value)
		require.Error(t, err, "%s %s=%s", name, label, value)
	}
}
