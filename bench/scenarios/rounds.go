package scenarios

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
)

// Turn is who takes part in a scenario, and when.
type Turn struct {
	Name string
	// Each: it takes part in every how many rounds, the last of so many. 1 is all of them.
	Each int
	// Within bounds the wait for its last arrival.
	Within time.Duration
}

// Rounds has contenders take turns: A B C, C B A, and so on.
type Rounds struct {
	Turns  []Turn
	Rounds int
	// Jobs of each turn.
	Jobs int
	// Rate at which they are due, a second; 0: all at one moment.
	Rate float64
	// Budget bounds the scenario: no round begins after it.
	Budget time.Duration
}

// results are what came of rounds, by contender. A round in which a contender took no
// part is nil there.
type results map[string][]*performed

func (b *Bench) play(ctx context.Context, what string, r Rounds) (results, error) {
	all, began := results{}, time.Now()
	for _, t := range r.Turns {
		if err := b.Take(ctx, t.Name); err != nil {
			return nil, err
		}
	}
	for round := range r.Rounds {
		if round > 0 && time.Since(began) > r.Budget {
			b.Report.Problemf("%s: %d rounds instead of %d in %s", what, round, r.Rounds, r.Budget)
			break
		}
		order := slices.Clone(r.Turns)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, t := range order {
			all[t.Name] = append(all[t.Name], nil)
			if (round+1)%max(t.Each, 1) != 0 {
				continue
			}
			b.Tell("%s, round %d of %d: %s", what, round+1, r.Rounds, t.Name)
			one, err := b.turn(ctx, r, t)
			if err != nil {
				// One turn that failed leaves the others; too few rounds show in the table.
				if ctx.Err() != nil {
					b.Report.Problemf("%s: ended in round %d: %v", what, round+1, context.Cause(ctx))
					return all, nil //nolint:nilerr // the rounds until then count
				}
				b.Report.Problemf("%s, round %d: %v", what, round+1, err)
				continue
			}
			all[t.Name][round] = &one
			b.Tell("%s, round %d of %d: %s: %.0f creates/s, p99 %.0f ms; lag p99 %.0f ms; the last after %.1f s",
				what, round+1, r.Rounds, t.Name, one.rate(), createP99(&one), lagP99(&one), one.last.Seconds())
		}
	}
	return all, nil
}

func (b *Bench) turn(ctx context.Context, r Rounds, t Turn) (performed, error) {
	c := b.contenders[t.Name]
	if r.Rate > 0 {
		return b.steady(ctx, c, r.Jobs, r.Rate, t.Within)
	}
	return b.herd(ctx, c, r.Jobs, t.Within)
}

// ratio compares gnomon with another in the rounds that both took part in.
func (r results) ratio(to string, of func(*performed) float64) report.Spread {
	var all []float64
	for i, g := range r[contenders.Gnomon] {
		if i < len(r[to]) && g != nil && r[to][i] != nil {
			all = append(all, of(g)/of(r[to][i]))
		}
	}
	return report.SpreadOf(all)
}

// figure is that of one contender over its rounds.
func (r results) figure(name string, of func(*performed) float64) report.Spread {
	var all []float64
	for _, p := range r[name] {
		if p != nil {
			all = append(all, of(p))
		}
	}
	return report.SpreadOf(all)
}

func rate(p *performed) float64      { return p.rate() }
func createP99(p *performed) float64 { return report.Percentile(p.calls, 0.99) }
func temporalCPU(p *performed) float64 {
	return report.Milliseconds(p.temporal) / float64(len(p.calls))
}

func hereCPU(p *performed) float64 { return report.Milliseconds(p.here) / float64(len(p.calls)) }

// last is no number where it is only known to be greater and gnomon would gain by it.
func last(p *performed) float64 {
	if p.missing > 0 && p.contender == contenders.Gnomon {
		return math.NaN()
	}
	return p.last.Seconds()
}

// lagP99 counts what did not arrive in time as arriving at its end, and is no number
// where gnomon would gain by that.
func lagP99(p *performed) float64 {
	if p.missing > 0 && p.contender == contenders.Gnomon {
		return math.NaN()
	}
	all := slices.Clone(p.lags)
	for range p.missing {
		all = append(all, p.last)
	}
	return report.Percentile(all, 0.99)
}

// Herds compares creating, and jobs that are all due at one moment.
func (b *Bench) Herds(ctx context.Context, r Rounds) error {
	all, err := b.play(ctx, fmt.Sprintf("herds of %d", r.Jobs), r)
	if err != nil {
		return err
	}
	on := string(b.Site.Kind)
	note := ""
	if r.Jobs != 1000 {
		note = fmt.Sprintf("herd of %d", r.Jobs)
	}
	b.Report.Target("create_rate_vs_a1", on, all.ratio(contenders.A1, rate), note)
	b.Report.Target("create_p99_vs_a1", on, all.ratio(contenders.A1, createP99), note)
	b.Report.Target("herd_time_vs_a1", on, all.ratio(contenders.A1, last), note)
	if all[contenders.TS] != nil {
		b.Report.Target("herd_time_vs_ts", on, all.ratio(contenders.TS, last), note)
	}
	b.Report.Also("cpu_temporal_vs_a1", on, "processor time of Temporal for each action, against a1", all.ratio(contenders.A1, temporalCPU))
	b.Report.Also("cpu_here_vs_a1", on, "processor time of clients, facade, workers and receiver, against a1", all.ratio(contenders.A1, hereCPU))
	for _, t := range r.Turns {
		b.Report.Also("cpu_ms_temporal "+t.Name, on, "processor time of Temporal for each action", all.figure(t.Name, temporalCPU))
		b.Report.Also("cpu_ms_here "+t.Name, on, "processor time of clients, facade, workers and receiver", all.figure(t.Name, hereCPU))
		b.Report.Also("create_rate "+t.Name, on, "creates a second, 16 clients", all.figure(t.Name, rate))
		b.Report.Also("create_p99_ms "+t.Name, on, "p99 of a create", all.figure(t.Name, createP99))
		b.Report.Also(fmt.Sprintf("herd_%d_seconds %s", r.Jobs, t.Name), on, "time to the last of a herd", all.figure(t.Name, last))
		for _, p := range all[t.Name] {
			if p != nil {
				b.Report.Drain(on, t.Name, p.curve)
			}
		}
	}
	return nil
}

// Lags compares the lag of jobs that are due one after another.
func (b *Bench) Lags(ctx context.Context, r Rounds) error {
	all, err := b.play(ctx, fmt.Sprintf("lag at %g due a second", r.Rate), r)
	if err != nil {
		return err
	}
	on, note := string(b.Site.Kind), fmt.Sprintf("%g due a second", r.Rate)
	b.Report.Target("lag_p99_vs_a1", on, all.ratio(contenders.A1, lagP99), note)
	if all[contenders.TS] != nil {
		b.Report.Target("lag_p99_vs_ts", on, all.ratio(contenders.TS, lagP99), note)
	}
	for _, t := range r.Turns {
		b.Report.Also("lag_p99_ms "+t.Name, on, "p99 of the lag, "+note, all.figure(t.Name, lagP99))
		b.Report.Also("lag_p50_ms "+t.Name, on, "median of the lag, "+note, all.figure(t.Name, func(p *performed) float64 {
			return report.Percentile(p.lags, 0.5)
		}))
		for _, p := range all[t.Name] {
			if p != nil {
				b.Report.Lags(on, t.Name, p.lags)
			}
		}
	}
	return nil
}
