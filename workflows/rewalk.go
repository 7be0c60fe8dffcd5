package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

// Rewalk walks one stage through all entities of its type (G-30): page by page by id, and
// what it has passed is in its state. There is one of a stage at a time, by its id. Its
// result is how it ended.
func (w *Workflows) Rewalk(ctx workflow.Context, in *workflowv1.RewalkState) (*gnomonv1.Rewalk, error) {
	lasting, _ := workflow.NewDisconnectedContext(ctx)
	r := &rewalkRun{state: in, options: w.options, root: ctx, ctx: lasting}
	// What asks sees one moment: the state changes only between waits.
	if err := workflow.SetQueryHandler(r.ctx, workflowv1.QueryRewalk, func() (*gnomonv1.Rewalk, error) {
		return proto.CloneOf(r.state.GetWalk()), nil
	}); err != nil {
		return nil, err
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	return r.state.GetWalk(), nil
}

// rewalkRun is one run of the workflow.
type rewalkRun struct {
	state   *workflowv1.RewalkState
	options Options
	// root ends with a cancellation of the run, ctx does not.
	root, ctx workflow.Context
}

func (r *rewalkRun) run() error {
	if err := r.begin(); err != nil {
		return err
	}
	for r.state.GetWalk().GetState() == gnomonv1.Rewalk_RUNNING {
		workflow.SetCurrentDetails(r.ctx, walkDetails(r.state))
		if workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() && !r.told() {
			return workflow.NewContinueAsNewError(r.ctx, workflowv1.RewalkWorkflow, r.state)
		}
		if err := r.page(); err != nil {
			return err
		}
		if r.told() {
			entity.CancelWalk(r.state, workflow.Now(r.ctx))
		}
		if err := r.store(); err != nil {
			return err
		}
	}
	workflow.SetCurrentDetails(r.ctx, walkDetails(r.state))
	return nil
}

// begin counts what there is to walk through, in the first run only.
func (r *rewalkRun) begin() error {
	if r.state.GetIncarnation() != nil {
		return nil
	}
	var total uint64
	if err := workflow.ExecuteActivity(r.brief("entities of "+r.state.GetEntityType()), workflowv1.CountEntitiesActivity, r.state.GetEntityType()).Get(r.ctx, &total); err != nil {
		return err
	}
	entity.BeginWalk(r.state, total, workflow.GetInfo(r.ctx).WorkflowStartTime)
	return r.store()
}

// told says whether somebody wants the walk to end.
func (r *rewalkRun) told() bool {
	return r.root.Err() != nil || workflow.GetSignalChannel(r.ctx, workflowv1.SignalCancelRewalk).Len() > 0
}

// page goes through one page, and gives it up where it is when the walk is to end.
func (r *rewalkRun) page() error {
	in := entity.NextPage(r.state)
	ctx, giveUp := workflow.WithCancel(workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    r.options.HeartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             fmt.Sprintf("up to %d after %q", in.GetLimit(), in.GetAfter()),
	}))
	walked := workflow.ExecuteActivity(ctx, workflowv1.RewalkPageActivity, in)
	if err := workflow.Await(r.ctx, func() bool { return walked.IsReady() || r.told() }); err != nil {
		return err
	}
	if !walked.IsReady() {
		giveUp()
	}
	result := &workflowv1.RewalkPageResult{}
	if err := walked.Get(r.ctx, result); err != nil {
		if temporal.IsCanceledError(err) {
			return nil // between two attempts; how far they came is not known
		}
		return err
	}
	entity.Walked(r.state, result, workflow.Now(r.ctx))
	return nil
}

// store stores how far the walk is, until the store takes it: the last row stays when the
// workflow has ended.
func (r *rewalkRun) store() error {
	r.state.Sequence++
	return workflow.ExecuteActivity(r.brief("row of the walk"), workflowv1.StoreRewalkActivity, &workflowv1.StoreRewalkInput{
		Walk: r.state.GetWalk(), Incarnation: r.state.GetIncarnation(), Sequence: r.state.GetSequence(),
	}).Get(r.ctx, nil)
}

// brief are the options of activities that only ask or write the store.
func (r *rewalkRun) brief(summary string) workflow.Context {
	return workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             summary,
	})
}

// walkDetails is how far a walk is, for the Web UI.
func walkDetails(s *workflowv1.RewalkState) string {
	w := s.GetWalk()
	return fmt.Sprintf("| | |\n|---|---|\n| state | %s |\n| passed | %d of about %d |\n| wanted a visit | %d |\n| position | `%s` |\n| rate | %g a second |\n",
		w.GetState(), w.GetWalked(), w.GetTotal(), w.GetEnqueued(), w.GetPosition(), s.GetRate())
}
