package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

// Entity decides which stages visit an entity, and when (seed 004). It ends when nobody
// wants to, and is begun again by the next change.
func (w *Workflows) Entity(ctx workflow.Context, in *workflowv1.EntityState) error {
	e := &entityRun{state: in, options: w.options, log: workflow.GetLogger(ctx), ctx: ctx}
	if in.GetRules() == 0 {
		in.Rules = entity.Version
	}
	if in.GetIncarnation() == nil {
		in.Incarnation = timestamppb.New(workflow.GetInfo(ctx).WorkflowStartTime)
	}
	if err := e.handle(); err != nil {
		return err
	}
	return e.run()
}

// entityRun is one run of the workflow. All its methods run in its one coroutine.
type entityRun struct {
	state   *workflowv1.EntityState
	options Options
	log     log.Logger
	ctx     workflow.Context

	visits []*visitRun

	question workflow.Future
	asked    *workflowv1.AskInput

	publish      workflow.Future
	publishAgain bool // more may have been committed since it began

	mirror    workflow.Future
	mirroring int // how many rows it stores

	timer      workflow.Future
	timerUntil time.Time
	stopTimer  workflow.CancelFunc

	leavingSince time.Time // zero: the run is not to go on as a new one
}

func (e *entityRun) run() error {
	for {
		e.drain()
		e.settle()
		e.settings()
		var until time.Time
		if e.leaving() {
			if until = e.leave(); e.left() {
				return workflow.NewContinueAsNewError(e.ctx, workflowv1.EntityWorkflow, e.carried())
			}
		} else {
			step := entity.Next(e.policy(), e.state, workflow.Now(e.ctx))
			e.ask(step.Ask)
			e.send(step.Visits)
			e.callBack(step)
			e.keepPublished()
			until = earlier(step.Until, e.keepQueue())
			if step.Idle && e.quiet() {
				return nil
			}
		}
		e.arm(until)
		workflow.SetCurrentDetails(e.ctx, entityDetails(e.state))
		if err := workflow.Await(e.ctx, e.woken); err != nil {
			return err
		}
	}
}

func (e *entityRun) woken() bool {
	return e.waiting() || ready(e.timer) || ready(e.question) || ready(e.publish) || ready(e.mirror) ||
		slices.ContainsFunc(e.visits, func(v *visitRun) bool { return v.done.IsReady() })
}

// waiting says whether a signal has arrived.
func (e *entityRun) waiting() bool {
	return workflow.GetSignalChannel(e.ctx, workflowv1.SignalChanged).Len() > 0 ||
		workflow.GetSignalChannel(e.ctx, workflowv1.SignalVisit).Len() > 0
}

// quiet says whether nothing is on its way and nothing is owed.
func (e *entityRun) quiet() bool {
	return len(e.visits) == 0 && e.question == nil && e.publish == nil && e.mirror == nil &&
		!e.state.GetPublishOwed() && !e.state.GetQueueOwed() && !e.waiting()
}

// drain applies the signals that have arrived.
func (e *entityRun) drain() {
	changed := workflow.GetSignalChannel(e.ctx, workflowv1.SignalChanged)
	for changed.Len() > 0 {
		var c workflowv1.EntityChanged
		if changed.ReceiveAsync(&c) {
			entity.Changed(e.state, c.GetVersion(), c.GetFields())
			// Also if that is no news: whoever tells of it again found a record that is not
			// published.
			e.owePublish()
		}
	}
	wanted := workflow.GetSignalChannel(e.ctx, workflowv1.SignalVisit)
	for wanted.Len() > 0 {
		var v workflowv1.VisitRequested
		switch {
		case !wanted.ReceiveAsync(&v) || v.GetStage() == "":
		case v.GetTimer() != nil:
			entity.Arm(e.state, v.GetStage(), v.GetTimer())
		default:
			entity.Request(e.state, v.GetStage(), v.GetCause(), v.GetBackground(), workflow.Now(e.ctx))
		}
	}
}

// settle takes over what has ended.
func (e *entityRun) settle() {
	e.settleVisits()
	if ready(e.question) {
		answers := &workflowv1.AskResult{}
		if err := e.question.Get(e.ctx, answers); err != nil {
			// It is retried for ever, so that only a worker without it ends it, or a cancellation.
			entity.Withdrawn(e.state, e.asked)
		} else {
			entity.Answered(e.state, e.asked, answers, workflow.Now(e.ctx))
		}
		e.question, e.asked = nil, nil
	}
	e.settlePublish()
	e.settleQueue()
}

// ask puts a question to the stages, if there is one.
func (e *entityRun) ask(in *workflowv1.AskInput) {
	if in == nil {
		return
	}
	e.asked = in
	ctx := workflow.WithActivityOptions(e.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		HeartbeatTimeout:    e.options.HeartbeatTimeout,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: time.Second},
		Summary:             askSummary(in),
	})
	e.question = workflow.ExecuteActivity(ctx, workflowv1.AskStagesActivity, in)
}

// arm wakes the run at a time; zero: never. One that wakes it sooner stays: it looks,
// and sleeps again.
func (e *entityRun) arm(until time.Time) {
	if ready(e.timer) {
		e.timer = nil
	}
	if until.IsZero() || e.timer != nil && !until.Before(e.timerUntil) {
		return
	}
	if e.timer != nil {
		e.stopTimer()
	}
	var ctx workflow.Context
	ctx, e.stopTimer = workflow.WithCancel(e.ctx)
	e.timer = workflow.NewTimerWithOptions(ctx, until.Sub(workflow.Now(e.ctx)), workflow.TimerOptions{Summary: "until " + until.UTC().Format(time.RFC3339)})
	e.timerUntil = until
}

// farewell is how long a run that is to go on as a new one waits for what is on its way,
// before it calls back what has not begun.
const farewell = 5 * time.Second

// leaving says whether the run is to go on as a new one: it sends nobody any more.
func (e *entityRun) leaving() bool {
	if e.leavingSince.IsZero() && workflow.GetInfo(e.ctx).GetContinueAsNewSuggested() {
		e.leavingSince = workflow.Now(e.ctx)
	}
	return !e.leavingSince.IsZero()
}

// leave gives what is on its way some time, and calls it back then: no visit may be lost
// or made twice at once, and none that waits in the queue of a stage that is down may keep
// the history growing. What has begun ends by itself, within its stage's timeout. It says
// when to look again.
func (e *entityRun) leave() time.Time {
	until := e.leavingSince.Add(farewell)
	if workflow.Now(e.ctx).Before(until) {
		return until
	}
	for _, v := range e.visits {
		v.callBack()
	}
	if e.question != nil {
		// It may be answered still: nobody reads that, and it is put again.
		entity.Withdrawn(e.state, e.asked)
		e.question, e.asked = nil, nil
	}
	return time.Time{}
}

// left says whether the run may go on as a new one now. Publishing and the rows of the
// queue are owed by that again, if they are on their way.
func (e *entityRun) left() bool {
	return len(e.visits) == 0 && e.question == nil && !e.waiting() && workflow.AllHandlersFinished(e.ctx)
}

// carried is what the run hands to the next.
func (e *entityRun) carried() *workflowv1.EntityState {
	if e.mirror != nil {
		e.state.QueueOwed, e.state.Queued = true, true
	}
	return e.state
}

// settings takes what the worker's installation sets; a change of that is recorded, so
// that workers may differ.
func (e *entityRun) settings() {
	set := workflow.MutableSideEffect(e.ctx, "settings", func(workflow.Context) any { return e.options.Entities },
		func(a, b any) bool {
			x, ok := a.(*workflowv1.EntitySettings)
			y, okToo := b.(*workflowv1.EntitySettings)
			return ok && okToo && proto.Equal(x, y)
		})
	taken := &workflowv1.EntitySettings{}
	if err := set.Get(taken); err == nil {
		e.state.Settings = taken
	}
}

func (e *entityRun) policy() entity.Policy { return entity.PolicyOf(e.state.GetSettings()) }

// earlier is the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
