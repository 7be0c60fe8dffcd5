package contenders

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Input is what a workflow by hand is started with.
type Input struct {
	Due  time.Time
	URL  string
	Body []byte
}

const (
	sleeperName = "Sleeper"
	tickerName  = "Ticker"
	actorName   = "Actor"
	postName    = "Post"
)

// act executes the one activity, with the retries that gnomon's actions have by default.
func act(ctx workflow.Context, in Input) error { return begin(ctx, in).Get(ctx, nil) }

func begin(ctx workflow.Context, in Input) workflow.Future {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 1, MaximumInterval: time.Second, MaximumAttempts: 1 + retries,
		},
	}), postName, in)
}

// retries are those of gnomon's default policy: who wants some says so, to each.
const retries = 0

// Sleeper is a1: it sleeps, then acts.
func Sleeper(ctx workflow.Context, in Input) error {
	if err := workflow.Sleep(ctx, in.Due.Sub(workflow.Now(ctx))); err != nil {
		return err
	}
	return act(ctx, in)
}

// Ticker is a1 for what is done again and again: it sleeps until each time and acts.
func Ticker(ctx workflow.Context, in Input, every time.Duration, times int) error {
	for i := range times {
		if err := workflow.Sleep(ctx, in.Due.Add(time.Duration(i)*every).Sub(workflow.Now(ctx))); err != nil {
			return err
		}
		if err := act(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// Actor is a2 and TS: it acts at once.
func Actor(ctx workflow.Context, in Input) error { return act(ctx, in) }

// byHand is a worker with both workflows on a task queue, and the client that starts
// them.
type byHand struct {
	name string
	// queue is as long as gnomon's, since each event of a task names it.
	queue, kind string
	delayed     bool
	client      client.Client
	worker      worker.Worker
}

// NewA1 starts the worker of a1.
func NewA1(c client.Client) (Contender, error) {
	return newByHand(byHand{name: A1, queue: "sleeps", kind: sleeperName, client: c})
}

// NewA2 starts the worker of a2.
func NewA2(c client.Client) (Contender, error) {
	return newByHand(byHand{name: A2, queue: "delays", kind: actorName, delayed: true, client: c})
}

func newByHand(h byHand) (*byHand, error) {
	h.worker = worker.New(h.client, h.queue, worker.Options{
		MaxConcurrentActivityTaskPollers: Pollers, MaxConcurrentWorkflowTaskPollers: Pollers,
	})
	h.worker.RegisterWorkflowWithOptions(Sleeper, workflow.RegisterOptions{Name: sleeperName})
	h.worker.RegisterWorkflowWithOptions(Ticker, workflow.RegisterOptions{Name: tickerName})
	h.worker.RegisterWorkflowWithOptions(Actor, workflow.RegisterOptions{Name: actorName})
	h.worker.RegisterActivityWithOptions(newPoster().Post, activity.RegisterOptions{Name: postName})
	return &h, h.worker.Start()
}

// Name implements Contender.
func (h *byHand) Name() string { return h.name }

// Resolution implements Contender.
func (h *byHand) Resolution() time.Duration { return 0 }

// Create implements Contender.
func (h *byHand) Create(ctx context.Context, j Job) error {
	o := client.StartWorkflowOptions{ID: "sleep/" + j.ID, TaskQueue: h.queue}
	if h.delayed {
		o.StartDelay = max(0, time.Until(j.Due))
	}
	_, err := h.client.ExecuteWorkflow(ctx, o, h.kind, Input{Due: j.Due, URL: j.URL, Body: j.Body})
	return err
}

// Repeat implements Repeater.
func (h *byHand) Repeat(ctx context.Context, j Job, every time.Duration, times int) error {
	o := client.StartWorkflowOptions{ID: "sleep/" + j.ID, TaskQueue: h.queue}
	_, err := h.client.ExecuteWorkflow(ctx, o, tickerName, Input{Due: j.Due, URL: j.URL, Body: j.Body}, every, times)
	return err
}

// Close implements Contender.
func (h *byHand) Close() { h.worker.Stop() }
