package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/worker"

	"gnomon/agent/kind"
	"gnomon/agent/queue"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const (
	purgeEvery = time.Minute
	purgeBatch = 1000
	// reconnectEvery lies between two tries to begin polling while Temporal cannot be
	// reached.
	reconnectEvery = time.Second
)

// Agent is the agent of one node.
type Agent struct {
	config Config
	queue  *queue.Queue
	kinds  kind.All
	health *health
	runner *runner
	news   chan struct{}
	// measuring is held while the queue is measured.
	measuring sync.Mutex
	// reachable says whether Temporal answered last.
	reachable atomic.Bool
}

// Run is the agent from its start until ctx ends. Started is called when what an earlier
// agent left is settled and the local API serves at the address given, if it does.
//
// What an earlier agent of this directory left running is stopped first, and its action
// CANCELLED: how far it came is not known.
func Run(ctx context.Context, c Config, started func(localAddress string)) (err error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return fmt.Errorf("configuration of the agent: %w", err)
	}
	x := &Agent{config: c, health: &health{config: c.Health, meter: c.Meter}, news: make(chan struct{}, 1)}
	if x.kinds.Exec, err = kind.NewExec(c.Exec); err != nil {
		return err
	}
	x.kinds.HTTP = kind.NewHTTP(c.HTTP)
	if x.queue, err = queue.Open(ctx, filepath.Join(c.DataDir, "queue.db")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.queue.Close()) }()
	interrupted, err := x.queue.Interrupted(ctx, time.Now(), kind.StopGroup)
	if err != nil {
		return err
	}
	for _, id := range interrupted {
		c.Logger.Warn("An action was running when the agent before this one ended.", "action", id)
	}
	x.runner = newRunner(x.queue, x.kinds, c, x.changed)

	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	address, serving, err := x.serveLocal(ctx)
	if err != nil {
		return err
	}
	x.changed() // registers the node
	for _, part := range []func(context.Context){x.runner.Run, x.tell, x.purge, x.poll} {
		running.Go(func() { part(ctx) })
	}
	started(address)
	select {
	case <-ctx.Done():
		return nil
	case err := <-serving:
		return err
	}
}

// poll serves the core until ctx ends. While Temporal cannot be reached it tries again:
// the node's own work does not wait for it.
func (x *Agent) poll(ctx context.Context) {
	for ctx.Err() == nil {
		w := worker.New(x.config.Client, workflowv1.NodeTaskQueue(x.config.Cluster, x.config.Node), worker.Options{
			Identity:                           fmt.Sprintf("gnomon-agent@%s/%s", x.config.Cluster, x.config.Node),
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityExecutionSize: 4,
			MaxConcurrentActivityTaskPollers:   2,
		})
		activities{x}.register(w)
		if err := w.Start(); err != nil {
			x.config.Logger.Warn("Temporal cannot be reached; the agent goes on without.", "error", err)
			pause(ctx, reconnectEvery)
			continue
		}
		<-ctx.Done()
		w.Stop()
	}
}

// purge removes old records until ctx ends.
func (x *Agent) purge(ctx context.Context) {
	for {
		for {
			now := time.Now()
			n, err := x.queue.Purge(ctx, now.Add(-x.config.RetainAge), x.config.RetainCount, purgeBatch, now, now.Add(-closedAge*x.config.RetainAge))
			if err != nil && ctx.Err() == nil {
				x.config.Logger.Error("Old records cannot be purged.", "error", err)
			}
			if err != nil || n < purgeBatch {
				break
			}
		}
		pause(ctx, min(purgeEvery, x.config.RetainAge))
		if ctx.Err() != nil {
			return
		}
	}
}

// cancel ends an action, wherever it stands.
func (x *Agent) cancel(ctx context.Context, id, reason string) error {
	stands, err := x.queue.Cancel(ctx, id, reason, time.Now())
	if err != nil {
		return err
	}
	x.runner.Stop(id, errors.New(stands.GetReason()))
	x.changed()
	return nil
}
