package agent

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/time/rate"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

const (
	// newsGather is how long news wait for more, so that what is over at once is told
	// once: taken, RUNNING, DONE.
	newsGather = 20 * time.Millisecond
	// newsEvery is the least distance of two signals to the core, on the long run.
	newsEvery = time.Second
	// newsBurst is how many of them may come sooner. Where one action follows from the end
	// of another, as in a playbook, each of its stages would take newsEvery without.
	newsBurst = 30
	// newsTimeout bounds one try.
	newsTimeout = 10 * time.Second
	// newsRetry is the greatest distance of two tries.
	newsRetry = 15 * time.Second
)

// tell tells the core that there is news, once for all that comes within newsGather, until
// it took it. The cluster is made by it if there is none.
func (x *Agent) tell(ctx context.Context) {
	tell(ctx, x.news, func(ctx context.Context) bool {
		err := x.announce(ctx)
		x.reachable.Store(err == nil)
		if err != nil && ctx.Err() == nil {
			x.config.Logger.Warn("The core cannot be told the news; it looks by itself now and then.", "error", err)
		}
		return err == nil
	})
}

// tell calls announce for news until it says that it was heard, within the limits above.
func tell(ctx context.Context, news <-chan struct{}, announce func(context.Context) bool) {
	limit := rate.NewLimiter(rate.Every(newsEvery), newsBurst)
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		pause(ctx, newsGather)
		if limit.Wait(ctx) != nil {
			return
		}
		// What came meanwhile is told with it.
		select {
		case <-news:
		default:
		}
		for again := newsEvery; !announce(ctx) && ctx.Err() == nil; again = min(2*again, newsRetry) {
			pause(ctx, again)
		}
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
