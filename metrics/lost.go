package metrics

import (
	"maps"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// handler is Temporal's, and has the lost attempts that workflows count, through it as
// it knows what is replayed, beside the attempts that ended.
type handler struct {
	client.MetricsHandler

	tags  map[string]string
	ended *atomic.Pointer[prometheus.CounterVec]
}

func newHandler(inner client.MetricsHandler) *handler {
	return &handler{MetricsHandler: inner, ended: new(atomic.Pointer[prometheus.CounterVec])}
}

// WithTags implements client.MetricsHandler.
func (h *handler) WithTags(tags map[string]string) client.MetricsHandler {
	all := map[string]string{}
	maps.Copy(all, h.tags)
	maps.Copy(all, tags)
	return &handler{MetricsHandler: h.MetricsHandler.WithTags(tags), tags: all, ended: h.ended}
}

// Counter implements client.MetricsHandler.
func (h *handler) Counter(name string) client.MetricsCounter {
	if name != workflowv1.MetricAttemptsLost {
		return h.MetricsHandler.Counter(name)
	}
	ended := h.ended.Load()
	if ended == nil {
		return client.MetricsNopHandler.Counter(name)
	}
	return lostCounter{ended.WithLabelValues(known(h.tags[workflowv1.MetricTagKind]), string(Lost))}
}

// Unwrap gives the handler below, as the SDK expects it of one that wraps another.
func (h *handler) Unwrap() client.MetricsHandler { return h.MetricsHandler }

type lostCounter struct{ counter prometheus.Counter }

// Inc implements client.MetricsCounter.
func (c lostCounter) Inc(n int64) { c.counter.Add(float64(max(0, n))) }
