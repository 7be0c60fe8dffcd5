package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/receiver"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Calls measures what one client waits for: creating beside a1, and gnomon's other calls;
// how fresh the mirror is; and the lag of periodic ticks.
func (b *Bench) Calls(ctx context.Context, n, rounds int) error {
	g, err := b.gnomon(ctx)
	if err != nil {
		return err
	}
	if err := b.oneClient(ctx, g, n, rounds); err != nil {
		return err
	}
	if err := b.ticks(ctx, g); err != nil {
		return err
	}
	return b.freshness(ctx, g)
}

// oneClient measures calls that are made one after another.
func (b *Bench) oneClient(ctx context.Context, g *contenders.GnomonService, n, rounds int) error {
	if err := b.Take(ctx, contenders.A1); err != nil {
		return err
	}
	var ratio []float64
	calls := map[string][]float64{}
	for round := range rounds {
		b.Tell("calls of one client, round %d of %d", round+1, rounds)
		rates := map[string]float64{}
		var ids []string
		for turn := range 2 {
			name := []string{contenders.A1, contenders.Gnomon}[(round+turn)%2]
			b.Site.Calm(ctx, calmWithin)
			jobs, _ := b.jobs(b.contenders[name], n, farAway())
			made, err := create(ctx, b.contenders[name], jobs, 1)
			if err != nil {
				return err
			}
			rates[name] = made.rate()
			if name == contenders.Gnomon {
				for _, j := range jobs {
					ids = append(ids, j.ID)
				}
			}
		}
		ratio = append(ratio, rates[contenders.Gnomon]/rates[contenders.A1])
		for _, one := range methods(g.Actions) {
			b.Site.Calm(ctx, calmWithin)
			took := make([]time.Duration, 0, n)
			for _, id := range ids {
				from := time.Now()
				if err := one.call(ctx, id); err != nil {
					return fmt.Errorf("%s: %w", one.name, err)
				}
				took = append(took, time.Since(from))
			}
			calls[one.name] = append(calls[one.name], report.Percentile(took, 0.99))
		}
	}
	on := string(b.Site.Kind)
	b.Report.Also("create_rate_vs_a1 one client", on, "creates a second of one client, against a1", report.SpreadOf(ratio))
	for _, one := range methods(nil) {
		b.Report.Also(one.name+"_p99_ms", on, "p99 of a call, one client", report.SpreadOf(calls[one.name]))
	}
	return nil
}

// method is one of the facade's, of an action that waits.
type method struct {
	name string
	call func(ctx context.Context, id string) error
}

// methods are in the order in which an action can have them.
func methods(c gnomonv1.ActionServiceClient) []method {
	return []method{
		{"get", func(ctx context.Context, id string) error {
			_, err := c.GetAction(ctx, &gnomonv1.GetActionRequest{Id: id})
			return err
		}},
		{"get_fresh", func(ctx context.Context, id string) error {
			_, err := c.GetAction(ctx, &gnomonv1.GetActionRequest{Id: id, Fresh: true})
			return err
		}},
		{"update", func(ctx context.Context, id string) error {
			a := contenders.Action(contenders.Job{ID: id, Due: time.Now().Add(farOff), URL: "http://127.0.0.1:1/", Body: []byte("another")})
			_, err := c.UpdateAction(ctx, &gnomonv1.UpdateActionRequest{Action: a})
			return err
		}},
		{"delete", func(ctx context.Context, id string) error {
			_, err := c.DeleteAction(ctx, &gnomonv1.DeleteActionRequest{Id: id})
			return err
		}},
	}
}

// ticks measures the lag of periodic actions.
func (b *Bench) ticks(ctx context.Context, g *contenders.GnomonService) error {
	const actions, each = 20, 10
	b.Tell("ticks of periodic actions")
	b.Site.Calm(ctx, calmWithin)
	begin := time.Now().Add(2 * time.Second).Truncate(time.Second)
	jobs, prefix := b.jobs(g, actions, func(i int) time.Time { return begin.Add(time.Duration(i) * time.Second / actions) })
	due := map[string]time.Time{}
	for i, j := range jobs {
		if err := g.Repeat(ctx, j, time.Second, each); err != nil {
			return err
		}
		due[fmt.Sprintf("%s%d", prefix, i)] = j.Due
	}
	all, err := b.arrivals(ctx, prefix, actions*each, (each+10)*time.Second)
	if err != nil {
		return err
	}
	var lags []time.Duration
	ticks := map[string]int{}
	for _, a := range all {
		lags = append(lags, a.Time.Sub(due[a.Path].Add(time.Duration(ticks[a.Path])*time.Second)))
		ticks[a.Path]++
	}
	b.early("ticks", lags)
	on := string(b.Site.Kind)
	b.Report.Also("tick_lag_p99_ms", on, "p99 of the lag of ticks, 20 a second", report.SpreadOf([]float64{report.Percentile(lags, 0.99)}))
	return nil
}

// arrivals waits for a number of requests to paths with a prefix, more than one of which may
// be to the same.
func (b *Bench) arrivals(ctx context.Context, prefix string, n int, within time.Duration) ([]receiver.Arrival, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var all []receiver.Arrival
	_, err := b.Site.Inbox.Wait(ctx, func(a receiver.Arrival) bool {
		if strings.HasPrefix(a.Path, prefix) {
			all = append(all, a)
		}
		return len(all) == n
	})
	if err != nil {
		return nil, fmt.Errorf("%d of %d arrivals: %w", len(all), n, err)
	}
	return all, nil
}

// freshness measures how long after its arrival the mirror shows that an action was
// performed.
func (b *Bench) freshness(ctx context.Context, g *contenders.GnomonService) error {
	const n = 30
	var took []time.Duration
	for i := range n {
		b.Tell("freshness of the mirror, %d of %d", i+1, n)
		jobs, prefix := b.jobs(g, 1, func(int) time.Time { return time.Now().Add(50 * time.Millisecond) })
		if err := g.Create(ctx, jobs[0]); err != nil {
			return err
		}
		arrived := b.Site.Collect(ctx, prefix, 1, 20*time.Second)
		at, ok := arrived[prefix+"0"]
		if !ok {
			return fmt.Errorf("%s did not arrive", jobs[0].ID)
		}
		for {
			a, err := g.Actions.GetAction(ctx, &gnomonv1.GetActionRequest{Id: jobs[0].ID})
			if err != nil {
				return err
			}
			if a.GetStatus().GetState() == gnomonv1.Status_SUCCEEDED {
				break
			}
		}
		took = append(took, time.Since(at))
	}
	on := string(b.Site.Kind)
	b.Report.Also("mirror_fresh_p99_ms", on, "from an action's arrival until a get shows it, p99", report.SpreadOf([]float64{report.Percentile(took, 0.99)}))
	return nil
}
