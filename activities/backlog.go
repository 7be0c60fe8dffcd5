package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"gnomon/metrics"
)

// Measured has the Mirror measured from now on, and returns it.
func (m *Mirror) Measured(by *metrics.Worker) *Mirror {
	m.mu.Lock()
	m.metrics = by
	m.mu.Unlock()
	by.WatchMirror(m.Backlog)
	return m
}

// Backlog says how many rows wait for the store, those that are being written
// included, and since when the one does that waits longest.
func (m *Mirror) Backlog() (rows int, oldest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := func(w *waitingRow) {
		if rows++; oldest.IsZero() || w.since.Before(oldest) {
			oldest = w.since
		}
	}
	for _, w := range m.waiting {
		count(w)
	}
	for w := range m.writing {
		count(w)
	}
	return rows, oldest
}

// measure notes that a call has ended.
func (m *Mirror) measure(c call) {
	m.mu.Lock()
	for _, w := range c.batch {
		delete(m.writing, w)
	}
	measures := m.metrics
	m.mu.Unlock()
	if c.err != nil {
		return
	}
	for _, w := range c.batch {
		measures.RowStored(time.Since(w.since))
	}
}

// scheduled is when the workflow scheduled the activity, by this machine's clock.
func scheduled(ctx context.Context) time.Time {
	if !activity.IsActivity(ctx) {
		return time.Now()
	}
	info := activity.GetInfo(ctx)
	return time.Now().Add(-max(0, info.StartedTime.Sub(info.ScheduledTime)))
}
