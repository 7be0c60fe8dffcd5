package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"gnomon/action"
	"gnomon/action/life"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// listenGrace is how long a performer may take to notice that its time is up.
const listenGrace = 5 * time.Second

// returned is what a performer came back with.
type returned struct {
	reply performers.Reply
	err   error
}

// perform calls the performer within its time limit, which is shorter than the
// activity's: a slow action is a failed attempt, only a lost process is an
// interrupted one (M-37). A panic is caught and is an interruption (M-38).
func (a *attempt) perform(ctx context.Context) life.Ending {
	kind := action.Kind(a.in.GetSpec().GetAction())
	performer, ok := a.Performers[kind]
	if !ok {
		return life.Ending{
			Outcome: gnomonv1.AttemptStatus_FAILURE, At: a.now(), Permanent: true,
			Error: fmt.Sprintf("this installation performs no %q", kind),
		}
	}
	limit := action.PerformTimeout(a.in.GetSpec().GetAction())
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer cancel()
	bounded, stop := a.withGrace(bounded)
	defer stop()

	results, request := make(chan returned, 1), a.request()
	go func() {
		reply, err := performers.Guarded(bounded, performer, request, a.Log)
		results <- returned{reply, err}
	}()
	select {
	case r := <-results:
		return a.ending(bounded, r)
	case <-bounded.Done():
	}
	deaf := time.NewTimer(listenGrace)
	defer deaf.Stop()
	select {
	case r := <-results:
		return a.ending(bounded, r)
	case <-deaf.C:
		a.Log.ErrorContext(ctx, "A performer does not stop and is left behind.", "kind", kind)
		return a.ending(bounded, returned{err: context.Cause(bounded)})
	}
}

// withGrace ends the context StopGrace after the worker began to stop.
func (a *attempt) withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-stop:
		}
		grace := time.NewTimer(a.StopGrace)
		defer grace.Stop()
		select {
		case <-ctx.Done():
		case <-grace.C:
			cancel(errStopping)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// request is what the performer is told. It is made before the performer's own
// goroutine begins, which may be left behind and must not look at the progress.
func (a *attempt) request() performers.Request {
	return performers.Request{
		Action:         a.in.GetSpec().GetAction(),
		ID:             a.in.GetMeta().GetId(),
		GUID:           cmp.Or(a.progress.GetOccurrence().GetGuid(), a.in.GetMeta().GetGuid()),
		Occurrence:     a.progress.GetOccurrence().GetDue().AsTime(),
		Attempt:        a.progress.GetOccurrence().GetAttempts() + 1,
		IdempotencyKey: a.progress.GetStatus().GetCurrentAttemptStatus().GetIdempotencyKey(),
	}
}

// ending judges what the performer came back with.
func (a *attempt) ending(ctx context.Context, r returned) life.Ending {
	e := life.Ending{Outcome: gnomonv1.AttemptStatus_SUCCESS, At: a.now(), Reply: performers.Shorten(r.reply.Text)}
	switch {
	case r.err == nil:
		return e
	case performers.IsInterruption(r.err):
		e.Outcome = gnomonv1.AttemptStatus_INTERRUPTED
	case errors.Is(context.Cause(ctx), errStopping):
		e.Outcome, e.Immediate = gnomonv1.AttemptStatus_INTERRUPTED, true
		r.err = errStopping
	default:
		e.Outcome, e.Permanent = gnomonv1.AttemptStatus_FAILURE, performers.IsPermanent(r.err)
	}
	e.Error = performers.Shorten(r.err.Error())
	return e
}
