package periodic

import (
	"context"
	"errors"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

const (
	keepCall  = 10 * time.Second
	keepPause = 10 * time.Second
)

// Keep sees to it that the reconciler of a task queue runs with an interval, or, for 0,
// that none does. It tries until Temporal answers or ctx ends. Of several workers that
// want different intervals the one that started last has its way.
func Keep(ctx context.Context, c client.Client, taskQueue string, interval time.Duration, log *slog.Logger) {
	for {
		err := keep(ctx, c, taskQueue, interval)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Warn("The reconciler could not be set up and is tried again.", "interval", interval, "error", err)
		again := time.NewTimer(keepPause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

func keep(ctx context.Context, c client.Client, taskQueue string, interval time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, keepCall)
	defer cancel()
	if interval <= 0 {
		err := c.CancelWorkflow(ctx, WorkflowID(taskQueue), "")
		_, none := errors.AsType[*serviceerror.NotFound](err)
		_, already := errors.AsType[*serviceerror.CancellationAlreadyRequested](err)
		if none || already {
			return nil
		}
		return err
	}
	every := Interval{Seconds: interval.Seconds()}
	_, err := c.SignalWithStartWorkflow(ctx, WorkflowID(taskQueue), SignalInterval, every, client.StartWorkflowOptions{
		TaskQueue:             taskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         "reconciler: compares the store's rows with the open actions",
		StaticDetails:         "Repairs rows that are missing, stale, resurrected or orphaned; never touches an action.",
	}, WorkflowName, State{Interval: every})
	return err
}
