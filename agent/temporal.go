package agent

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"gnomon/agent/queue"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const (
	defaultTaskQueue = workflowv1.DefaultTaskQueue
	// syncRecords and syncBytes bound one answer to the core, far below the 2 MiB that
	// Temporal takes as one payload: a record may have 64 KiB of output and 32 KiB of words,
	// and what is not printable takes six times as much in JSON.
	syncRecords = 200
	syncBytes   = 256 << 10
)

// activities are what the core asks of the agent in its cycles. Each may come any
// number of times.
type activities struct{ agent *Agent }

func (x activities) register(w worker.Worker) {
	w.RegisterActivityWithOptions(x.Sync, activity.RegisterOptions{Name: workflowv1.AgentSyncActivity})
	w.RegisterActivityWithOptions(x.Push, activity.RegisterOptions{Name: workflowv1.AgentPushActivity})
	w.RegisterActivityWithOptions(x.Cancel, activity.RegisterOptions{Name: workflowv1.AgentCancelActivity})
}

// Sync says what changed since the core's cursor, which of the ids asked for are unknown
// here, and whether the node does its work.
func (x activities) Sync(ctx context.Context, in *workflowv1.AgentSyncInput) (*workflowv1.AgentSyncResult, error) {
	q := x.agent.queue
	r := &workflowv1.AgentSyncResult{Incarnation: q.Incarnation()}
	after := in.GetCursor()
	if in.GetIncarnation() != r.GetIncarnation() {
		after = 0
	}
	// Absence first: a record that comes in between is in the changes, and is not absent.
	var err error
	if r.Absent, err = q.Absent(ctx, in.GetAsk()); err != nil {
		return nil, err
	}
	if r.Records, r.Cursor, r.More, err = q.Changes(ctx, after, syncRecords, syncBytes); err != nil {
		return nil, err
	}
	r.Up, r.Reason, _ = x.agent.health.Look(ctx)
	return r, nil
}

// Push takes actions into the queue. One that this node does not permit is refused for
// good; one whose id has other work here is not taken, and the core learns of that by
// Sync.
func (x activities) Push(ctx context.Context, in *workflowv1.AgentPushInput) (*workflowv1.AgentPushResult, error) {
	// An agent that was stopped in between must not take what the core gave up on and
	// decided anew.
	if before := in.GetValidBefore(); before != nil && time.Now().After(before.AsTime()) {
		return nil, errors.New("the push is out of date")
	}
	r := &workflowv1.AgentPushResult{}
	for _, a := range in.GetActions() {
		refused, err := x.take(ctx, a)
		if err != nil {
			return nil, err
		}
		if refused != nil {
			r.Refused = append(r.Refused, refused)
		}
	}
	x.agent.changed()
	x.agent.runner.Wake()
	return r, nil
}

// take puts one action into the queue or says why it never will be.
func (x activities) take(ctx context.Context, a *gnomonv1.NodeAction) (*workflowv1.AgentPushResult_Refused, error) {
	if refused := x.permitted(a); refused != nil {
		return refused, nil
	}
	_, err := x.agent.queue.Add(ctx, a, time.Now())
	if closed, ok := errors.AsType[*queue.ClosedError](err); ok {
		return &workflowv1.AgentPushResult_Refused{Id: a.GetId(), Reason: closed.Reason, State: closed.State}, nil
	}
	if errors.Is(err, queue.ErrOther) {
		return nil, nil //nolint:nilnil // not taken, and Sync tells what stands instead
	}
	return nil, err
}

// permitted says why this node does not perform an action, or nil.
func (x activities) permitted(a *gnomonv1.NodeAction) *workflowv1.AgentPushResult_Refused {
	err := x.agent.kinds.Permit(a)
	if err == nil {
		return nil
	}
	return &workflowv1.AgentPushResult_Refused{Id: a.GetId(), Reason: err.Error(), State: gnomonv1.NodeAction_FAILED}
}

// Cancel stops actions and keeps those that are not here yet from ever beginning.
func (x activities) Cancel(ctx context.Context, in *workflowv1.AgentCancelInput) error {
	for _, c := range in.GetCancels() {
		err := x.agent.cancel(ctx, c.GetId(), c.GetReason())
		if err != nil && !errors.Is(err, queue.ErrNotFound) && !errors.Is(err, queue.ErrFinished) {
			return err
		}
	}
	return nil
}
