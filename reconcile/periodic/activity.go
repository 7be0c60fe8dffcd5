package periodic

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gnomon/reconcile"
)

// beatEvery is how often a round says that it is alive.
const beatEvery = heartbeatTimeout / 6

var errStopping = errors.New("the worker stops; another goes on with the round")

// Rounds makes rounds as activities.
type Rounds struct {
	// Config is what is compared; its DryRun and Progress are not used.
	Config reconcile.Config
	Log    *slog.Logger
	// Ended hears of every round that ended or failed. It may be nil.
	Ended func(reconcile.Report, error)
}

// Register makes workflow and activity known to a worker.
func (r *Rounds) Register(to worker.Registry) {
	to.RegisterWorkflowWithOptions(Reconcile, workflow.RegisterOptions{Name: WorkflowName})
	to.RegisterActivityWithOptions(r.Round, activity.RegisterOptions{Name: ActivityName})
}

// Round is the activity: one round, or what the attempt before left of it. When the
// worker stops it ends at once, so that it holds nothing up.
func (r *Rounds) Round(ctx context.Context) (*reconcile.Report, error) {
	var from reconcile.Cursor
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &from); err != nil {
			r.Log.Warn("How far the round had come cannot be read; it begins anew.", "error", err)
			from = reconcile.Cursor{}
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(context.Canceled)
	at := make(chan reconcile.Cursor, 1)
	c := r.Config
	c.DryRun = false
	c.Progress = func(now reconcile.Cursor) { at <- now }
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beat(ctx, from, at, done, stop)
	}()
	report, err := reconcile.Run(ctx, c, from)
	close(done)
	<-ended
	if r.Ended != nil && !errors.Is(context.Cause(ctx), errStopping) {
		r.Ended(report, err)
	}
	if err != nil {
		return nil, err
	}
	if report.Wrong() > 0 || report.Unjudged() > 0 {
		r.Log.Warn("Rows were not as they should be.", "report", report.Sentence())
	} else {
		r.Log.Debug("All rows are as they should be.", "report", report.Sentence())
	}
	return &report, nil
}

// beat keeps the activity alive with its cursor, until done, and stops it with the
// worker.
func beat(ctx context.Context, last reconcile.Cursor, at <-chan reconcile.Cursor, done <-chan struct{}, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	stopping := activity.GetWorkerStopChannel(ctx)
	activity.RecordHeartbeat(ctx, last)
	for {
		select {
		case <-done:
			return
		case <-stopping:
			stop(errStopping)
			stopping = nil
		case last = <-at:
			activity.RecordHeartbeat(ctx, last)
		case <-ticker.C:
			activity.RecordHeartbeat(ctx, last)
		}
	}
}
