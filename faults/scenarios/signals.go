package scenarios

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/faults/clients"
	"gnomon/faults/record"
)

// malformed are signals as a person or a program may get them wrong.
var malformed = []struct {
	name    string
	payload any
}{
	{"update", map[string]any{"actoin": 1}},
	{"update", "not an object"},
	{"update", map[string]any{"action": map[string]any{"spec": map[string]any{}}}},
	{"update", []byte{0xff, 0x00, 0xff}},
	{"update", map[string]any{"paths": []string{"status"}}},
	{"pause", []int{1, 2, 3}},
	{"pause", map[string]any{"unknown": true}},
	{"resume", 17},
	{"trigger", map[string]any{"id": 5}},
	{"cancel", "cancel!"},
	{"no-such-command", nil},
	{"no-such-command", map[string]any{"a": "b"}},
}

// signals sends malformed signals to actions (F22), and 10,000 good ones to a single
// action, whose run continues as new meanwhile (F23).
func signals(ctx context.Context, p *play) error {
	if err := p.StartFacade(ctx); err != nil {
		return err
	}
	if err := p.StartWorker(ctx); err != nil {
		return err
	}
	if err := p.dial(0); err != nil {
		return err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: p.Address})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := p.badSignals(ctx, c); err != nil {
		return err
	}
	return p.manySignals(ctx, c)
}

// badSignals sends every malformed signal to every action and looks whether it shows.
func (p *play) badSignals(ctx context.Context, c client.Client) error {
	var ids []string
	for n := range p.scale.BadTo {
		id := fmt.Sprintf("bad-%d", n)
		// Every other is performed in the end; these all wait.
		due := time.Now().Add(farOff)
		if n%2 == 0 {
			due = time.Now().Add(15 * time.Second)
		}
		p.client.Create(ctx, clients.Who{}, id, p.Target, record.Spec{Path: "/ok", Due: due})
		ids = append(ids, id)
	}
	for _, id := range ids {
		for _, m := range malformed {
			if err := c.SignalWorkflow(ctx, workflowv1.WorkflowID(id), "", m.name, m.payload); err != nil {
				return err
			}
		}
	}
	shown := int64(0)
	for _, id := range ids {
		reply, err := p.client.Service().GetAction(ctx, &gnomonv1.GetActionRequest{Id: id, Fresh: true})
		if err != nil {
			return err
		}
		for _, k := range reply.GetStatus().GetConditions() {
			if k.GetType() == "CommandsAccepted" && k.GetStatus() == gnomonv1.Condition_FALSE {
				shown++
			}
		}
	}
	p.Inject(record.Injection{
		Fault: "F22", Kind: record.BadSignals, At: time.Now(), Count: len(ids) * len(malformed),
		Note: "actions that show a malformed signal", Want: int64(len(ids)), Got: shown,
	})
	return nil
}

// senders is how many send signals at once.
const senders = 8

// manySignals counts by the sequence that the workflow hands out with every change.
func (p *play) manySignals(ctx context.Context, c client.Client) error {
	const id = "many"
	p.client.Create(ctx, clients.Who{}, id, p.Target, record.Spec{Path: "/ok", Due: time.Now().Add(farOff)})
	before, err := sequence(ctx, c, id)
	if err != nil {
		return err
	}
	var sent atomic.Int64
	var all group
	for s := range senders {
		all.Go(func() {
			for n := s; n < p.scale.Signals && ctx.Err() == nil; n += senders {
				command := &workflowv1.Command{
					Id: uuid.NewString(), Paths: []string{"meta.labels"},
					Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id, Labels: map[string]string{"n": fmt.Sprint(n)}}},
				}
				// One that Temporal refuses was not accepted, and is sent again.
				for ctx.Err() == nil && c.SignalWorkflow(ctx, workflowv1.WorkflowID(id), "", workflowv1.CommandUpdate, command) != nil {
					_ = passes(ctx, 50*time.Millisecond)
				}
				if k := sent.Add(1); k%500 == 0 {
					p.say("%d of %d signals", k, p.scale.Signals)
				}
			}
		})
	}
	all.Wait()
	after := before
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && after-before < int64(p.scale.Signals); {
		if after, err = sequence(ctx, c, id); err != nil {
			return err
		}
		if err := passes(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	p.Inject(record.Injection{
		Fault: "F23", Kind: record.ManySignals, At: time.Now(), ID: id, Count: p.scale.Signals,
		Note: "signals applied", Want: int64(p.scale.Signals), Got: after - before,
	})
	return nil
}

// sequence is the number of changes that a workflow has made.
func sequence(ctx context.Context, c client.Client, id string) (int64, error) {
	answer, err := c.QueryWorkflow(ctx, workflowv1.WorkflowID(id), "", workflowv1.QueryAction)
	if err != nil {
		return 0, err
	}
	r := &workflowv1.CommandResult{}
	if err := answer.Get(r); err != nil {
		return 0, err
	}
	return int64(r.GetRevision().GetSequence()), nil
}
