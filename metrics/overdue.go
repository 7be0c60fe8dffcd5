package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

const (
	// overdueEvery is how often the oldest overdue action is looked for.
	overdueEvery = 15 * time.Second
	// overdueCall bounds one look.
	overdueCall = 5 * time.Second
)

var oldestOverdue = prometheus.NewDesc("gnomon_oldest_overdue_seconds",
	"How long the oldest action that is due, and neither paused nor performed, has waited by the store's rows; 0 if there is none. Absent while the store does not answer.", nil, nil)

// overdue knows since when the oldest overdue action is due.
type overdue struct {
	mu    sync.Mutex
	known bool
	due   time.Time // zero: none is
}

func newOverdue() *overdue { return &overdue{} }

// Describe implements prometheus.Collector.
func (o *overdue) Describe(to chan<- *prometheus.Desc) { to <- oldestOverdue }

// Collect implements prometheus.Collector.
func (o *overdue) Collect(to chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known {
		return
	}
	waited := 0.
	if !o.due.IsZero() {
		waited = max(0, time.Since(o.due).Seconds())
	}
	to <- prometheus.MustNewConstMetric(oldestOverdue, prometheus.GaugeValue, waited)
}

// WatchOverdue looks for the oldest overdue action until ctx ends: one page of one row
// along the index by time, every 15 seconds. Rows that are due and paused or performed
// are passed over, so that a look costs as many entries of the index as there are.
func (f *Facade) WatchOverdue(ctx context.Context, rows store.Actions, log *slog.Logger) {
	if f == nil {
		return
	}
	ticker := time.NewTicker(overdueEvery)
	defer ticker.Stop()
	for {
		f.overdue.look(ctx, rows, log)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (o *overdue) look(ctx context.Context, rows store.Actions, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, overdueCall)
	defer cancel()
	page, err := rows.ListActions(ctx, store.ActionQuery{
		// A retry has its own time, and whoever is RUNNING or PAUSED is not waited for.
		States:    []gnomonv1.Status_State{gnomonv1.Status_SCHEDULED, gnomonv1.Status_RETRYING},
		DueBefore: time.Now(), Order: store.ByScheduledAt, Limit: 1,
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.due = err == nil, time.Time{}
	if err != nil {
		log.Debug("The oldest overdue action is not known.", "error", err)
		return
	}
	for _, row := range page {
		o.due = row.Action.GetStatus().GetScheduledAt().AsTime()
	}
}
