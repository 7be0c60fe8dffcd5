package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

const (
	// visitLimit bounds one attempt of a visit, which includes waiting for its stage's
	// limits; the call itself has the stage's own timeout.
	visitLimit = 24 * time.Hour
	// background is the priority of what waits behind all real changes, which have
	// Temporal's default, 3 (G-31).
	background = 5
)

// visitRun is a visit that was sent to its stage's queue.
type visitRun struct {
	stage  string
	number uint64
	done   workflow.Future
	cancel workflow.CancelFunc
	back   bool
}

// callBack asks for a visit not to be made, if it has not begun: it ends at once then,
// and as it ends anyway if it has.
func (v *visitRun) callBack() {
	if !v.back {
		v.back = true
		v.cancel()
	}
}

// send has visits made, each on the queue of its stage (G-03): the turn is taken by who
// executes first (G-26), which the activity sees to.
func (e *entityRun) send(visits []*workflowv1.PendingVisit) {
	for _, p := range visits {
		v := &visitRun{stage: p.GetStage(), number: p.GetVisit()}
		info := workflow.GetInfo(e.ctx)
		options := workflow.ActivityOptions{
			TaskQueue:           workflowv1.StageTaskQueue(info.TaskQueueName, v.stage),
			StartToCloseTimeout: visitLimit,
			HeartbeatTimeout:    e.options.HeartbeatTimeout,
			WaitForCancellation: true,
			RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: time.Second},
			Summary:             fmt.Sprintf("visit %d, of %s", v.number, v.stage),
		}
		if p.GetBackground() {
			options.Priority.PriorityKey = background
		}
		var ctx workflow.Context
		ctx, v.cancel = workflow.WithCancel(workflow.WithActivityOptions(e.ctx, options))
		v.done = workflow.ExecuteActivity(ctx, workflowv1.ProcessActivity, &workflowv1.VisitInput{
			Type: e.state.GetType(), Id: e.state.GetId(), Stage: v.stage, Cause: p.GetCause(), Background: p.GetBackground(),
			// No other run of this entity's workflows has the number beside the chain's name.
			VisitId: fmt.Sprintf("%s/%d", info.FirstRunID, v.number),
		})
		e.visits = append(e.visits, v)
	}
}

// callBack calls back the visits that should not wait in the background any more, and
// those that nobody waits for, as the entity is gone.
func (e *entityRun) callBack(step entity.Step) {
	has := func(all []*workflowv1.PendingVisit, number uint64) bool {
		return slices.ContainsFunc(all, func(p *workflowv1.PendingVisit) bool { return p.GetVisit() == number })
	}
	for _, v := range e.visits {
		if has(step.CallBack, v.number) || !has(e.state.GetPending(), v.number) {
			v.callBack()
		}
	}
}

// settleVisits takes over how visits ended.
func (e *entityRun) settleVisits() {
	e.visits = slices.DeleteFunc(e.visits, func(v *visitRun) bool {
		if !v.done.IsReady() {
			return false
		}
		result := &workflowv1.VisitResult{}
		err := v.done.Get(e.ctx, result)
		switch {
		case err == nil:
			entity.Visited(e.policy(), e.state, v.stage, v.number, result, workflow.Now(e.ctx))
			if result.GetError() == "" {
				e.owePublish()
			}
		case v.back:
			// It may have been committed and nobody know; then the next visit finds that out,
			// and the record is published with what that commits.
			entity.CalledBack(e.state, v.stage, v.number)
			e.owePublish()
		default:
			// It is retried for ever, so that this is a worker that is not as it should be.
			entity.Visited(e.policy(), e.state, v.stage, v.number, &workflowv1.VisitResult{Error: spent(err)}, workflow.Now(e.ctx))
		}
		return true
	})
}
