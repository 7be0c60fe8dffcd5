package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcome is how an attempt ended.
type Outcome string

// Outcomes.
const (
	Success Outcome = "success"
	Failure Outcome = "failure"
	// Interrupted: the performer panicked, or the worker stopped before it ended.
	Interrupted Outcome = "interrupted"
	// Lost: interrupted too, by the loss of its process. The workflow finds that out, and
	// so the worker that the workflow runs on counts it.
	Lost Outcome = "lost"
	// Canceled: an update or deletion ended it, and what it came to counts for nothing.
	Canceled Outcome = "canceled"
)

// Refusal is why an attempt may not act.
type Refusal string

// Refusals.
const (
	// Superseded: its spec no longer stands.
	Superseded Refusal = "superseded"
	// Held: the action is paused, its deadline has passed, or the workflow did not say
	// whether the attempt may act.
	Held Refusal = "held"
	// Dropped: it was cancelled before it could begin.
	Dropped Refusal = "dropped"
	// Spent: the reports of the attempts before were lost, and its budget is used up.
	Spent Refusal = "spent"
)

// labelKind is the label of the kind of action.
const labelKind = "kind"

// attempts are the instruments of attempts.
type attempts struct {
	ended, refused *prometheus.CounterVec
	running        *prometheus.GaugeVec
	seconds, lag   *prometheus.HistogramVec
}

func newAttempts() attempts {
	a := attempts{
		ended:   counters("", "attempts_total", "Attempts that ended, by kind of action and outcome.", labelKind, "outcome"),
		refused: counters("", "attempts_refused_total", "Attempts that did not act, and why.", labelKind, "reason"),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "attempts_running", Help: "Attempts that act at the moment.",
		}, []string{labelKind}),
		seconds: histograms("attempt_seconds", "How long attempts acted.", labelKind),
		lag:     histograms("lag_seconds", "How long after its due time the first attempt of an occurrence began.", labelKind),
	}
	for _, kind := range kinds() {
		for _, end := range []Outcome{Success, Failure, Interrupted, Lost, Canceled} {
			a.ended.WithLabelValues(kind, string(end))
		}
		for _, why := range []Refusal{Superseded, Held, Dropped, Spent} {
			a.refused.WithLabelValues(kind, string(why))
		}
		a.running.WithLabelValues(kind)
		a.seconds.WithLabelValues(kind)
		a.lag.WithLabelValues(kind)
	}
	return a
}

func histograms(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: seconds}, labels)
}

// allKinds is kinds, once.
var allKinds = kinds()

// known is a kind as a label, whatever was given.
func known(kind string) string {
	if slices.Contains(allKinds, kind) {
		return kind
	}
	return noKind
}
