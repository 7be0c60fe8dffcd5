package contenders

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// wavesName is the type of the workflow.
const wavesName = "Waves"

// Waves is what a team writes by hand for a batch, a playbook or a reaction: a workflow that
// sleeps and then executes waves of activities, those of a wave at once, one wave after
// another.
type Waves struct {
	client client.Client
	worker worker.Worker
}

// wavesQueue is its task queue.
const wavesQueue = "waves"

// NewWaves starts the worker.
func NewWaves(c client.Client) (*Waves, error) {
	w := &Waves{client: c, worker: worker.New(c, wavesQueue, worker.Options{
		MaxConcurrentActivityTaskPollers: Pollers, MaxConcurrentWorkflowTaskPollers: Pollers,
	})}
	w.worker.RegisterWorkflowWithOptions(waves, workflow.RegisterOptions{Name: wavesName})
	w.worker.RegisterActivityWithOptions(newPoster().Post, activity.RegisterOptions{Name: postName})
	return w, w.worker.Start()
}

func waves(ctx workflow.Context, due time.Time, all [][]Input) error {
	if wait := due.Sub(workflow.Now(ctx)); wait > 0 {
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	for _, wave := range all {
		posts := make([]workflow.Future, len(wave))
		for i, in := range wave {
			posts[i] = begin(ctx, in)
		}
		for _, p := range posts {
			if err := p.Get(ctx, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Start starts a workflow. A zero due is now.
func (w *Waves) Start(ctx context.Context, id string, due time.Time, all [][]Input) error {
	_, err := w.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: wavesQueue}, wavesName, due, all)
	return err
}

// Close stops the worker.
func (w *Waves) Close() { w.worker.Stop() }
