package main

import (
	"context"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/scenarios"
	"gnomon/bench/site"
)

// everyone is a turn of each of some contenders.
func everyone(within time.Duration, names ...string) []scenarios.Turn {
	turns := make([]scenarios.Turn, len(names))
	for i, name := range names {
		turns[i] = scenarios.Turn{Name: name, Within: within}
	}
	return turns
}

// herds, lags and the others are steps.
func herds(on site.Kind, seconds, jobs, rounds int, turns []scenarios.Turn) step {
	return step{"herds", seconds, on, func(ctx context.Context, b *scenarios.Bench) error {
		return b.Herds(ctx, scenarios.Rounds{Turns: turns, Jobs: b.Part(jobs), Rounds: rounds, Budget: time.Duration(seconds) * time.Second})
	}}
}

func lags(on site.Kind, seconds, jobs, rounds int, turns []scenarios.Turn) step {
	return step{"lags", seconds, on, func(ctx context.Context, b *scenarios.Bench) error {
		return b.Lags(ctx, scenarios.Rounds{Turns: turns, Jobs: b.Part(jobs), Rate: 60, Rounds: rounds, Budget: time.Duration(seconds) * time.Second})
	}}
}

func calls(on site.Kind, seconds, n, rounds int) step {
	return step{"calls", seconds, on, func(ctx context.Context, b *scenarios.Bench) error { return b.Calls(ctx, b.Part(n), rounds) }}
}

func events(on site.Kind) step {
	return step{"events", 12, on, func(ctx context.Context, b *scenarios.Bench) error { return b.Events(ctx) }}
}

func recovery(on site.Kind, seconds, rounds int) step {
	return step{"recovery", seconds, on, func(ctx context.Context, b *scenarios.Bench) error { return b.Recovery(ctx, rounds) }}
}

func resident(on site.Kind, seconds, warm, more int) step {
	return step{"resident", seconds, on, func(ctx context.Context, b *scenarios.Bench) error {
		return b.Resident(ctx, b.Part(warm), b.Part(more))
	}}
}

func waiting(seconds, n int, names ...string) step {
	return step{"waiting", seconds, site.File, func(ctx context.Context, b *scenarios.Bench) error {
		return b.Waiting(ctx, b.Part(n), names...)
	}}
}

func finished(seconds, n int, names ...string) step {
	return step{"finished", seconds, site.File, func(ctx context.Context, b *scenarios.Bench) error {
		return b.Finished(ctx, b.Part(n), names...)
	}}
}

func systems(on site.Kind, seconds, rounds int) step {
	return step{"systems", seconds, on, func(ctx context.Context, b *scenarios.Bench) error { return b.Systems(ctx, rounds) }}
}

func mirror(seconds int, each time.Duration) step {
	return step{"mirror", seconds, site.File, func(ctx context.Context, b *scenarios.Bench) error {
		return scenarios.Mirror(ctx, b.Site.Dir, b.Report, b.Tell, 5, each)
	}}
}

func list(seconds, rows, pages int) step {
	return step{"list", seconds, site.File, func(ctx context.Context, b *scenarios.Bench) error {
		return scenarios.List(ctx, b, b.Part(rows), pages)
	}}
}

// growth has a second site for where few wait.
func growth(on site.Kind, seconds, large, rounds int) step {
	return step{"growth", seconds, on, func(ctx context.Context, b *scenarios.Bench) error {
		s, err := site.Start(ctx, on, b.Site.Dir+"-few")
		if err != nil {
			return err
		}
		defer s.Close()
		few := scenarios.New(s, b.Report, b.Tell)
		few.Scale = b.Scale
		return b.Growth(ctx, few, b.Part(1000), b.Part(large), rounds)
	}}
}

// quick is what fits into 5 minutes on two quiet cores. What it does smaller is said by the
// rounds and the notes of its figures. Growth, which means nothing among few, and memory,
// which is noise among few, are left to full.
func quick() []step {
	// Schedules take part in the last round: a herd of them takes as long as two rounds of
	// the others.
	const rounds = 3
	some := append(everyone(30*time.Second, contenders.A1, contenders.Gnomon), scenarios.Turn{Name: contenders.TS, Within: 40 * time.Second, Each: rounds})
	return []step{
		events(site.Memory),
		// Before the herds: Temporal takes long to be calm after one.
		lags(site.Memory, 45, 120, rounds, some),
		herds(site.Memory, 165, 1000, rounds, some),
		recovery(site.Memory, 10, 1),
		waiting(16, 300, contenders.A1, contenders.Gnomon),
		mirror(5, time.Second),
		list(8, 50_000, 500),
	}
}

// full takes most of an hour.
func full() []step {
	all := append(everyone(30*time.Second, contenders.A1, contenders.A2, contenders.Gnomon, contenders.RV, contenders.TS),
		scenarios.Turn{Name: contenders.Lifted, Within: 30 * time.Second, Each: 2})
	const minute = 60
	return []step{
		events(site.Memory),
		// A herd of Schedules takes as long as those of all others together.
		herds(site.Memory, 14*minute, 1000, 5, append(everyone(45*time.Second, contenders.A1, contenders.A2, contenders.Gnomon, contenders.RV),
			scenarios.Turn{Name: contenders.TS, Within: 45 * time.Second, Each: 2},
			scenarios.Turn{Name: contenders.Lifted, Within: 45 * time.Second, Each: 4})),
		lags(site.Memory, 6*minute, 360, 5, all),
		herds(site.Memory, 4*minute, 10_000, 1, everyone(90*time.Second, contenders.A1, contenders.Gnomon)),
		calls(site.Memory, minute, 200, 3),
		systems(site.Memory, 2*minute, 5),
		recovery(site.Memory, minute, 5),
		waiting(minute, 1000, contenders.A1, contenders.Gnomon, contenders.A2, contenders.TS),
		finished(2*minute, 250, contenders.A1, contenders.Gnomon, contenders.TS),
		mirror(minute/2, 5*time.Second),
		list(2*minute, 1_000_000, 2000),
		resident(site.File, 2*minute, 3000, 10_000),
		herds(site.Postgres, 5*minute, 1000, 5, everyone(45*time.Second, contenders.A1, contenders.Gnomon)),
		lags(site.Postgres, 3*minute, 360, 5, everyone(30*time.Second, contenders.A1, contenders.Gnomon)),
		growth(site.Memory, 3*minute, 10_000, 5),
		growth(site.Memory, 14*minute, 100_000, 7),
	}
}
