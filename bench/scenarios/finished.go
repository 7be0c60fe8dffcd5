package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/bench/site"
)

// timesRepeated is how often each job of Finished is performed that is so again and again.
const timesRepeated = 11

// repeatedEvery is more than the second that Temporal may be late with a timer of less
// than a second, so that none is missed.
const repeatedEvery = 2 * time.Second

// finishedWithin bounds each wait for the last arrival: Schedules start 30 a second.
const finishedWithin = 90 * time.Second

// Finished measures the bytes that are kept of a job that was performed once, and those of
// each time that one is performed which is so again and again. It needs a site on disk.
func (b *Bench) Finished(ctx context.Context, n int, names ...string) error {
	on := string(b.Site.Kind)
	// Few enough for each tick to be done before the next on two cores: those that are
	// missed are one.
	repeated := max(1, n/25)
	for _, name := range names {
		if err := b.Take(ctx, name); err != nil {
			return err
		}
		c, ok := b.contenders[name].(contenders.Repeater)
		if !ok {
			return fmt.Errorf("%s cannot repeat a job", name)
		}
		b.Tell("bytes of what has finished: %s", name)
		once, err := b.kept(ctx, c, n, 1, c.Create)
		if err != nil {
			return err
		}
		b.Tell("bytes of %d times each: %s", timesRepeated, name)
		often, err := b.kept(ctx, c, repeated, timesRepeated, func(ctx context.Context, j contenders.Job) error {
			return c.Repeat(ctx, j, repeatedEvery, timesRepeated)
		})
		if err != nil {
			return err
		}
		b.Report.Also("finished_bytes "+name, on, "bytes in the core tables of what was performed once", report.Exactly(float64(once.Core())))
		b.Report.Also("finished_list_bytes "+name, on, "bytes in the tables that lists and counts are answered from", report.Exactly(float64(once.Lists())))
		b.Report.Also("tick_bytes "+name, on, fmt.Sprintf("bytes in the core tables for each of %d times", timesRepeated),
			report.Exactly(float64(often.Core())/timesRepeated))
		if name == contenders.Gnomon {
			b.Report.Also("mirror_bytes", on, "bytes in the mirror of what was performed once, its indexes included", report.Exactly(float64(once.mirror)))
		}
	}
	return nil
}

// weight is what Temporal and the mirror keep.
type weight struct {
	site.Bytes

	mirror int64
}

// kept is how many bytes each of n jobs leaves that are created and performed a number of
// times.
func (b *Bench) kept(ctx context.Context, c contenders.Contender, n, times int, do func(context.Context, contenders.Job) error) (weight, error) {
	before, err := b.weigh(ctx)
	if err != nil {
		return weight{}, err
	}
	begin := time.Now().Add(time.Second + time.Duration(n)*20*time.Millisecond).Truncate(time.Second).Add(time.Second)
	jobs, prefix := b.jobs(c, n, func(int) time.Time { return begin })
	if _, err := create(ctx, making{c, do}, jobs, Clients); err != nil {
		return weight{}, err
	}
	if _, err := b.arrivals(ctx, prefix, n*times, time.Until(begin)+finishedWithin); err != nil {
		return weight{}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	after, err := b.weigh(ctx)
	if err != nil {
		return weight{}, err
	}
	return weight{after.Since(before.Bytes, n), (after.mirror - before.mirror) / int64(n)}, nil
}

// making is a contender that creates in a way of its own.
type making struct {
	contenders.Contender

	do func(context.Context, contenders.Job) error
}

// Create implements Contender.
func (m making) Create(ctx context.Context, j contenders.Job) error { return m.do(ctx, j) }

// weigh gives the bytes of Temporal and of the mirror, once they stand.
func (b *Bench) weigh(ctx context.Context) (w weight, err error) {
	if w.Bytes, err = b.settledBytes(ctx); err != nil || b.contenders[contenders.Gnomon] == nil {
		return w, err
	}
	w.mirror, err = site.FileBytes(ctx, b.Site.MirrorPath(contenders.Gnomon))
	return w, err
}
