package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Agent are the instruments of an agent.
type Agent struct {
	ended      *prometheus.CounterVec
	seconds    prometheus.Histogram
	unfinished prometheus.Gauge
	up         prometheus.Gauge
}

// NewAgent registers the instruments of an agent; once for a registry.
func NewAgent(r *Registry) *Agent {
	a := &Agent{
		ended:      counters("", "agent_actions_total", "Node actions that ran and ended, by state.", "state"),
		seconds:    prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "agent_action_seconds", Help: "How long node actions ran.", Buckets: seconds}),
		unfinished: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "agent_unfinished_actions", Help: "Node actions in the queue that have not finished."}),
		up:         prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "agent_node_up", Help: "1 if the node did its work when it was last looked at, else 0."}),
	}
	for _, state := range []gnomonv1.NodeAction_State{gnomonv1.NodeAction_DONE, gnomonv1.NodeAction_FAILED, gnomonv1.NodeAction_CANCELLED} {
		a.ended.WithLabelValues(state.String())
	}
	r.registry.MustRegister(a.ended, a.seconds, a.unfinished, a.up)
	return a
}

// Ended notes the end of an action that ran.
func (a *Agent) Ended(state gnomonv1.NodeAction_State, took time.Duration) {
	a.ended.WithLabelValues(state.String()).Inc()
	a.seconds.Observe(took.Seconds())
}

// Unfinished notes how many actions have not finished.
func (a *Agent) Unfinished(n uint32) { a.unfinished.Set(float64(n)) }

// Up notes whether the node does its work.
func (a *Agent) Up(up bool) {
	value := 0.0
	if up {
		value = 1
	}
	a.up.Set(value)
}
