package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
)

// clock has the facade's clock wrong by a minute and by an hour, both ways (F7). What
// such a facade takes for longer past than 10 minutes it refuses; what it accepts is
// never early, and is performed on time by Temporal's clock.
func clock(ctx context.Context, p *play) error {
	if err := p.StartWorker(ctx); err != nil {
		return err
	}
	for _, off := range []time.Duration{time.Minute, -time.Minute, time.Hour, -time.Hour} {
		if err := p.StartFaultyFacade(ctx, off); err != nil {
			return err
		}
		if p.client == nil {
			if err := p.dial(0); err != nil {
				return err
			}
		}
		at := time.Now()
		for n := range p.scale.Clocks {
			due := time.Now().Add(between(500*time.Millisecond, 4*time.Second))
			if off == time.Hour && n%2 == 0 {
				due = time.Now().Add(55 * time.Minute) // accepted, and an hour early if its clock were trusted
			}
			p.client.Create(ctx, clients.Who{}, fmt.Sprintf("k%s-%d", off, n), p.Target, record.Spec{Path: "/ok", Due: due})
		}
		if err := passes(ctx, 5*time.Second); err != nil {
			return err
		}
		p.inject("F7", record.ClockOff, at, time.Now(), p.scale.Clocks, off.String())
		p.say("the clock was wrong by %s", off)
		p.Facade.Kill()
	}
	return p.StartFaultyFacade(ctx, 0)
}
