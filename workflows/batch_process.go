package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
)

const (
	// roundLimit is far above what a batch of the greatest size takes: 1,000 changes of
	// 2 requests of a minute each (V-14).
	roundLimit = 48 * time.Hour
	// noticeLimit is how long people are tried to be told: a notice that nobody could be
	// given within it is of no use any more.
	noticeLimit = 24 * time.Hour
)

// quick is for activities that must succeed some time.
func (b *batchRun) quick(summary string) workflow.Context {
	return workflow.WithActivityOptions(b.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
		},
	})
}

// accept makes what the facade stored the batch, unless it has done so itself: a run
// whose facade was lost between start and reply loses nothing (V-04).
func (b *batchRun) accept() error {
	if b.state.GetAccepted() {
		return nil
	}
	in := &workflowv1.AcceptBatchInput{Id: b.state.GetHead().GetId(), Uid: b.state.GetHead().GetUid()}
	out := &workflowv1.AcceptBatchResult{}
	if err := workflow.ExecuteActivity(b.quick("accept"), workflowv1.AcceptBatchActivity, in).Get(b.ctx, out); err != nil {
		return err
	}
	if !out.GetAccepted() {
		return temporal.NewNonRetryableApplicationError("there is no such batch: "+out.GetReason(), "NotAccepted", nil)
	}
	b.state.Accepted = true
	return nil
}

// begin takes the batch up: one activity for all changes, one batch at a time in each
// worker process (V-13, V-15). The server retries it, lost processes included (V-11).
func (b *batchRun) begin(now time.Time) {
	b.processing, b.abandoning = batch.Begin(b.state, now), false
	b.process = workflow.ExecuteActivity(workflow.WithActivityOptions(b.ctx, workflow.ActivityOptions{
		TaskQueue:           workflowv1.BatchTaskQueue(workflow.GetInfo(b.ctx).TaskQueueName),
		StartToCloseTimeout: roundLimit,
		HeartbeatTimeout:    b.options.HeartbeatTimeout,
		Summary:             fmt.Sprintf("round %d", b.processing.GetHead().GetStatus().GetRound()),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			MaximumAttempts: b.options.BatchAttempts,
		},
	}), workflowv1.ProcessBatchActivity, b.processing)
}

// settle takes over the results that have come.
func (b *batchRun) settle() {
	if ready(b.process) {
		b.settleRound()
	}
	if ready(b.write) {
		if err := b.write.Get(b.ctx, nil); err != nil {
			// It retries for ever, so that only a worker without it ends it.
			b.log.Error("StoreBatch ended without storing the head.", "error", err)
		}
		b.write = nil
		if b.writing == b.state.GetHead().GetRevision() {
			b.state.Owed = false
		}
	}
	if ready(b.notice) {
		if err := b.notice.Get(b.ctx, nil); err != nil {
			// Its failure changes nothing about the batch (V-17).
			b.log.Error("People could not be told of a batch.", "error", err)
		}
		b.notice = nil
	}
}

// settleRound takes over how a round ended. Attempts that are spent end it by another
// activity, which shuts the last of them out (V-19).
func (b *batchRun) settleRound() {
	result := &workflowv1.ProcessBatchResult{}
	err := b.process.Get(b.ctx, result)
	b.process = nil
	switch {
	case err == nil:
		b.processing = nil
		batch.Adopt(b.state, result, workflow.Now(b.ctx))
	case b.abandoning:
		// It retries for ever, so that only a worker without it ends it; the round is
		// gone on with.
		b.log.Error("AbandonBatch ended without ending the round.", "error", err)
	default:
		in := proto.CloneOf(b.processing)
		in.Reason = spent(err)
		b.abandoning = true
		b.process = workflow.ExecuteActivity(b.quick("retries are spent"), workflowv1.AbandonBatchActivity, in)
	}
}

// spent is why the last attempt did not end the round, in words.
func spent(err error) string {
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		if timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT {
			return "the worker was lost: no heartbeat came in time"
		}
		return "it did not end in time"
	}
	if failure, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return failure.Message()
	}
	return err.Error()
}

// keepStored stores the head that is owed, one at a time, for as long as that takes.
func (b *batchRun) keepStored() {
	if !b.state.GetOwed() || b.write != nil {
		return
	}
	b.writing = b.state.GetHead().GetRevision()
	in := &workflowv1.StoreBatchInput{Head: proto.CloneOf(b.state.GetHead())}
	b.write = workflow.ExecuteActivity(b.quick("store "+in.GetHead().GetStatus().GetState().String()), workflowv1.StoreBatchActivity, in)
}

// keepTold tells people of the state that is owed to them, once it is stored. A notice
// of a state that has passed meanwhile is given up (V-17).
func (b *batchRun) keepTold() {
	if !b.state.GetNoticeOwed() || b.state.GetOwed() {
		return
	}
	if b.notice != nil {
		b.stopNotice()
	}
	b.state.NoticeOwed = false
	h := b.state.GetHead()
	in := &workflowv1.NotifyBatchInput{
		Id: h.GetId(), Uid: h.GetUid(), State: h.GetStatus().GetState(), Round: h.GetStatus().GetRound(),
	}
	ctx, stop := workflow.WithCancel(b.ctx)
	b.stopNotice = stop
	b.notice = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: noticeLimit,
		StartToCloseTimeout:    5 * time.Minute,
		HeartbeatTimeout:       time.Minute,
		Summary:                "tell of " + in.GetState().String(),
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Minute},
	}), workflowv1.NotifyBatchActivity, in)
}
