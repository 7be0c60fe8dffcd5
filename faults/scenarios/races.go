package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
)

const (
	// racing is how many ids race at once, rivals how many clients each has.
	racing, rivals = 16, 4
	// closeTo is how near to the due time the calls are made (F10).
	closeTo = 20 * time.Millisecond
)

// races has four clients update, delete, pause, resume, trigger and create one id
// within 20 ms of its due time (F10). Three answers in ten are lost for good: such a
// call may or may not have happened.
func races(ctx context.Context, p *play) error {
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
	p.client.Once = true
	sure, err := clients.Dial(p.Dir, p.GRPC)
	if err != nil {
		return err
	}
	defer sure.Close()
	for done := 0; done < p.scale.Races; {
		var all group
		for range min(racing, p.scale.Races-done) {
			done++
			all.Go(func() { p.race(ctx, sure) })
		}
		all.Wait()
		p.say("%d of %d races", done, p.scale.Races)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// race is that of one id.
func (p *play) race(ctx context.Context, sure *clients.Client) {
	id, due := fmt.Sprintf("r-%d", p.number()), time.Now().Add(between(900*time.Millisecond, 1400*time.Millisecond))
	first := sure.Create(ctx, clients.Who{}, id, p.Target, record.Spec{Path: "/ok", Due: due})
	var all group
	for c := range rivals {
		all.Go(func() {
			for range 2 {
				if passes(ctx, time.Until(due.Add(between(-closeTo, closeTo)))) != nil {
					return
				}
				p.rival(ctx, c+1, id, first.GUID)
			}
		})
	}
	all.Wait()
	p.Inject(record.Injection{Fault: "F10", Kind: record.Race, At: due, Count: 1, ID: id})
}

// rival makes one call.
func (p *play) rival(ctx context.Context, client int, id, guid string) {
	who := clients.Who{Client: client}
	// Due just then, in a moment, or after the race is over.
	due := time.Now().Add([]time.Duration{0, 10 * time.Millisecond, farOff}[rand.IntN(3)]) //nolint:gosec // drawn
	switch draw := rand.IntN(100); {                                                       //nolint:gosec // drawn
	case draw < 25:
		if rand.IntN(3) == 0 { //nolint:gosec // drawn
			who.Etag = guid
		}
		p.client.Update(ctx, who, id, p.Target, record.Spec{Path: "/ok", Due: due})
	case draw < 42:
		p.client.Delete(ctx, who, id)
	case draw < 57:
		p.client.Pause(ctx, who, id)
	case draw < 70:
		p.client.Resume(ctx, who, id)
	case draw < 85:
		p.client.Trigger(ctx, who, id)
	default:
		p.client.Create(ctx, who, id, p.Target, record.Spec{Path: "/ok", Due: due})
	}
}
