package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Options are what an installation may set. They take part in no decision, so that
// workers may differ in them.
type Options struct {
	// BatchAttempts is how often the processing of a batch is begun in one round before
	// a person has to look at it (V-11, V-19). Default 101, once and 100 retries.
	BatchAttempts int32
	// HeartbeatTimeout is how long after its last sign of life a worker's attempt
	// counts as interrupted. Default 10 seconds.
	HeartbeatTimeout time.Duration
	// Clusters is how clusters are orchestrated. What changes of it is recorded by each
	// cluster before it decides by it.
	Clusters *workflowv1.ClusterSettings
	// Entities is how visits of stages are ordered. What changes of it is recorded by each
	// entity before it decides by it.
	Entities *workflowv1.EntitySettings
}

// Workflows are the workflow functions of an installation.
type Workflows struct{ options Options }

// New returns the workflows with these options.
func New(o Options) *Workflows {
	if o.HeartbeatTimeout <= 0 {
		o.HeartbeatTimeout = 10 * time.Second
	}
	if o.BatchAttempts <= 0 {
		o.BatchAttempts = 101
	}
	if o.Entities == nil {
		o.Entities = &workflowv1.EntitySettings{}
	}
	return &Workflows{options: o}
}

// Action is the life of one scheduled action. Its result is the final Status; it
// never fails because the action failed.
func (w *Workflows) Action(ctx workflow.Context, in *workflowv1.ActionState) (*gnomonv1.Status, error) {
	a := newActionRun(ctx, in, w.options)
	if err := a.setup(); err != nil {
		return nil, err
	}
	return a.run()
}

// actionRun is one run of the workflow. All its methods run in workflow
// coroutines, one at a time.
type actionRun struct {
	// state is all that continue-as-new carries.
	state   *workflowv1.ActionState
	options Options
	log     log.Logger

	// root ends with a cancellation of the run; ctx does not.
	root, ctx workflow.Context
	arrivals  *arrivals
	cancelled bool // the cancellation was applied
	changed   bool // an update changed the state since the main loop looked
	revived   bool // the state is that of a new incarnation

	alarm

	perform     workflow.Future
	performed   *workflowv1.PerformInput
	performedAt time.Time
	stopPerform workflow.CancelFunc

	mirror workflow.Future
	// mirroring is the sequence of the row that mirror stores.
	mirroring uint64
	outcome   string
}

func newActionRun(ctx workflow.Context, in *workflowv1.ActionState, o Options) *actionRun {
	lasting, _ := workflow.NewDisconnectedContext(ctx)
	return &actionRun{
		state: in, options: o, log: workflow.GetLogger(ctx),
		root: ctx, ctx: lasting, arrivals: arrived(ctx),
	}
}

func (a *actionRun) setup() error {
	if v := a.state.GetVersion(); v > life.Version {
		// The task fails until a newer worker takes it; the run goes on unharmed.
		panic(fmt.Sprintf("workflows: the action has rules of version %d and this worker knows them up to %d", v, life.Version))
	}
	if a.state.GetIncarnation() == nil {
		a.state.Incarnation = timestamppb.New(workflow.GetInfo(a.ctx).WorkflowStartTime)
	}
	// A run that began while a Perform was under way cannot wait for it.
	a.state.Performing = 0
	if err := a.handleQueries(); err != nil {
		return err
	}
	return a.handleUpdates()
}

// run decides until nothing is left, one wake-up at a time.
func (a *actionRun) run() (*gnomonv1.Status, error) {
	for {
		a.changed = false
		a.settle()
		// Commands that were accepted while no worker ran come before the timer that
		// fired meanwhile.
		a.drain()
		if a.revived {
			return nil, a.anew()
		}
		a.step()
		a.keepMirror()
		a.describe()
		if a.finished() {
			return a.state.GetStatus(), nil
		}
		if a.idle() && workflow.GetInfo(a.ctx).GetContinueAsNewSuggested() {
			return nil, a.anew()
		}
		if err := workflow.Await(a.ctx, a.woken); err != nil {
			return nil, err
		}
	}
}

// woken says whether there is something to look at.
func (a *actionRun) woken() bool {
	return a.changed || len(a.arrivals.signals) > 0 || a.cancelPending() ||
		ready(a.timer) || ready(a.perform) || ready(a.mirror)
}

func ready(f workflow.Future) bool { return f != nil && f.IsReady() }

func (a *actionRun) cancelPending() bool { return a.root.Err() != nil && !a.cancelled }

// step performs, waits or ends, by the rules.
func (a *actionRun) step() {
	if a.perform != nil {
		a.disarm()
		return
	}
	now := workflow.Now(a.ctx)
	switch d := life.Next(a.state, now); d.Step {
	case life.Perform:
		a.disarm()
		a.begin(now)
	case life.Expire:
		a.disarm()
		life.EndByDeadline(a.state)
	case life.End:
		a.disarm()
		life.EndForGood(a.state)
	case life.Wait:
		a.arm(a.ctx, now, d.Until, timerSummary(a.state, d.Until))
	}
}

// idle says whether the run could hand over to a new one now.
func (a *actionRun) idle() bool {
	return a.perform == nil && a.mirror == nil && len(a.arrivals.signals) == 0 &&
		!a.cancelPending() && workflow.AllHandlersFinished(a.ctx)
}

// finished says whether the run may close: the action has ended, its last row is
// stored and every command was heard.
func (a *actionRun) finished() bool {
	return life.Ended(a.state.GetStatus()) && !a.state.GetMirrorOwed() && a.idle()
}

// anew continues as a new run with all of the state.
func (a *actionRun) anew() error {
	a.disarm()
	a.supersede()
	if a.outcome != "" {
		key := temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchOutcome)
		if err := workflow.UpsertTypedSearchAttributes(a.ctx, key.ValueUnset()); err != nil {
			a.log.Warn("The outcome could not be taken back.", "error", err)
		}
	}
	return workflow.NewContinueAsNewError(a.ctx, workflowv1.ActionWorkflow, a.state)
}

// markOutcome makes an end other than success a search attribute.
func (a *actionRun) markOutcome() {
	name := outcomes[a.state.GetStatus().GetState()]
	if name == a.outcome {
		return
	}
	a.outcome = name
	key := temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchOutcome)
	if err := workflow.UpsertTypedSearchAttributes(a.ctx, key.ValueSet(name)); err != nil {
		a.log.Warn("The outcome could not be made a search attribute.", "error", err)
	}
}

var outcomes = map[gnomonv1.Status_State]string{
	gnomonv1.Status_FAILED:  "failed",
	gnomonv1.Status_EXPIRED: "expired",
	gnomonv1.Status_DELETED: "deleted",
}
