package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gnomon/store"
)

// storeBuckets are in seconds: from a row in a local file to the longest call.
var storeBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// The operations of a store.
const (
	opPut    = "PutActions"
	opInsert = "InsertAction"
	opGet    = "GetAction"
	opList   = "ListActions"
	opPurge  = "PurgeActions"
	opPing   = "Ping"
)

// storeMetrics are the instruments of a store.
type storeMetrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
}

func newStoreMetrics() *storeMetrics {
	m := &storeMetrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "store", Name: "seconds", Buckets: storeBuckets,
			Help: "How long calls of the store took, failed ones included.",
		}, []string{"operation"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "store", Name: "errors_total",
			Help: "Calls of the store that failed, by what kind of failure it was.",
		}, []string{"operation", "class"}),
	}
	for _, op := range slices.Concat([]string{opPut, opInsert, opGet, opList, opPurge, opPing}, batchOperations, nodeOperations, entityOperations) {
		m.seconds.WithLabelValues(op)
		for _, class := range store.Classes() {
			m.errors.WithLabelValues(op, string(class))
		}
	}
	return m
}

// measuredStore measures each call of a store.
type measuredStore struct {
	inner   store.Store
	metrics *storeMetrics
}

var _ store.Store = (*measuredStore)(nil)

// measure makes a call and notes how it went.
func measure[T any](m *storeMetrics, operation string, call func() (T, error)) (T, error) {
	began := time.Now()
	result, err := call()
	m.seconds.WithLabelValues(operation).Observe(time.Since(began).Seconds())
	if class := store.ClassOf(err); class != "" {
		m.errors.WithLabelValues(operation, string(class)).Inc()
	}
	return result, err
}

// PutActions implements store.Actions.
func (s *measuredStore) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	return measure(s.metrics, opPut, func() ([]bool, error) { return s.inner.PutActions(ctx, rows) })
}

// InsertAction implements store.Actions.
func (s *measuredStore) InsertAction(ctx context.Context, row store.Row) (bool, error) {
	return measure(s.metrics, opInsert, func() (bool, error) { return s.inner.InsertAction(ctx, row) })
}

// GetAction implements store.Actions.
func (s *measuredStore) GetAction(ctx context.Context, id string) (store.Row, error) {
	return measure(s.metrics, opGet, func() (store.Row, error) { return s.inner.GetAction(ctx, id) })
}

// ListActions implements store.Actions.
func (s *measuredStore) ListActions(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	return measure(s.metrics, opList, func() ([]store.Row, error) { return s.inner.ListActions(ctx, q) })
}

// PurgeActions implements store.Actions.
func (s *measuredStore) PurgeActions(ctx context.Context, limit int) (int, error) {
	return measure(s.metrics, opPurge, func() (int, error) { return s.inner.PurgeActions(ctx, limit) })
}

// Ping implements store.Actions.
func (s *measuredStore) Ping(ctx context.Context) error {
	_, err := measure(s.metrics, opPing, func() (struct{}, error) { return struct{}{}, s.inner.Ping(ctx) })
	return err
}

// Close closes the store that is measured.
func (s *measuredStore) Close() error { return s.inner.Close() }
