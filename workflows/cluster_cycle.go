package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// cycle visits the nodes that need it, side by side: none can hold up another.
// The steps of one node follow each other. What they bring is stored meanwhile: a
// node that does not answer must not hold up what others see either.
func (c *clusterRun) cycle() {
	visited := playbook.BeginCycle(c.state, workflow.Now(c.ctx))
	visiting := len(visited)
	for _, name := range visited {
		workflow.Go(c.ctx, func(ctx workflow.Context) {
			defer func() { visiting-- }()
			if err := c.visit(ctx, name); err != nil {
				playbook.Failed(c.state, name, cause(err), workflow.Now(ctx))
			}
		})
	}
	for visiting > 0 {
		err := workflow.Await(c.ctx, func() bool {
			return visiting == 0 || ready(c.mirror) || c.mirror == nil && len(c.state.GetOwed()) > 0
		})
		if err != nil {
			return // the run is cancelled
		}
		c.keepMirror()
	}
	playbook.EndCycle(c.state, workflow.Now(c.ctx))
	c.inform(playbook.TellAgain(c.state))
}

// visit fetches what a node's agent has, decides on just that, and pushes.
func (c *clusterRun) visit(ctx workflow.Context, name string) error {
	report := &workflowv1.AgentSyncResult{}
	if err := c.ask(ctx, name, workflowv1.AgentSyncActivity, "fetch from "+name, playbook.SyncInput(c.state, name), report); err != nil {
		return err
	}
	changed, decision := playbook.Synced(c.state, name, report, workflow.Now(ctx))
	c.note(changed)
	if len(decision.Cancel) > 0 {
		in := &workflowv1.AgentCancelInput{}
		for _, r := range decision.Cancel {
			in.Cancels = append(in.Cancels, &workflowv1.AgentCancelInput_Cancel{Id: r.GetAction().GetId(), Reason: r.GetCancelReason()})
		}
		if err := c.ask(ctx, name, workflowv1.AgentCancelActivity, "cancel on "+name, in, nil); err != nil {
			return err
		}
	}
	if len(decision.Push) == 0 {
		return nil
	}
	in := &workflowv1.AgentPushInput{ValidBefore: timestamppb.New(workflow.Now(ctx).Add(c.nodeTimeout()))}
	var ids []string
	for _, r := range decision.Push {
		in.Actions = append(in.Actions, r.GetAction())
		ids = append(ids, r.GetAction().GetId())
	}
	answer := &workflowv1.AgentPushResult{}
	if err := c.ask(ctx, name, workflowv1.AgentPushActivity, "push to "+name, in, answer); err != nil {
		return err
	}
	c.note(playbook.Pushed(c.state, ids, answer, workflow.Now(ctx)))
	return nil
}

func (c *clusterRun) nodeTimeout() time.Duration {
	return playbook.Settings(c.state.GetSettings()).GetNodeTimeout().AsDuration()
}

// ask has a node's agent do something, once: it answers within the time for it or
// is asked again by a later cycle.
func (c *clusterRun) ask(ctx workflow.Context, name, what, summary string, in, out any) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              workflowv1.NodeTaskQueue(c.state.GetCluster(), name),
		ScheduleToCloseTimeout: c.nodeTimeout(),
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
	return workflow.ExecuteActivity(ctx, what, in).Get(ctx, out)
}

// cause is an activity's failure in words for a report.
func cause(err error) error {
	if _, late := errors.AsType[*temporal.TimeoutError](err); late {
		return errors.New("its agent did not answer in time")
	}
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return errors.New(failed.Message())
	}
	return err
}
