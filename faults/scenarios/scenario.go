// Package scenarios injects the faults of faults.md into an installation of separate
// processes, has it come to rest, and has the judge decide.
package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/site"
)

// Scenario is some faults under one load.
type Scenario struct {
	Name   string
	Faults []string
	// Alone says that it measures how late things come, so that no other scenario may
	// take the machine's time meanwhile. F2 is not among them: it gives 5 s for what
	// takes one.
	Alone bool
	// linearizable asks for the check of every id's history.
	linearizable bool
	play         func(context.Context, *play) error
	// production is Temporal on a PostgreSQL and rows in YDB's double.
	production bool
	// rows is what the rows are in otherwise; a file if it says nothing.
	rows site.Rows
}

// On is the scenario with its rows elsewhere.
func (s Scenario) On(rows site.Rows) Scenario {
	if s.rows = rows; rows != site.SQLite {
		s.Name += "-" + string(rows)
	}
	return s
}

// OfTheStore are the faults of the store itself.
var OfTheStore = []string{"F5", "F6"}

// All are the scenarios in the order they begin in: those that must be alone, then
// the others, the longest first.
func All() []Scenario {
	return []Scenario{
		{Name: "workers", Faults: []string{"F1", "F14"}, Alone: true, play: workers},
		{Name: "store", Faults: []string{"F5"}, Alone: true, play: storeFaults},
		{Name: "performers", Faults: []string{"F11"}, Alone: true, play: plantedPerformers},
		{Name: "temporal", Faults: []string{"F2"}, play: temporal},
		{Name: "answers", Faults: []string{"F3", "F4"}, linearizable: true, play: answers},
		{Name: "races", Faults: []string{"F10"}, linearizable: true, play: races},
		{Name: "rows", Faults: []string{"F6"}, play: rows},
		{Name: "signals", Faults: []string{"F22", "F23"}, play: signals},
		{Name: "creates", Faults: []string{"F9"}, linearizable: true, play: creates},
		{Name: "clock", Faults: []string{"F7"}, play: clock},
	}
}

// Of are the scenarios that inject one of some faults; all for none.
func Of(faults []string) ([]Scenario, error) {
	if len(faults) == 0 {
		return All(), nil
	}
	var some []Scenario
	known := map[string]bool{}
	for _, s := range All() {
		for _, f := range s.Faults {
			known[f] = true
		}
		if slices.ContainsFunc(s.Faults, func(f string) bool { return slices.Contains(faults, f) }) {
			some = append(some, s)
		}
	}
	for _, f := range faults {
		if !known[f] {
			return nil, fmt.Errorf("%q is none of the faults that are injected here", f)
		}
	}
	return some, nil
}

// Scale says how much is injected.
type Scale struct {
	WorkerKills, TemporalKills, FacadeKills int
	// LostAnswers are those of F3 and F4's own scenario. Others lose as many of theirs,
	// together some 5,000 more in the full form.
	LostAnswers, Races, Barriers int
	// Stretch is how long each state of the store and of the performers lasts.
	Stretch time.Duration
	// Clocks are creates for each wrong clock.
	Clocks int
	// BadTo is how many actions get malformed signals, Signals how many one gets.
	BadTo, Signals int
	// Tolerance is added to the limits of times; 0: [Tolerance].
	Tolerance time.Duration
}

// Full is what `make faults` injects.
func Full() Scale {
	return Scale{
		WorkerKills: 100, TemporalKills: 50, FacadeKills: 100, LostAnswers: 6_000, Races: 1000,
		Barriers: 50, Stretch: 60 * time.Second, Clocks: 50, BadTo: 40, Signals: 10_000,
	}
}

// Part is a part of it, at least one of each.
func (s Scale) Part(part float64) Scale {
	n := func(n int) int { return max(1, int(float64(n)*part)) }
	return Scale{
		WorkerKills: n(s.WorkerKills), TemporalKills: n(s.TemporalKills), FacadeKills: n(s.FacadeKills),
		LostAnswers: n(s.LostAnswers), Races: n(s.Races), Barriers: n(s.Barriers),
		Stretch: max(8*time.Second, time.Duration(float64(s.Stretch)*part)),
		Clocks:  n(s.Clocks), BadTo: n(s.BadTo), Signals: n(s.Signals), Tolerance: s.Tolerance,
	}
}

// play is one scenario under way.
type play struct {
	*site.Site

	scale  Scale
	rows   site.Rows
	say    func(string, ...any)
	client *clients.Client
	made   atomic.Int64
}

// number is a new one, for ids.
func (p *play) number() int64 { return p.made.Add(1) }

// dial makes the client, once the facade serves.
func (p *play) dial(lose float64) (err error) {
	p.client, err = clients.Dial(p.Dir, p.GRPC)
	if err == nil {
		p.client.Lose = lose
	}
	return err
}

// inject records an injection of one fault.
func (p *play) inject(fault, kind string, at, until time.Time, count int, note string) {
	p.Inject(record.Injection{Fault: fault, Kind: kind, At: at, Until: until, Count: count, Note: note})
}

// between is a time drawn from a range.
func between(low, high time.Duration) time.Duration {
	return low + time.Duration(rand.Int64N(int64(high-low)+1)) //nolint:gosec // drawn, not secret
}

// passes waits until a time or the end of ctx.
func passes(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// every calls f at a pace on goroutines of their own until ctx ends, and waits for
// all of them.
func every(ctx context.Context, pace time.Duration, f func(n int)) {
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	var all group
	defer all.Wait()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			all.Go(func() { f(n) })
		}
	}
}
