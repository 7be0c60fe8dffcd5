package periodic_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"gnomon/reconcile"
	"gnomon/reconcile/periodic"
)

// A cursor that a lost worker left is where the round goes on.
func TestRoundGoesOnFromItsHeartbeat(t *testing.T) {
	t.Parallel()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	work := &periodic.Rounds{Log: slog.New(slog.DiscardHandler), Config: reconcile.Config{Client: unused{}, Store: unusedStore{}}}
	env.RegisterActivityWithOptions(work.Round, activity.RegisterOptions{Name: periodic.ActivityName})
	env.SetHeartbeatDetails(reconcile.Cursor{Phase: reconcile.PhaseDone, Report: reconcile.Report{Rows: 42}})
	result, err := env.ExecuteActivity(periodic.ActivityName)
	require.NoError(t, err)
	var report reconcile.Report
	require.NoError(t, result.Get(&report))
	require.EqualValues(t, 42, report.Rows)
}

// A worker that stops does not wait for the round.
func TestRoundStopsWithItsWorker(t *testing.T) {
	t.Parallel()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	listing, stopping := make(chan struct{}), make(chan struct{})
	work := &periodic.Rounds{Log: slog.New(slog.DiscardHandler), Config: reconcile.Config{
		Client: stuck{listing: listing}, Store: unusedStore{},
	}}
	env.RegisterActivityWithOptions(work.Round, activity.RegisterOptions{Name: periodic.ActivityName})
	env.SetWorkerStopChannel(stopping)
	go func() {
		<-listing
		close(stopping)
	}()
	began := time.Now()
	_, err := env.ExecuteActivity(periodic.ActivityName)
	require.ErrorContains(t, err, "the worker stops; another goes on with the round")
	require.Less(t, time.Since(began), 10*time.Second)
}
