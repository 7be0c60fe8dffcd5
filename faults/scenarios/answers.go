package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/roles"
)

const (
	// lossOfF4 is the part of answers that are lost.
	lossOfF4 = 0.3
	// callers is how many clients call at once.
	callers = 12
	// farOff is due after everything here is over.
	farOff = 2 * time.Hour
)

// answers has clients lose three answers in ten and repeat their calls under their
// request_ids (F4), while the facade dies again and again between Temporal's commit of
// a create and its reply (F3).
func answers(ctx context.Context, p *play) error {
	if err := p.StartFaultyFacade(ctx, 0); err != nil {
		return err
	}
	if err := p.StartWorker(ctx); err != nil {
		return err
	}
	if err := p.dial(lossOfF4); err != nil {
		return err
	}
	return beside(ctx, func(load context.Context) {
		var all group
		for c := range callers {
			all.Go(func() {
				for load.Err() == nil {
					p.sequence(ctx, c)
				}
			})
		}
		all.Wait()
	}, func() error {
		for n := 0; n < p.scale.FacadeKills || p.client.Lost() < int64(p.scale.LostAnswers); {
			if err := passes(ctx, between(200*time.Millisecond, 2*time.Second)); err != nil {
				return err
			}
			if n < p.scale.FacadeKills {
				if err := p.dieInFacade(ctx); err != nil {
					return err
				}
				n++
			}
			p.say("%d of %d facades killed, %d of %d answers lost", n, p.scale.FacadeKills, p.client.Lost(), p.scale.LostAnswers)
		}
		return nil
	})
}

// dieInFacade has the facade die at the failpoint and starts another at its address.
func (p *play) dieInFacade(ctx context.Context) error {
	if err := p.Order(ctx, p.Facade, roles.Order{Die: "StartWorkflowExecution"}); err != nil && p.Facade.Alive() {
		return err
	}
	select {
	case <-p.Facade.Ended():
	case <-time.After(30 * time.Second):
		return fmt.Errorf("no create reached the failpoint within 30 s")
	}
	at := time.Now()
	err := p.StartFaultyFacade(ctx, 0)
	p.inject("F3", record.KillFacade, at, time.Now(), 1, "")
	return err
}

// sequence is what one client does with an id of its own, one call after the other.
func (p *play) sequence(ctx context.Context, client int) {
	id, who := fmt.Sprintf("a-%d", p.number()), clients.Who{Client: client}
	far := record.Spec{Path: "/ok", Due: time.Now().Add(farOff)}
	if rand.IntN(3) == 0 { //nolint:gosec // drawn, not secret
		soon := record.Spec{Path: "/ok", Due: time.Now().Add(time.Second), Retries: manyRetries, Delay: retryDelay}
		p.client.Create(ctx, who, id, p.Target, soon)
		return
	}
	p.client.Create(ctx, who, id, p.Target, far)
	for range rand.IntN(4) { //nolint:gosec // drawn, not secret
		switch rand.IntN(5) { //nolint:gosec // drawn, not secret
		case 0:
			p.client.Update(ctx, who, id, p.Target, far)
		case 1:
			p.client.Pause(ctx, who, id)
		case 2:
			p.client.Resume(ctx, who, id)
		case 3:
			p.client.Delete(ctx, who, id)
		default:
			p.client.Create(ctx, who, id, p.Target, far)
		}
	}
}
