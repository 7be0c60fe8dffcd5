package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/processes"
	"gnomon/faults/record"
)

// upFor is how long Temporal is left alone: longer than F2 gives it to dispatch again.
const upFor = 5500 * time.Millisecond

// temporal kills Temporal -9 at random moments under load and starts it again on its
// file (F2). Facade and workers are left alone and have to find it again.
func temporal(ctx context.Context, p *play) error {
	if err := p.StartFacade(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := p.StartWorker(ctx); err != nil {
			return err
		}
	}
	if err := p.dial(lossOfF4); err != nil {
		return err
	}
	before := p.Workers()
	return beside(ctx, func(load context.Context) {
		every(load, 130*time.Millisecond, func(n int) {
			path := "/slow/50ms"
			if n%10 == 5 {
				// Outlives the server, so that its heartbeat is lost and not its worker.
				path = "/slow/6s"
			}
			p.client.Create(ctx, clients.Who{Client: n}, fmt.Sprintf("t-%d", p.number()), p.Target, record.Spec{
				Path: path, Due: time.Now().Add(between(500*time.Millisecond, 8*time.Second)),
				Retries: manyRetries, Delay: retryDelay,
			})
		})
	}, func() error {
		for n := range p.scale.TemporalKills {
			if err := passes(ctx, between(upFor, upFor+2*time.Second)); err != nil {
				return err
			}
			at := p.Temporal.Kill()
			if err := passes(ctx, between(0, 1500*time.Millisecond)); err != nil {
				return err
			}
			if err := p.StartTemporal(ctx); err != nil {
				return err
			}
			p.inject("F2", record.KillTemporal, at, time.Now(), 1, "")
			p.say("%d of %d servers killed", n+1, p.scale.TemporalKills)
		}
		if err := passes(ctx, 6*time.Second); err != nil {
			return err
		}
		survived(p, append(before, p.Facade))
		return nil
	})
}

// survived notes the processes that an outage of Temporal ended.
func survived(p *play, all []*processes.Process) {
	for _, w := range all {
		if !w.Alive() {
			p.inject("F2", record.Died, time.Now(), time.Time{}, 0, "a process did not survive: "+w.Tail())
		}
	}
}
