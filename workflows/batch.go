package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
)

// Batch is the life of one scheduled batch of changes (seed 003). Its result is the final
// status; it fails only where there is no such batch.
func (w *Workflows) Batch(ctx workflow.Context, in *workflowv1.BatchState) (*gnomonv1.BatchStatus, error) {
	b := newBatchRun(ctx, in, w.options)
	if err := b.setup(); err != nil {
		return nil, err
	}
	if err := b.accept(); err != nil {
		return nil, err
	}
	return b.run()
}

// batchRun is one run of the workflow. All its methods run in workflow coroutines, one
// at a time.
type batchRun struct {
	// state is all that continue-as-new carries.
	state   *workflowv1.BatchState
	options Options
	log     log.Logger

	// root ends with a cancellation of the run; ctx does not.
	root, ctx workflow.Context
	arrivals  *arrivals
	cancelled bool // the cancellation was heard
	changed   bool // a command changed the state since the main loop looked

	alarm

	// process is the round that runs, or its end if its attempts were spent.
	process    workflow.Future
	processing *workflowv1.ProcessBatchInput
	// progress is what the round's worker told last, for people.
	progress   *workflowv1.BatchProgress
	abandoning bool

	write   workflow.Future
	writing uint64 // revision of the head that write stores

	notice     workflow.Future
	stopNotice workflow.CancelFunc

	outcome string
}

func newBatchRun(ctx workflow.Context, in *workflowv1.BatchState, o Options) *batchRun {
	lasting, _ := workflow.NewDisconnectedContext(ctx)
	return &batchRun{
		state: in, options: o, log: workflow.GetLogger(ctx),
		root: ctx, ctx: lasting, arrivals: arrived(ctx), outcome: outcomeOf(in),
	}
}

func (b *batchRun) setup() error {
	if v := b.state.GetVersion(); v > batch.Version {
		// The task fails until a newer worker takes it; the run goes on unharmed.
		panic(fmt.Sprintf("workflows: the batch has rules of version %d and this worker knows them up to %d", v, batch.Version))
	}
	if err := workflow.SetQueryHandler(b.ctx, workflowv1.QueryBatch, b.result); err != nil {
		return err
	}
	b.describe()
	return b.handleUpdates()
}

// run decides until nothing is left, one wake-up at a time.
func (b *batchRun) run() (*gnomonv1.BatchStatus, error) {
	for {
		b.changed = false
		b.settle()
		// Commands that were accepted while no worker ran come before the timer that
		// fired meanwhile.
		b.drain()
		b.step()
		b.keepStored()
		b.keepTold()
		b.describe()
		if b.finished() {
			return b.state.GetHead().GetStatus(), nil
		}
		if b.idle() && workflow.GetInfo(b.ctx).GetContinueAsNewSuggested() {
			b.disarm()
			return nil, workflow.NewContinueAsNewError(b.ctx, workflowv1.BatchWorkflow, b.state)
		}
		if err := workflow.Await(b.ctx, b.woken); err != nil {
			return nil, err
		}
	}
}

// woken says whether there is something to look at.
func (b *batchRun) woken() bool {
	return b.changed || len(b.arrivals.signals) > 0 || b.cancelPending() ||
		ready(b.timer) || ready(b.process) || ready(b.write) || ready(b.notice)
}

func (b *batchRun) cancelPending() bool { return b.root.Err() != nil && !b.cancelled }

// step processes, waits or ends, by the rules.
func (b *batchRun) step() {
	if b.process != nil {
		b.disarm()
		return
	}
	now := workflow.Now(b.ctx)
	switch d := batch.Next(b.state, now); d.Step {
	case batch.Process:
		b.disarm()
		b.begin(now)
	case batch.Wait:
		b.arm(b.ctx, now, d.Until, "due "+d.Until.UTC().Format(time.RFC3339))
	case batch.End:
		b.disarm()
	}
}

// idle says whether the run could hand over to a new one now.
func (b *batchRun) idle() bool {
	return b.process == nil && b.write == nil && b.notice == nil && len(b.arrivals.signals) == 0 &&
		!b.cancelPending() && workflow.AllHandlersFinished(b.ctx)
}

// finished says whether the run may close: the batch has ended, its head is stored,
// people were told and every command was heard.
func (b *batchRun) finished() bool {
	return batch.Ended(b.state.GetHead().GetStatus().GetState()) && !b.state.GetOwed() && !b.state.GetNoticeOwed() && b.idle()
}

// describe shows the state in the Web UI, as its current details, and marks what a
// person filters by.
func (b *batchRun) describe() {
	workflow.SetCurrentDetails(b.ctx, batch.Details(b.state, b.progress))
	name := outcomeOf(b.state)
	if name == b.outcome {
		return
	}
	b.outcome = name
	key := temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchOutcome)
	update := key.ValueUnset()
	if name != "" {
		update = key.ValueSet(name)
	}
	if err := workflow.UpsertTypedSearchAttributes(b.ctx, update); err != nil {
		b.log.Warn("The outcome could not be made a search attribute.", "error", err)
	}
}

// outcomeOf is the search attribute of a state that a person looks for: manual_review
// and every end but success.
func outcomeOf(s *workflowv1.BatchState) string {
	switch state := s.GetHead().GetStatus().GetState(); state {
	case gnomonv1.BatchStatus_MANUAL_REVIEW, gnomonv1.BatchStatus_PARTIAL_FAILURE,
		gnomonv1.BatchStatus_FAILED, gnomonv1.BatchStatus_CANCELLED:
		return strings.ToLower(state.String())
	default:
		return ""
	}
}
