package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

// owePublish takes that there may be records to publish (G-12).
func (e *entityRun) owePublish() {
	e.state.PublishOwed, e.publishAgain = true, true
}

// keepPublished publishes while something is owed, one activity at a time, for as long
// as that takes. It holds up nothing else.
func (e *entityRun) keepPublished() {
	if e.publish != nil || !e.state.GetPublishOwed() {
		return
	}
	e.publishAgain = false
	ctx := workflow.WithActivityOptions(e.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             "publish",
	})
	e.publish = workflow.ExecuteActivity(ctx, workflowv1.PublishSavedActivity, &workflowv1.PublishSavedInput{
		Type: e.state.GetType(), Id: e.state.GetId(),
	})
}

func (e *entityRun) settlePublish() {
	if !ready(e.publish) {
		return
	}
	published := &workflowv1.PublishSavedResult{}
	if err := e.publish.Get(e.ctx, published); err == nil {
		e.state.PublishOwed = e.publishAgain
		entity.Changed(e.state, published.GetVersion(), nil)
	}
	e.publish = nil
}

// queueDelay is how long the queue may have changed before its rows are stored: what
// waits for less is seen by nobody, and costs nothing.
const queueDelay = 2 * time.Second

// keepQueue stores the rows of the queue, one activity at a time (G-34), and says when
// it would do so.
func (e *entityRun) keepQueue() time.Time {
	if e.mirror != nil || !e.state.GetQueueOwed() {
		return time.Time{}
	}
	in := &workflowv1.MirrorQueueInput{Type: e.state.GetType(), Id: e.state.GetId(), Incarnation: e.state.GetIncarnation()}
	for _, p := range e.state.GetPending() {
		in.Entries = append(in.Entries, &workflowv1.MirrorQueueInput_Entry{
			Stage: p.GetStage(), EnqueueTime: p.GetEnqueueTime(), Background: p.GetBackground(),
		})
	}
	if len(in.GetEntries()) == 0 && !e.state.GetQueued() {
		e.state.QueueOwed, e.state.QueueOwedSince = false, nil
		return time.Time{}
	}
	now := workflow.Now(e.ctx)
	if e.state.GetQueueOwedSince() == nil {
		e.state.QueueOwedSince = timestamppb.New(now)
	}
	// Rows of what has ended go at once, as the run may end with them.
	if due := e.state.GetQueueOwedSince().AsTime().Add(queueDelay); len(in.GetEntries()) > 0 && now.Before(due) {
		return due
	}
	e.state.QueueOwed, e.state.QueueOwedSince = false, nil
	e.state.Sequence++
	in.Sequence, e.mirroring = e.state.GetSequence(), len(in.GetEntries())
	ctx := workflow.WithActivityOptions(e.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             "rows of the queue",
	})
	e.mirror = workflow.ExecuteActivity(ctx, workflowv1.MirrorQueueActivity, in)
	return time.Time{}
}

func (e *entityRun) settleQueue() {
	if !ready(e.mirror) {
		return
	}
	if err := e.mirror.Get(e.ctx, nil); err != nil {
		e.state.QueueOwed, e.state.Queued = true, true
	} else {
		e.state.Queued = e.mirroring > 0
	}
	e.mirror = nil
}
