package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"gnomon/agent/kind"
	"gnomon/agent/queue"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// errStopped is why an action ends that the agent did not wait for any longer.
var errStopped = errors.New("interrupted: the agent was stopped")

// runner performs the queue's actions, one at a time.
type runner struct {
	queue *queue.Queue
	kinds kind.All
	grace time.Duration
	log   *slog.Logger
	meter Meter
	// changed is called after every change.
	changed func()

	wake chan struct{}

	mu      sync.Mutex
	current string
	stop    context.CancelCauseFunc
}

func newRunner(q *queue.Queue, k kind.All, c Config, changed func()) *runner {
	return &runner{queue: q, kinds: k, grace: c.StopGrace, log: c.Logger, meter: c.Meter, changed: changed, wake: make(chan struct{}, 1)}
}

// Wake says that there may be something to perform.
func (r *runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Stop stops an action if it is the one that runs. That it is to end must be in the
// queue before, as it may be claimed meanwhile.
func (r *runner) Stop(id string, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == id && r.stop != nil {
		r.stop(why)
	}
}

// Run performs until ctx ends; the action that runs then has its grace.
func (r *runner) Run(ctx context.Context) {
	for ctx.Err() == nil {
		a, err := r.queue.Claim(ctx, time.Now())
		switch {
		case err != nil && ctx.Err() == nil:
			r.log.Error("The queue cannot be read.", "error", err)
			pause(ctx, time.Second)
		case a != nil:
			r.changed()
			r.perform(ctx, a)
			r.changed()
		default:
			select {
			case <-ctx.Done():
			case <-r.wake:
			}
		}
	}
}

// perform runs one action to its end and stores that. A store that fails is tried until
// it works: otherwise nobody could tell whether it ran.
func (r *runner) perform(agent context.Context, a *gnomonv1.NodeAction) {
	lasting := context.WithoutCancel(agent)
	ctx, stop := context.WithCancelCause(lasting)
	defer stop(nil)
	r.mu.Lock()
	r.current, r.stop = a.GetId(), stop
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.current, r.stop = "", nil
		r.mu.Unlock()
	}()
	// It may have been cancelled between Claim and here.
	if now, err := r.queue.Get(lasting, a.GetId()); err == nil && now.GetCancelRequested() {
		stop(errors.New(now.GetReason()))
	}
	ended := context.AfterFunc(agent, func() {
		timer := time.NewTimer(r.grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			stop(errStopped)
		case <-ctx.Done():
		}
	})
	defer ended()

	r.log.Info("An action begins.", "action", a.GetId())
	began := time.Now()
	outcome := r.outcome(ctx, lasting, a)
	r.meter.Ended(outcome.State, time.Since(began))
	r.log.Info("An action ended.", "action", a.GetId(), "state", outcome.State.String(), "reason", outcome.Reason)
	for {
		err := r.queue.Finish(lasting, a.GetId(), outcome.State, outcome.Reason, outcome.Result, time.Now())
		if err == nil || errors.Is(err, queue.ErrFinished) {
			return
		}
		r.log.Error("The end of an action cannot be stored.", "action", a.GetId(), "error", err)
		if agent.Err() != nil {
			return // the next agent finds it RUNNING
		}
		pause(agent, time.Second)
	}
}

// outcome runs an action. A kind that panics fails its action and not the agent.
func (r *runner) outcome(ctx, lasting context.Context, a *gnomonv1.NodeAction) (o kind.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("An action panicked.", "action", a.GetId(), "panic", p, "stack", string(debug.Stack()))
			o = kind.Outcome{State: gnomonv1.NodeAction_FAILED, Reason: "it panicked"}
		}
	}()
	if ctx.Err() != nil {
		return kind.Outcome{State: gnomonv1.NodeAction_CANCELLED, Reason: fmt.Sprint(context.Cause(ctx))}
	}
	k, err := r.kinds.For(a)
	if err == nil {
		err = k.Permit(a)
	}
	if err != nil {
		return kind.Outcome{State: gnomonv1.NodeAction_FAILED, Reason: err.Error()}
	}
	return k.Run(ctx, a, func(process string) error { return r.queue.Process(lasting, a.GetId(), process) })
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
