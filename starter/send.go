package starter

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
)

// errNoWorker says that no worker answered within the time for it.
var errNoWorker = errors.New("no worker answered")

// applyShare is how much of the caller's remaining time an update may take, so that
// some is left to leave the command as a signal.
const applyShare = 2

// send sends an update, whatever kind of workflow it is for, and waits for its result,
// for as long as applyTimeout. Temporal gives an update up, without applying it, when the
// task that had it failed or its run closed meanwhile: it is sent again, with the same id.
func send[R any](ctx context.Context, applyTimeout time.Duration, update func(context.Context) (client.WorkflowUpdateHandle, error)) (*R, error) {
	wait, cancel := within(ctx, applyTimeout)
	defer cancel()
	for {
		handle, err := update(wait)
		result, err := answered[R](ctx, wait, handle, err)
		if _, notReady := errors.AsType[*serviceerror.WorkflowNotReady](err); !notReady {
			return result, err
		}
		if pauseFor(wait, closingPause) != nil {
			return nil, errNoWorker
		}
	}
}

// answered waits for an update's result. An end of its own time, while the caller
// still has some, is errNoWorker.
func answered[R any](ctx, wait context.Context, handle client.WorkflowUpdateHandle, err error) (*R, error) {
	result := new(R)
	if err == nil {
		err = handle.Get(wait, result)
	}
	if err == nil {
		return result, nil
	}
	// The server gives up a little before our own time ends.
	var late *client.WorkflowUpdateServiceTimeoutOrCanceledError
	gaveUp := wait.Err() != nil || errors.As(err, &late) || temporalCode(err) == codes.DeadlineExceeded
	if gaveUp && ctx.Err() == nil {
		return nil, errNoWorker
	}
	return nil, err
}

// within bounds what a worker has to answer in: applyTimeout, less if the caller's
// deadline is nearer.
func within(ctx context.Context, applyTimeout time.Duration) (context.Context, context.CancelFunc) {
	limit := applyTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/applyShare)
	}
	return context.WithTimeout(ctx, limit)
}
