package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// mirror are the instruments of the writer of rows.
type mirror struct {
	lag     prometheus.Histogram
	dropped prometheus.Counter
	backlog backlog
}

func newMirror() mirror {
	return mirror{
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "mirror", Name: "lag_seconds", Buckets: seconds,
			Help: "How long the store did not show what was decided: from the first decision that a row waited with until it was stored.",
		}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "mirror", Name: "dropped_rows_total",
			Help: "Rows that were given up since too many waited for the store; workflows and the reconciler see to them.",
		}),
	}
}

var (
	waitingRows = prometheus.NewDesc("gnomon_mirror_waiting_rows", "Rows that wait to be stored.", nil, nil)
	waitingFor  = prometheus.NewDesc("gnomon_mirror_oldest_waiting_seconds", "How long the row that waits longest has waited; 0 if none does.", nil, nil)
)

// backlog shows what waits for the store at the moment of a scrape.
type backlog struct {
	ask atomic.Pointer[func() (int, time.Time)]
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- waitingRows
	to <- waitingFor
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	ask := b.ask.Load()
	if ask == nil {
		return
	}
	rows, oldest := (*ask)()
	waited := 0.
	if rows > 0 {
		waited = max(0, time.Since(oldest).Seconds())
	}
	to <- prometheus.MustNewConstMetric(waitingRows, prometheus.GaugeValue, float64(rows))
	to <- prometheus.MustNewConstMetric(waitingFor, prometheus.GaugeValue, waited)
}
