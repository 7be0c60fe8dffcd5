package scenarios

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/store/faulty"
)

// removed is how many rows are removed by hand.
const removed = 20

// rows has the writes of rows doubled, shuffled, failed, and done without a reply
// (F6). Then rows are removed: the facade answers from Temporal, and the action's next
// change brings its row back.
func rows(ctx context.Context, p *play) error {
	if err := p.faultyParts(ctx); err != nil {
		return err
	}
	unsound := faulty.Faults{Double: 0.5, LoseReply: 0.3, Fail: 0.2, Jitter: 300 * time.Millisecond}
	if err := p.setStore(ctx, unsound); err != nil {
		return err
	}
	err := beside(ctx, func(load context.Context) { p.steady(ctx, load, "m", "/fail-first/2", 150*time.Millisecond) },
		func() error {
			at := time.Now()
			err := passes(ctx, p.scale.Stretch)
			// Each row of an attempt is a write that any of these may have befallen.
			p.inject("F6", record.StoreUnsound, at, time.Now(), int(time.Since(at)/(150*time.Millisecond)), "")
			return err
		})
	if err != nil {
		return err
	}
	if err := p.setStore(ctx, faulty.Faults{}); err != nil {
		return err
	}
	return p.remove(ctx)
}

// remove removes rows of actions that wait.
func (p *play) remove(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.Dir, record.StoreFile)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer db.Close()
	answered, due := int64(0), time.Now().Add(8*time.Second)
	for n := range removed {
		id := fmt.Sprintf("gone-%d", n)
		p.client.Create(ctx, clients.Who{}, id, p.Target, record.Spec{Path: "/ok", Due: due})
		result, err := db.ExecContext(ctx, "DELETE FROM scheduled_actions WHERE meta_action_id = ?", id)
		if err != nil {
			return err
		}
		if gone, err := result.RowsAffected(); err != nil || gone != 1 {
			return fmt.Errorf("%s had no row to remove: %w", id, err)
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
	return nil
}
