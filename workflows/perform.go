package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"gnomon/action"
	"gnomon/action/life"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// performMargin is what an attempt may take beside the performing itself: asking
// for its standing, storing its rows, stopping a performer that does not listen.
const performMargin = time.Minute

// begin executes Perform for the occurrence that is due. The server drives its
// retries by the native approximation of the policy, each attempt overriding the
// delay; what the attempts cannot count themselves, lost processes, is not
// retried by the server and comes back here (M-21).
func (a *actionRun) begin(now time.Time) {
	in := life.Begin(a.state, now)
	in.Chain = workflow.GetInfo(a.ctx).FirstRunID
	initial, maximum, coefficient, attempts := action.NativeRetry(action.RetryPolicy(in.GetSpec()))
	left := attempts - int32(min(in.GetOccurrence().GetAttempts(), uint32(attempts)-1))
	ctx, stop := workflow.WithCancel(a.ctx)
	a.perform = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: action.PerformTimeout(in.GetSpec().GetAction()) + performMargin,
		HeartbeatTimeout:    a.options.HeartbeatTimeout,
		Summary:             attemptSummary(in),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    initial,
			MaximumInterval:    maximum,
			BackoffCoefficient: coefficient,
			MaximumAttempts:    left,
			NonRetryableErrorTypes: []string{
				"TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose", "PanicError",
				workflowv1.FailureFinal, workflowv1.FailureHeld, workflowv1.FailureSuperseded,
			},
		},
	}), workflowv1.PerformActivity, in)
	a.performed, a.performedAt, a.stopPerform = in, now, stop
}

// supersede cancels the Perform that runs and forgets it: what it reports later
// belongs to a spec that no longer stands (M-43).
func (a *actionRun) supersede() {
	if a.perform == nil {
		return
	}
	a.stopPerform()
	a.perform, a.performed = nil, nil
}

// settle takes over the results that have come.
func (a *actionRun) settle() {
	if ready(a.mirror) {
		a.settleMirror()
	}
	if !ready(a.perform) {
		return
	}
	future, in := a.perform, a.performed
	a.perform, a.performed = nil, nil
	progress := &workflowv1.Progress{}
	err := future.Get(a.ctx, progress)
	if err == nil {
		a.adopt(in, progress)
		return
	}
	// A timeout wraps the failure of the attempt before it, if there was one: that one's
	// details are older than those of its own heartbeats.
	timeout, lost := errors.AsType[*temporal.TimeoutError](err)
	if failure, ok := errors.AsType[*temporal.ApplicationError](err); ok && !lost {
		details := &workflowv1.Progress{}
		if failure.HasDetails() && failure.Details(details) == nil && details.GetStatus() != nil {
			a.adopt(in, details)
			return
		}
	}
	a.interrupted(in, timeout, err)
}

// adopt takes over what the attempts recorded, and stores the row if they could
// not or if a command changed it meanwhile.
func (a *actionRun) adopt(in *workflowv1.PerformInput, p *workflowv1.Progress) {
	life.Adopt(a.state, p)
	if !p.GetStored() || in.GetSequence() != a.state.GetSequence() {
		life.Owe(a.state)
	}
}

// interrupted counts an attempt that ended without a word: its process was lost or
// it could not be taken up at all (M-38). Timeout is nil then.
func (a *actionRun) interrupted(in *workflowv1.PerformInput, timeout *temporal.TimeoutError, err error) {
	var left *workflowv1.Progress
	reason := "the worker could not take up the attempt"
	if timeout != nil {
		reason = "the worker was lost: no heartbeat came in time"
		if timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_START_TO_CLOSE {
			reason = "the worker was lost: the attempt did not end in time"
		}
		details := &workflowv1.Progress{}
		if timeout.HasLastHeartbeatDetails() && timeout.LastHeartbeatDetails(details) == nil {
			left = details
		}
	} else {
		a.log.Error("Perform ended without details.", "error", err)
	}
	if left.GetSettled() && left.GetStatus() != nil && left.GetOccurrence() != nil {
		// It was counted before its process was lost: only its report is missing.
		a.adopt(in, left)
		return
	}
	workflow.GetMetricsHandler(a.ctx).WithTags(map[string]string{
		workflowv1.MetricTagKind: action.Kind(in.GetSpec().GetAction()),
	}).Counter(workflowv1.MetricAttemptsLost).Inc(1)
	life.Interrupt(a.state, in, left, a.performedAt, workflow.Now(a.ctx), reason)
}

// keepMirror stores the row that is owed, one at a time, for as long as that takes.
func (a *actionRun) keepMirror() {
	if life.Ended(a.state.GetStatus()) {
		a.markOutcome()
	}
	if !a.state.GetMirrorOwed() || a.mirror != nil {
		return
	}
	in := &workflowv1.MirrorInput{
		Action:    life.Action(a.state),
		Revision:  a.revision(),
		Chain:     workflow.GetInfo(a.ctx).FirstRunID,
		Tombstone: life.Ended(a.state.GetStatus()),
		DeletedBy: a.state.GetDeletedBy(),
	}
	a.mirroring = a.state.GetSequence()
	a.mirror = workflow.ExecuteActivity(workflow.WithActivityOptions(a.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		Summary:             "store the row",
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
		},
	}), workflowv1.MirrorActivity, in)
}

func (a *actionRun) settleMirror() {
	err := a.mirror.Get(a.ctx, nil)
	a.mirror = nil
	if err != nil {
		// It retries for ever, so that only a worker without it ends it. Trying again
		// at once would fill the history; the reconciler repairs the row.
		a.log.Error("Mirror ended without storing the row.", "error", err)
	}
	if a.mirroring == a.state.GetSequence() {
		a.state.MirrorOwed = false
	}
}

// revision is that of the row the workflow writes now.
func (a *actionRun) revision() *workflowv1.Revision {
	return &workflowv1.Revision{
		Incarnation: proto.CloneOf(a.state.GetIncarnation()),
		Sequence:    a.state.GetSequence(),
	}
}
