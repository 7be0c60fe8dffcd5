package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gnomon/reconcile"
)

// Worker are the instruments of the worker. A nil Worker measures nothing.
type Worker struct {
	attempts attempts
	mirror   mirror
	rounds   rounds
}

// NewWorker registers the instruments of the worker; once for a registry.
func NewWorker(r *Registry) *Worker {
	w := &Worker{attempts: newAttempts(), mirror: newMirror(), rounds: newRounds()}
	r.registry.MustRegister(
		w.attempts.ended, w.attempts.refused, w.attempts.running, w.attempts.seconds, w.attempts.lag,
		w.mirror.lag, w.mirror.dropped, &w.mirror.backlog,
		w.rounds.made, w.rounds.findings, w.rounds.last, w.rounds.interval, w.rounds.seconds,
	)
	r.temporal.ended.Store(w.attempts.ended)
	return w
}

// AttemptBegan notes that an attempt of an action of a kind begins to act.
func (w *Worker) AttemptBegan(kind string) {
	if w != nil {
		w.attempts.running.WithLabelValues(known(kind)).Inc()
	}
}

// OccurrenceBegan notes how long after its due time an occurrence began; of its
// attempts only the first is late or not.
func (w *Worker) OccurrenceBegan(kind string, late time.Duration) {
	if w != nil {
		w.attempts.lag.WithLabelValues(known(kind)).Observe(max(0, late.Seconds()))
	}
}

// AttemptEnded notes the end of what AttemptBegan began, and how long it acted.
func (w *Worker) AttemptEnded(kind string, end Outcome, took time.Duration) {
	if w == nil {
		return
	}
	kind = known(kind)
	w.attempts.running.WithLabelValues(kind).Dec()
	w.attempts.ended.WithLabelValues(kind, string(end)).Inc()
	w.attempts.seconds.WithLabelValues(kind).Observe(took.Seconds())
}

// AttemptRefused notes an attempt that may not act, and why.
func (w *Worker) AttemptRefused(kind string, why Refusal) {
	if w != nil {
		w.attempts.refused.WithLabelValues(known(kind), string(why)).Inc()
	}
}

// WatchMirror has a writer of rows asked, at each scrape, how many rows wait and since
// when the oldest does. The last writer that was given is asked.
func (w *Worker) WatchMirror(backlog func() (rows int, oldest time.Time)) {
	if w != nil {
		w.mirror.backlog.ask.Store(&backlog)
	}
}

// RowStored notes how long after its decision a row was stored.
func (w *Worker) RowStored(after time.Duration) {
	if w != nil {
		w.mirror.lag.Observe(max(0, after.Seconds()))
	}
}

// RowsDropped notes rows that were given up as too many wait.
func (w *Worker) RowsDropped(n int) {
	if w != nil {
		w.mirror.dropped.Add(float64(n))
	}
}

// RoundsEvery notes the interval of the reconciler's rounds; 0 is none.
func (w *Worker) RoundsEvery(interval time.Duration) {
	if w != nil {
		w.rounds.interval.Set(interval.Seconds())
	}
}

// RoundEnded notes a round that this process made, or that failed.
func (w *Worker) RoundEnded(report reconcile.Report, err error) {
	if w != nil {
		w.rounds.ended(report, err)
	}
}

// seconds are buckets for what may take from moments to minutes: 10 ms to 10 minutes.
var seconds = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

func counters(subsystem, name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
}
