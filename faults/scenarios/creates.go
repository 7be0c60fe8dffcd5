package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
)

// contenders is how many clients create one id at once (F9).
const contenders = 64

// creates has 64 clients create the same id at once, and then one who uses the
// winner's request_id for another spec.
func creates(ctx context.Context, p *play) error {
	if err := p.StartFacade(ctx); err != nil {
		return err
	}
	if err := p.StartWorker(ctx); err != nil {
		return err
	}
	if err := p.dial(0); err != nil {
		return err
	}
	for n := range p.scale.Barriers {
		id := fmt.Sprintf("b-%d", n)
		s := record.Spec{Path: "/ok", Due: time.Now().Add(farOff)}
		var all group
		barrier := make(chan struct{})
		answers := make([]record.Call, contenders)
		for c := range contenders {
			all.Go(func() {
				<-barrier
				answers[c] = p.client.Create(ctx, clients.Who{Client: c}, id, p.Target, s)
			})
		}
		close(barrier)
		all.Wait()
		s.Path = "/another"
		for _, a := range answers {
			if a.Code == "OK" {
				p.client.Create(ctx, clients.Who{RequestID: a.RequestID}, id, p.Target, s)
				break
			}
		}
		p.Inject(record.Injection{Fault: "F9", Kind: record.Barrier, At: time.Now(), Count: 1, ID: id, Want: contenders + 1})
		p.say("%d of %d barriers", n+1, p.scale.Barriers)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
