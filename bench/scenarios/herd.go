package scenarios

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
)

// performed is what came of a batch.
type performed struct {
	created

	contender string
	// temporal and here are the processor time of both, from the first create to the
	// last arrival.
	temporal, here time.Duration
	// lags are those of what arrived, missing is what did not in time.
	lags    []time.Duration
	missing int
	// last is when the last arrived after the first was due. If some are missing it is
	// how long they were waited for, so that the true figure is greater.
	last  time.Duration
	curve []report.Point
}

// herd creates n jobs that are due at one moment, some time after the last is created and
// Temporal is done with that, and waits for them, for as long as within allows after that.
func (b *Bench) herd(ctx context.Context, c contenders.Contender, n int, within time.Duration) (performed, error) {
	return b.perform(ctx, c, n, within, func(begin time.Time, _ int) time.Time { return begin })
}

// steady is herd with jobs that are due one after another, rate of them a second.
func (b *Bench) steady(ctx context.Context, c contenders.Contender, n int, rate float64, within time.Duration) (performed, error) {
	return b.perform(ctx, c, n, within, func(begin time.Time, i int) time.Time {
		return begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
	})
}

const (
	// createSlack is what creation may take beyond what it took before.
	createSlack = time.Second
	// calmWithin bounds the wait for a Temporal that has nothing to do.
	calmWithin = 15 * time.Second
)

func (b *Bench) perform(ctx context.Context, c contenders.Contender, n int, within time.Duration, due func(time.Time, int) time.Time) (performed, error) {
	for try := 0; ; try++ {
		b.Site.Calm(ctx, calmWithin)
		estimate := time.Duration(1.25*float64(n)*(float64(time.Second)/b.rates[c.Name()]+float64(b.settling[c.Name()])) + 0.5)
		begin := time.Now().Add(estimate + createSlack).Truncate(time.Second).Add(time.Second)
		jobs, prefix := b.jobs(c, n, func(i int) time.Time { return due(begin, i) })
		temporal, here := b.Site.CPU()
		made, err := create(ctx, c, jobs, Clients)
		if err != nil {
			return performed{}, err
		}
		// The rates of the last round tell most of the next one.
		b.rates[c.Name()] = made.rate()
		from := time.Now()
		b.Site.Calm(ctx, calmWithin)
		b.settling[c.Name()] = time.Since(from) / time.Duration(n)
		late := time.Since(begin)
		arrived := b.Site.Collect(ctx, prefix, n, time.Until(due(begin, n-1))+within)
		if late > 0 {
			// What was due before all slept tells of no herd.
			if try == 0 {
				continue
			}
			return performed{}, fmt.Errorf("%s: Temporal was busy with creating until %s after the first was due", c.Name(), late)
		}
		p := b.settled(c, made, jobs, prefix, arrived, begin, within)
		p.temporal, p.here = b.Site.CPU()
		p.temporal -= temporal
		p.here -= here
		return p, nil
	}
}

// settled reads the arrivals of a batch.
func (b *Bench) settled(c contenders.Contender, made created, jobs []contenders.Job, prefix string, arrived map[string]time.Time, begin time.Time, within time.Duration) performed {
	p := performed{created: made, contender: c.Name(), missing: len(jobs) - len(arrived)}
	for i, j := range jobs {
		at, ok := arrived[fmt.Sprintf("%s%d", prefix, i)]
		if !ok {
			continue
		}
		lag := at.Sub(j.Due)
		p.lags = append(p.lags, lag)
		p.last = max(p.last, at.Sub(begin))
		p.curve = append(p.curve, report.Point{X: at.Sub(begin).Seconds()})
	}
	slices.SortFunc(p.curve, func(a, b report.Point) int { return int(1e6 * (a.X - b.X)) })
	for i := range p.curve {
		p.curve[i].Y = float64(i + 1)
	}
	if p.missing > 0 {
		p.last = jobs[len(jobs)-1].Due.Sub(begin) + within
	}
	b.early(c.Name(), p.lags)
	return p
}
