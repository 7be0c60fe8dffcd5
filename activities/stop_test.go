package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// stopped performs until its context ends.
func stopped(ctx context.Context, _ performers.Request) (performers.Reply, error) {
	<-ctx.Done()
	return performers.Reply{}, ctx.Err()
}

// M-37: an action that is slower than its time limit is a failure, not a lost
// process.
func TestSlowPerformer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		began := time.Now()
		b.perform = stopped
		failure, p := b.fail()
		require.Equal(t, 20*time.Second, time.Since(began))
		require.Equal(t, workflowv1.FailureFailed, failure.Type())
		require.EqualValues(t, 1, p.GetStatus().GetFailedAttemptsCounter())
	})
}

// A performer that does not listen is left behind, so that its attempt still ends as
// a failure before the server gives the process up.
func TestDeafPerformer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		began := time.Now()
		release := make(chan struct{})
		defer close(release)
		b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
			<-release
			return performers.Reply{}, nil
		}
		failure, p := b.fail()
		require.Equal(t, 25*time.Second, time.Since(began))
		require.Equal(t, workflowv1.FailureFailed, failure.Type())
		require.Equal(t, "the performer's time limit passed", p.GetStatus().GetLastAttemptStatus().GetError())
	})
}

// A worker that stops gives its attempts their grace, then hands them on: they count
// as interrupted and go on elsewhere at once.
func TestWorkerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		stop := make(chan struct{})
		b.env.SetWorkerStopChannel(stop)
		began := time.Now()
		b.perform = func(ctx context.Context, r performers.Request) (performers.Reply, error) {
			close(stop)
			return stopped(ctx, r)
		}
		failure, p := b.fail()
		require.Equal(t, b.real.StopGrace, time.Since(began))
		require.Equal(t, workflowv1.FailureInterrupted, failure.Type())
		require.False(t, failure.NonRetryable())
		require.LessOrEqual(t, failure.NextRetryDelay(), time.Millisecond)
		require.EqualValues(t, 1, p.GetStatus().GetInterruptedAttemptsCounter())
		require.Equal(t, "the worker stops", p.GetStatus().GetLastAttemptStatus().GetError())
	})
}

// What ends within the grace counts as what it was (M-38: a graceful stop does not
// count).
func TestWorkerStopsAndTheAttemptEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		stop := make(chan struct{})
		b.env.SetWorkerStopChannel(stop)
		b.perform = func(ctx context.Context, _ performers.Request) (performers.Reply, error) {
			close(stop)
			select {
			case <-time.After(b.real.StopGrace - 1):
				return performers.Reply{}, nil
			case <-ctx.Done():
				return performers.Reply{}, ctx.Err()
			}
		}
		p, err := b.run()
		require.NoError(t, err)
		require.EqualValues(t, 1, p.GetStatus().GetSuccessfulAttemptsCounter())
	})
}

// M-43: an attempt that the workflow cancelled reports nothing of its own: what it
// came to is nobody's any more.
func TestCancelledAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	ctx, cancel := context.WithCancel(t.Context())
	b.env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	b.perform = func(ctx context.Context, r performers.Request) (performers.Reply, error) {
		cancel()
		return stopped(ctx, r)
	}
	_, err := b.run()
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, err, &cancelled)
	require.Len(t, b.acted, 1)
	require.Empty(t, b.beats)
}

// The SDK ends the attempt's context when the worker has stopped for long: what the
// attempt came to is still reported, for no workflow asked to forget it.
func TestWorkerStoppedForGood(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	ctx, cancel := context.WithCancel(t.Context())
	b.env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	stop := make(chan struct{})
	b.env.SetWorkerStopChannel(stop)
	b.perform = func(ctx context.Context, r performers.Request) (performers.Reply, error) {
		close(stop)
		cancel()
		return stopped(ctx, r)
	}
	_, p := b.fail()
	require.EqualValues(t, 1, p.GetStatus().GetFailedAttemptsCounter())
}
