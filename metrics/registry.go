package metrics

import (
	"fmt"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"

	"gnomon/store"
)

// namespace begins the name of every metric of gnomon's own.
const namespace = "gnomon"

// Registry holds the instruments of one process. New makes one.
type Registry struct {
	registry *prometheus.Registry
	temporal *handler
	store    *storeMetrics
}

// New returns the registry of a process of a build, with what every process measures:
// the Go runtime, the process, Temporal's client and the store.
func New(build string) (*Registry, error) {
	r := &Registry{registry: prometheus.NewRegistry()}
	temporal, err := temporalHandler(r.registry)
	if err != nil {
		return nil, fmt.Errorf("metrics of Temporal's client: %w", err)
	}
	r.temporal = newHandler(temporal)
	r.store = newStoreMetrics()
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say what runs.",
	}, []string{"version", "goversion"})
	info.WithLabelValues(build, runtime.Version()).Set(1)
	r.registry.MustRegister(
		info, r.store.seconds, r.store.errors,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r, nil
}

// Temporal measures a client of Temporal and the workers that use it; a process has one
// handler for all of them.
func (r *Registry) Temporal() client.MetricsHandler { return r.temporal }

// Store measures the calls of a store. It changes nothing about them.
func (r *Registry) Store(s store.Store) store.Store {
	return &measuredStore{inner: s, metrics: r.store}
}

// Gatherer gives all metrics as they are, as a scrape would.
func (r *Registry) Gatherer() prometheus.Gatherer { return r.registry }

// Handler answers scrapes.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{
		// One collector that fails must not hide the others.
		ErrorHandling: promhttp.ContinueOnError,
		Registry:      r.registry,
	})
}
