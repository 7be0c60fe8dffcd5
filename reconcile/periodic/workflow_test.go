package periodic_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"gnomon/reconcile"
	"gnomon/reconcile/periodic"
)

// rounds is the workflow in the SDK's test environment, which skips time.
type rounds struct {
	*testsuite.TestWorkflowEnvironment

	at []time.Duration // when the rounds began, after the start
}

func newRounds(t *testing.T, round func(n int) error) *rounds {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	r := &rounds{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	r.SetTestTimeout(20 * time.Second)
	r.RegisterWorkflowWithOptions(periodic.Reconcile, workflow.RegisterOptions{Name: periodic.WorkflowName})
	var began time.Time
	r.RegisterActivityWithOptions(func(context.Context) (*reconcile.Report, error) {
		if began.IsZero() {
			began = r.Now()
		}
		r.at = append(r.at, r.Now().Sub(began))
		return &reconcile.Report{Rows: int64(len(r.at))}, round(len(r.at))
	}, activity.RegisterOptions{Name: periodic.ActivityName})
	return r
}

func every(d time.Duration) periodic.Interval { return periodic.Interval{Seconds: d.Seconds()} }

func fine(int) error { return nil }

// Rounds follow each other at the interval; after a hundred the run hands over what it
// knows.
func TestRoundsFollow(t *testing.T) {
	t.Parallel()
	r := newRounds(t, fine)
	r.ExecuteWorkflow(periodic.Reconcile, periodic.State{Interval: every(10 * time.Minute), Rounds: 5})
	next, ok := errors.AsType[*workflow.ContinueAsNewError](r.GetWorkflowError())
	require.True(t, ok, "%v", r.GetWorkflowError())
	require.Len(t, r.at, 100)
	require.Equal(t, 10*time.Minute, r.at[1])
	require.Equal(t, 99*10*time.Minute, r.at[99])
	var s periodic.State
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &s))
	require.Equal(t, every(10*time.Minute), s.Interval)
	require.EqualValues(t, 105, s.Rounds)
	require.EqualValues(t, 100, s.Last.Rows)
}

// A signalled interval counts from the last round, and puts it off as little as one
// that says nothing new.
func TestIntervalIsSignalled(t *testing.T) {
	t.Parallel()
	r := newRounds(t, fine)
	r.RegisterDelayedCallback(func() { r.SignalWorkflow(periodic.SignalInterval, every(time.Hour)) }, 20*time.Minute)
	r.RegisterDelayedCallback(func() { r.SignalWorkflow(periodic.SignalInterval, every(30*time.Minute)) }, 25*time.Minute)
	r.RegisterDelayedCallback(func() { r.SignalWorkflow(periodic.SignalInterval, every(0)) }, 40*time.Minute)
	r.RegisterDelayedCallback(func() { r.SignalWorkflow(periodic.SignalInterval, every(10*time.Minute)) }, 55*time.Minute)
	r.RegisterDelayedCallback(r.CancelWorkflow, 66*time.Minute)
	r.ExecuteWorkflow(periodic.Reconcile, periodic.State{Interval: every(time.Hour)})
	minutes := make([]float64, len(r.at))
	for i, at := range r.at {
		minutes[i] = at.Minutes()
	}
	require.Equal(t, []float64{0, 30, 55, 65}, minutes)
	require.True(t, temporal.IsCanceledError(r.GetWorkflowError()), "%v", r.GetWorkflowError())
}

// A round that fails, as while the store is down, is made again until it succeeds.
func TestRoundsAreRetried(t *testing.T) {
	t.Parallel()
	r := newRounds(t, func(n int) error {
		if n < 8 {
			return errors.New("the store is down")
		}
		return nil
	})
	r.RegisterDelayedCallback(r.CancelWorkflow, 30*time.Minute)
	r.ExecuteWorkflow(periodic.Reconcile, periodic.State{Interval: every(time.Hour)})
	require.Len(t, r.at, 8)
	require.Less(t, r.at[7]-r.at[0], 4*time.Minute)
	require.True(t, temporal.IsCanceledError(r.GetWorkflowError()))
}

// The figures of the last round can be read in the Web UI.
func TestFiguresAreShown(t *testing.T) {
	t.Parallel()
	r := newRounds(t, fine)
	r.RegisterDelayedCallback(func() {
		answer, err := r.QueryWorkflow("__temporal_workflow_metadata")
		require.NoError(t, err)
		shown := &sdkpb.WorkflowMetadata{}
		require.NoError(t, answer.Get(shown))
		require.Contains(t, shown.GetCurrentDetails(), "1 living rows")
		r.CancelWorkflow()
	}, 5*time.Minute)
	r.ExecuteWorkflow(periodic.Reconcile, periodic.State{Interval: every(10 * time.Minute)})
	require.Len(t, r.at, 1)
}
