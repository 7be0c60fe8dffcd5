package scenarios

import (
	"context"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/store/faulty"
)

const (
	// removed is how many rows are removed by hand.
	removed = 20
	// removedDue is how long their actions wait: until all are removed.
	removedDue = 15 * time.Second
)

// unsound is a store that does writes twice, shuffled, not at all, and without a reply.
// YDB has troubles of its own behind that.
var unsound = trouble{
	faults: faulty.Faults{Double: 0.5, LoseReply: 0.3, Fail: 0.2, Jitter: 300 * time.Millisecond},
	behind: roles.Outage{Errors: 0.2, Lost: 0.2},
}

// rows has the writes of rows doubled, shuffled, failed, and done without a reply
// (F6). Then rows are removed: the facade answers from Temporal, and the action's next
// change brings its row back.
func rows(ctx context.Context, p *play) error {
	if err := p.faultyParts(ctx); err != nil {
		return err
	}
	err := beside(ctx, func(load context.Context) { p.steady(ctx, load, "m", "/fail-first/2", 150*time.Millisecond) },
		func() error {
			// Each row of an attempt is a write that any of these may have befallen.
			return p.unwell(ctx, "F6", record.StoreUnsound, p.scale.Stretch, unsound, int(p.scale.Stretch/(150*time.Millisecond)))
		})
	if err != nil {
		return err
	}
	return p.remove(ctx)
}

// remove removes rows of actions that wait.
func (p *play) remove(ctx context.Context) error {
	answered, due := int64(0), time.Now().Add(removedDue)
	for n := range removed {
		id := fmt.Sprintf("gone-%d", n)
		p.client.Create(ctx, clients.Who{}, id, p.Target, record.Spec{Path: "/ok", Due: due})
		if err := p.RemoveRow(ctx, id); err != nil {
			return err
		}
		reply, err := p.client.Service().GetAction(ctx, &gnomonv1.GetActionRequest{Id: id})
		if err == nil && reply.GetMeta().GetId() == id && reply.GetStatus().GetState() == gnomonv1.Status_SCHEDULED {
			answered++
		}
	}
	p.Inject(record.Injection{
		Fault: "F6", Kind: record.RowRemoved, At: time.Now(), Count: removed,
		Note: "read while their rows were removed", Want: removed, Got: answered,
	})
	// What has no row does not look as if it were under way.
	return passes(ctx, time.Until(due))
}
