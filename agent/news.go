package agent

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

const (
	// newsEvery is the least distance of two signals to the core.
	newsEvery = time.Second
	// newsTimeout bounds one try.
	newsTimeout = 10 * time.Second
	// newsRetry is the greatest distance of two tries.
	newsRetry = 15 * time.Second
)

// tell tells the core that there is news, once for all that comes within a second, until
// it took it. The cluster is made by it if there is none.
func (x *Agent) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.news:
		}
		for again := newsEvery; ; again = min(2*again, newsRetry) {
			err := x.announce(ctx)
			x.reachable.Store(err == nil)
			if err == nil || ctx.Err() != nil {
				break
			}
			x.config.Logger.Warn("The core cannot be told the news; it looks by itself now and then.", "error", err)
			pause(ctx, again)
		}
		pause(ctx, newsEvery)
	}
}

func (x *Agent) announce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, newsTimeout)
	defer cancel()
	_, err := x.config.Client.SignalWithStartWorkflow(ctx, workflowv1.ClusterWorkflowID(x.config.Cluster), workflowv1.SignalNews,
		&workflowv1.News{Node: &gnomonv1.Node{Name: x.config.Node, Labels: x.config.Labels}},
		client.StartWorkflowOptions{
			TaskQueue:                x.config.ClusterTaskQueue,
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			StaticSummary:            "cluster " + x.config.Cluster,
		}, workflowv1.ClusterWorkflow, playbook.New(x.config.Cluster))
	return err
}

// changed notes that there is something to tell.
func (x *Agent) changed() {
	x.measure()
	select {
	case x.news <- struct{}{}:
	default:
	}
}

// measure tells the meter how long the queue is. One at a time: the last one to look is
// the last one to tell.
func (x *Agent) measure() {
	x.measuring.Lock()
	defer x.measuring.Unlock()
	if n, err := x.queue.Unfinished(context.Background()); err == nil {
		x.config.Meter.Unfinished(n)
	}
}
