package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"gnomon/bench/report"
	"gnomon/bench/scenarios"
	"gnomon/bench/site"
)

// step is one scenario on one site.
type step struct {
	name string
	// seconds it takes as a rule.
	seconds int
	// on is the site it needs; empty: none.
	on  site.Kind
	run func(context.Context, *scenarios.Bench) error
}

// world is what steps share.
type world struct {
	dir    string
	report *report.Report
	show   *progress
	scale  float64

	bench  *scenarios.Bench
	closed int
}

// steps are those of a run, those of one site together.
func steps(o options) []step {
	all := quick()
	if o.full {
		all = full()
	}
	words := strings.Fields(o.only)
	if len(words) == 0 {
		return all
	}
	var some []step
	for _, s := range all {
		for _, w := range words {
			if strings.Contains(s.name, w) {
				some = append(some, s)
				break
			}
		}
	}
	return some
}

// play runs steps. One that fails is a problem in the report, and the others go on.
func play(ctx context.Context, all []step, w *world) error {
	defer w.leave()
	for _, s := range all {
		if ctx.Err() != nil {
			w.report.Problemf("%s: not measured: %v", s.name, context.Cause(ctx))
			continue
		}
		w.show.tellf("%s", s.name)
		if err := w.enter(ctx, s.on); err != nil {
			w.report.Problemf("%s: %v", s.name, err)
			continue
		}
		if err := s.run(ctx, w.bench); err != nil {
			w.report.Problemf("%s: %v", s.name, err)
		}
		w.show.step(s)
	}
	return nil
}

// enter makes sure that the site is there.
func (w *world) enter(ctx context.Context, on site.Kind) error {
	if w.bench != nil && w.bench.Site.Kind == on {
		return nil
	}
	w.leave()
	w.show.tellf("starting Temporal on %s", on)
	s, err := site.Start(ctx, on, filepath.Join(w.dir, fmt.Sprint("site-", w.closed)))
	if err != nil {
		return fmt.Errorf("%s: %w", on, err)
	}
	w.bench = scenarios.New(s, w.report, w.show.tellf)
	w.bench.Scale = w.scale
	return nil
}

// leave ends the site.
func (w *world) leave() {
	if w.bench == nil {
		return
	}
	w.bench.Site.Close()
	w.bench, w.closed = nil, w.closed+1
}
