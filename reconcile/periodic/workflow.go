package periodic

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gnomon/reconcile"
)

// Names that Temporal knows, and what is part of histories with them.
const (
	// WorkflowName is the workflow type.
	WorkflowName = "Reconcile"
	// ActivityName is the activity: one round.
	ActivityName = "ReconcileRound"
	// SignalInterval sets the time between rounds; payload Interval.
	SignalInterval = "interval"
)

// WorkflowID is the id of the one reconciler of a task queue.
func WorkflowID(taskQueue string) string { return "reconcile/" + taskQueue }

const (
	// roundsPerRun bounds a run's history: some twelve events a round.
	roundsPerRun = 100
	// roundLimit bounds one round, heartbeatTimeout the silence of its worker.
	roundLimit       = 7 * 24 * time.Hour
	heartbeatTimeout = time.Minute
)

// Interval is how long lies between the end of a round and the beginning of the next.
type Interval struct {
	Seconds float64 `json:"seconds"`
}

// State is what the workflow begins with and carries from run to run.
type State struct {
	Interval Interval `json:"interval"`
	// Rounds is how many rounds were made, Last what the last came to.
	Rounds int64             `json:"rounds"`
	Last   *reconcile.Report `json:"last,omitempty"`
}

func (s State) interval() time.Duration {
	return max(time.Second, time.Duration(s.Interval.Seconds*float64(time.Second)))
}

// Reconcile makes a round, sleeps, and does so again, until it is cancelled.
func Reconcile(ctx workflow.Context, s State) error {
	intervals := workflow.GetSignalChannel(ctx, SignalInterval)
	for range roundsPerRun {
		describe(ctx, s)
		report := &reconcile.Report{}
		if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, activityOptions(s)), ActivityName).Get(ctx, report); err != nil {
			return err // cancelled: every other end is retried
		}
		s.Rounds++
		s.Last = report
		describe(ctx, s)
		if err := sleep(ctx, &s, intervals); err != nil { // cancelled
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			break
		}
	}
	drain(&s, intervals)
	return workflow.NewContinueAsNewError(ctx, WorkflowName, s)
}

func activityOptions(s State) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: roundLimit,
		HeartbeatTimeout:    heartbeatTimeout,
		Summary:             fmt.Sprintf("round %d", s.Rounds+1),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
		},
	}
}

// sleep waits for the next round. An interval that is signalled meanwhile counts from
// the end of the last round too, so that signals put nothing off.
func sleep(ctx workflow.Context, s *State, intervals workflow.ReceiveChannel) error {
	began := workflow.Now(ctx)
	for {
		drain(s, intervals)
		left := s.interval() - workflow.Now(ctx).Sub(began)
		if left <= 0 {
			return nil
		}
		signalled, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: left, TimerOptions: workflow.TimerOptions{Summary: "next round"},
		}, func() bool { return intervals.Len() > 0 })
		if err != nil || !signalled {
			return err
		}
		describe(ctx, *s)
	}
}

// drain takes the intervals that were signalled; the last one stands.
func drain(s *State, intervals workflow.ReceiveChannel) {
	var want Interval
	for intervals.ReceiveAsync(&want) {
		if want.Seconds > 0 {
			s.Interval = want
		}
	}
}

// describe shows what the last round came to as the current details in the Web UI.
func describe(ctx workflow.Context, s State) {
	text := fmt.Sprintf("Rounds: %d, every %s\n\n", s.Rounds, s.interval())
	if s.Last != nil {
		text += s.Last.Table()
	}
	workflow.SetCurrentDetails(ctx, text)
}
