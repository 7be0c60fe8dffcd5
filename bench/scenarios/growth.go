package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/bench/report"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	// farOff is when what only waits is due.
	farOff = 24 * time.Hour
	// beginWithin bounds the wait until all that was created waits for its time.
	beginWithin = 8 * time.Minute
	// pageSize and pages are those of the lists.
	pageSize = 100
	// listFilter holds for all that waits, and for the probes too.
	listFilter = `state = "SCHEDULED"`
)

// Growth compares gnomon where many wait (b) with gnomon where few do, on sites of the
// same kind that take turns.
func (b *Bench) Growth(ctx context.Context, few *Bench, small, large, rounds int) error {
	for _, one := range []struct {
		on *Bench
		n  int
	}{{few, small}, {b, large}} {
		if err := one.on.fill(ctx, one.n); err != nil {
			return err
		}
	}
	var create, lag, list [2][]float64
	for round := range rounds {
		for turn := range 2 {
			which := (round + turn) % 2
			on := []*Bench{few, b}[which]
			b.Tell("growth, round %d of %d: %d waiting", round+1, rounds, []int{small, large}[which])
			g, err := on.grown(ctx)
			if err != nil {
				return err
			}
			create[which] = append(create[which], g.create)
			lag[which] = append(lag[which], g.lag)
			list[which] = append(list[which], g.list)
		}
	}
	note := ""
	if large < 100_000 {
		note = fmt.Sprintf("%d waiting against %d", large, small)
	}
	for _, of := range []struct {
		name string
		took [2][]float64
	}{{"create", create}, {"lag", lag}, {"list", list}} {
		b.Report.Target("growth_"+of.name, string(b.Site.Kind), report.SpreadOf(report.Ratios(of.took[1], of.took[0])), note)
		for which, n := range []int{small, large} {
			took := report.SpreadOf(of.took[which])
			b.Report.Growth(of.name+" p99, ms", n, took.Median)
			b.Report.Also(fmt.Sprintf("growth_%s_p99_ms %d", of.name, n), string(b.Site.Kind), fmt.Sprintf("p99 of it where %d wait", n), took)
		}
	}
	return nil
}

// fill has a number of actions wait.
func (b *Bench) fill(ctx context.Context, n int) error {
	service, err := b.gnomon(ctx)
	if err != nil {
		return err
	}
	const part = 1000
	for done := 0; done < n; done += part {
		b.Tell("growth: %d of %d wait", done, n)
		jobs, _ := b.jobs(service, min(part, n-done), farAway())
		if _, err := create(ctx, patient{service}, jobs, fillClients); err != nil {
			return err
		}
	}
	// Creating is faster than having all begin their wait: a probe would wait behind them.
	b.Tell("growth: %d were created, and begin to wait", n)
	if !b.Site.Calm(ctx, beginWithin) {
		return fmt.Errorf("%d created actions did not begin to wait within %s", n, beginWithin)
	}
	return nil
}

// farAway are due times of what only waits.
func farAway() func(int) time.Time {
	from := time.Now().Add(farOff)
	return func(i int) time.Time { return from.Add(time.Duration(i) * time.Millisecond) }
}

// grown is what gnomon is like with what waits, p99 in milliseconds.
type grown struct{ create, lag, list float64 }

func (b *Bench) grown(ctx context.Context) (g grown, err error) {
	const probes, rate = 300, 60
	service, err := b.gnomon(ctx)
	if err != nil {
		return g, err
	}
	p, err := b.steady(ctx, service, b.Part(probes), rate, 10*time.Second)
	if err != nil {
		return g, err
	}
	g.lag = lagP99(&p)
	jobs, _ := b.jobs(service, b.Part(200), farAway())
	made, err := create(ctx, service, jobs, Clients)
	if err != nil {
		return g, err
	}
	g.create = report.Percentile(made.calls, 0.99)
	const pages = 300
	// What was created begins its wait: a page is not to be measured beside that.
	b.Site.Calm(ctx, calmWithin)
	calls, err := list(ctx, service.Actions, b.Part(pages), func(int) string { return listFilter })
	g.list = report.Percentile(calls, 0.99)
	return g, err
}

// list reads pages, each with the filter that its number gives, from the first row on.
func list(ctx context.Context, c gnomonv1.ActionServiceClient, pages int, filter func(int) string) ([]time.Duration, error) {
	calls := make([]time.Duration, 0, pages)
	for i := range pages {
		from := time.Now()
		reply, err := c.ListActions(ctx, &gnomonv1.ListActionsRequest{PageSize: pageSize, Filter: filter(i)})
		if err != nil {
			return calls, err
		}
		calls = append(calls, time.Since(from))
		if len(reply.GetActions()) == 0 {
			return calls, fmt.Errorf("page %d is empty", i)
		}
	}
	return calls, nil
}
