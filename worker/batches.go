package worker

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// registerBatches registers the activities of batches, and gives the worker of their
// changes: a task queue of its own, one batch at a time, and nothing more is polled for
// until that is done (V-13, V-15). Actions do not wait for batches, nor they for actions.
func registerBatches(c client.Client, quick worker.ActivityRegistry, cfg Config, identity string) worker.Worker {
	b := &activities.Batches{Store: cfg.Store, Kinds: cfg.Changes, Notices: cfg.Notices, Log: cfg.Logger, Worker: identity, Teller: activities.NewTeller(c)}
	quick.RegisterActivityWithOptions(b.AcceptBatch, activity.RegisterOptions{Name: workflowv1.AcceptBatchActivity})
	quick.RegisterActivityWithOptions(b.StoreBatch, activity.RegisterOptions{Name: workflowv1.StoreBatchActivity})
	quick.RegisterActivityWithOptions(b.AbandonBatch, activity.RegisterOptions{Name: workflowv1.AbandonBatchActivity})
	quick.RegisterActivityWithOptions(b.NotifyBatch, activity.RegisterOptions{Name: workflowv1.NotifyBatchActivity})
	own := worker.New(c, workflowv1.BatchTaskQueue(cfg.TaskQueue), worker.Options{
		Identity:                           identity,
		BuildID:                            workflowv1.BuildID(cfg.Build), //nolint:staticcheck // as in New
		DisableWorkflowWorker:              true,
		MaxConcurrentActivityExecutionSize: 1,
		MaxConcurrentActivityTaskPollers:   1,
		WorkerStopTimeout:                  cfg.StopGrace + stopMargin,
		MaxHeartbeatThrottleInterval:       cfg.HeartbeatTimeout / 3,
	})
	own.RegisterActivityWithOptions(b.ProcessBatch, activity.RegisterOptions{Name: workflowv1.ProcessBatchActivity})
	return own
}
