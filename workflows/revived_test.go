package workflows

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-60, M-61: a create comes with the very task in which the workflow hears that the
// last row of the deleted action is stored. The new incarnation counts its rows anew,
// and still owes its first one.
func TestRowOfARevivedActionIsOwedWhenTheOldOnesComesBack(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: Interceptors()})
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	env.SetStartTime(at)
	spec := &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(at.Add(time.Hour))},
		SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
			HttpRequest: &gnomonv1.HttpRequest{Url: "http://127.0.0.1/"},
		}},
	}
	made := func(guid string) *gnomonv1.ScheduledAction {
		return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: guid}, Spec: spec}
	}
	var after *workflowv1.ActionState
	// The run's methods need a workflow around them; the name is the product's, which
	// the interceptor looks for.
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context, in *workflowv1.ActionState) error {
		a := newActionRun(ctx, in, Options{})
		a.state.Incarnation = timestamppb.New(workflow.Now(ctx))
		if err := a.apply(workflowv1.CommandCancel, &workflowv1.Command{Id: "delete"}); err != nil {
			return err
		}
		stored, settle := workflow.NewFuture(ctx)
		settle.Set(nil, nil)
		a.mirror, a.mirroring = stored, a.state.GetSequence()
		create := &workflowv1.Command{Id: "create", Action: made("new"), Revive: true, CreateOnly: true}
		if err := a.apply(workflowv1.CommandUpdate, create); err != nil {
			return err
		}
		a.settle()
		after = a.state
		return nil
	}, workflow.RegisterOptions{Name: workflowv1.ActionWorkflow})
	env.ExecuteWorkflow(workflowv1.ActionWorkflow, life.New(made("old"), at, ""))
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, "new", after.GetMeta().GetGuid())
	require.True(t, after.GetMirrorOwed(), "nobody else stores the row of the new incarnation")
}
