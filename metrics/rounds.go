package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gnomon/reconcile"
)

// rounds are the instruments of the reconciler.
type rounds struct {
	made, findings *prometheus.CounterVec
	last, interval prometheus.Gauge
	seconds        prometheus.Gauge
}

const (
	resultDone   = "done"
	resultFailed = "failed"
	yes, no      = "true", "false"
)

func newRounds() rounds {
	r := rounds{
		made:     counters("reconcile", "rounds_total", "Rounds of the reconciler that this process ended, and those that failed and are made again.", "result"),
		findings: counters("reconcile", "findings_total", "What the reconciler found, by kind of finding, and whether it was repaired.", "finding", "repaired"),
		last:     gauge("last_round_timestamp_seconds", "When this process ended a round of the reconciler the last time, in seconds since 1970; 0 if it has not."),
		interval: gauge("interval_seconds", "Time between two rounds of the reconciler as this process wants it; 0 is no reconciler."),
		seconds:  gauge("last_round_seconds", "How long the last round took."),
	}
	for _, result := range []string{resultDone, resultFailed} {
		r.made.WithLabelValues(result)
	}
	for _, kind := range []reconcile.Kind{
		reconcile.Missing, reconcile.Stale, reconcile.Resurrected, reconcile.Orphaned,
		reconcile.Young, reconcile.Moving, reconcile.Unanswered, reconcile.Foreign,
	} {
		r.findings.WithLabelValues(string(kind), no)
		if (reconcile.Finding{Kind: kind}).Wrong() {
			r.findings.WithLabelValues(string(kind), yes)
		}
	}
	return r
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: "reconcile", Name: name, Help: help})
}

func (r *rounds) ended(report reconcile.Report, err error) {
	if err != nil {
		r.made.WithLabelValues(resultFailed).Inc()
		return
	}
	r.made.WithLabelValues(resultDone).Inc()
	r.last.Set(float64(time.Now().Unix()))
	r.seconds.Set(report.Took)
	for kind, found := range report.Found {
		repaired := report.Repaired[kind]
		r.findings.WithLabelValues(string(kind), yes).Add(float64(repaired))
		r.findings.WithLabelValues(string(kind), no).Add(float64(found - repaired))
	}
}
