package activities

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"gnomon/action"
	"gnomon/action/life"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/metrics"
	"gnomon/store"
	"gnomon/tracing"
)

const (
	// lateStart is how long after it was scheduled a first attempt asks for its
	// standing: it may have waited in a queue while no worker ran.
	lateStart = time.Second
	// youngProcess is how old a worker process must be not to ask: before that,
	// what it takes may have waited for it.
	youngProcess = 10 * time.Second
	// rowWait bounds the wait for the row of an attempt that has ended: longer than most
	// calls of a slow store take, as what is not stored by then costs the workflow an
	// activity of its own.
	rowWait = 3 * time.Second
	// rowMargin is how long before the action is due again the wait ends, and rowLeast how
	// long it is at the least.
	rowMargin = 250 * time.Millisecond
	rowLeast  = 100 * time.Millisecond
)

// Perform makes the attempts of occurrences. Its fields are set once, before the
// worker starts.
type Perform struct {
	Performers performers.Set
	Mirror     *Mirror
	Asker      Asker
	Log        *slog.Logger
	// Worker names this process in the status of its attempts: host, build, process
	// (M-58).
	Worker string
	// Born is when the process started.
	Born time.Time
	// StopGrace is how long an attempt may go on once the worker stops.
	StopGrace time.Duration
	// Metrics measures the attempts. It may be nil.
	Metrics *metrics.Worker
	// Clock gives the time by Temporal's clock during one attempt. Default: when the
	// server says the attempt started, plus what passed here since.
	Clock func(activity.Info) func() time.Time
}

// Perform is the activity: one attempt of an occurrence. Its result, the details of
// its failures and its heartbeats are a Progress, which carries the counters from
// attempt to attempt.
func (p *Perform) Perform(ctx context.Context, in *workflowv1.PerformInput) (*workflowv1.Progress, error) {
	info := activity.GetInfo(ctx)
	a := &attempt{
		Perform: p, in: in, info: info,
		progress: recall(ctx, in, info),
		now:      p.clock(info),
		shown:    in.GetMeta(), conditions: in.GetStatus().GetConditions(), sequence: in.GetSequence(),
	}
	return a.run(a.identified(ctx))
}

func (p *Perform) clock(info activity.Info) func() time.Time {
	if p.Clock != nil {
		return p.Clock(info)
	}
	return serverClock(info)
}

// serverClock counts on from the server's time of the attempt's start, so that a
// worker whose own clock is wrong decides as the others do.
func serverClock(info activity.Info) func() time.Time {
	here := time.Now()
	return func() time.Time { return info.StartedTime.Add(time.Since(here)) }
}

// recall is what the attempts before this one left. If the last one's heartbeat was
// lost on its way, the server's count of attempts says how many failed unseen.
func recall(ctx context.Context, in *workflowv1.PerformInput, info activity.Info) *workflowv1.Progress {
	left := &workflowv1.Progress{}
	known := activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, left) == nil &&
		left.GetStatus() != nil && left.GetOccurrence() != nil
	if !known {
		left = &workflowv1.Progress{Status: proto.CloneOf(in.GetStatus()), Occurrence: proto.CloneOf(in.GetOccurrence())}
	}
	left.Stored, left.Settled = false, false
	for left.GetCounted() < uint32(info.Attempt-1) {
		counted := left.GetCounted() + 1
		life.Settle(in.GetSpec(), in.GetMeta(), left, life.Ending{
			Outcome: gnomonv1.AttemptStatus_FAILURE, At: info.ScheduledTime, Error: "its report was lost",
		})
		if left.GetOccurrence() == nil {
			break
		}
		left.Counted = counted
	}
	return left
}

// attempt is one attempt under way.
type attempt struct {
	*Perform

	in       *workflowv1.PerformInput
	info     activity.Info
	progress *workflowv1.Progress
	now      func() time.Time
	// shown is what rows show beside the attempt, and sequence their place.
	shown      *gnomonv1.Meta
	conditions []*gnomonv1.Condition
	sequence   uint64
	// beaten is the copy of progress that heartbeats carry; quiet ends them.
	beaten atomic.Pointer[workflowv1.Progress]
	quiet  func()
}

func (a *attempt) run(ctx context.Context) (*workflowv1.Progress, error) {
	if a.progress.GetOccurrence() == nil {
		a.Metrics.AttemptRefused(a.kind(), metrics.Spent)
		return nil, a.failure(workflowv1.FailureFinal, "the reports of its attempts were lost", false, 0)
	}
	// Asking may take longer than a heartbeat may be late.
	a.quiet = a.beat(ctx)
	defer a.quiet()
	if err := a.mayBegin(ctx); err != nil {
		a.Metrics.AttemptRefused(a.kind(), refusal(err))
		return nil, err
	}
	began := a.began()
	life.Start(a.in.GetSpec(), a.in.GetMeta(), a.progress, life.Started{
		At: a.now(), Worker: a.Worker, RunID: a.info.WorkflowExecution.RunID,
	})
	a.beaten.Store(proto.CloneOf(a.progress))
	a.Mirror.Offer(a.row(store.PhaseCurrent))
	ending := a.perform(ctx)
	if ctx.Err() != nil && ending.Outcome != gnomonv1.AttemptStatus_SUCCESS && !a.stopping(ctx) {
		// Cancelled by the workflow, or no longer this attempt's turn: what it came
		// to is nobody's any more.
		a.Metrics.AttemptEnded(a.kind(), metrics.Canceled, time.Since(began))
		return nil, temporal.NewCanceledError()
	}
	a.Metrics.AttemptEnded(a.kind(), outcome(ending), time.Since(began))
	return a.settle(ctx, ending)
}

// mayBegin asks whether this attempt may act where that is in doubt. A retry always
// asks, since a pause must hold it; a first attempt asks only if it may have waited in a
// queue. The server is asked first whether anything happened at all, and only then the
// workflow, which adds nothing to history but is a task for a worker.
func (a *attempt) mayBegin(ctx context.Context) error {
	if err := a.inTime(); err != nil {
		return err
	}
	late := a.info.StartedTime.Sub(a.info.ScheduledTime) > lateStart
	if a.info.Attempt == 1 && !late && time.Since(a.Born) > youngProcess {
		return nil
	}
	if !untouched(ctx, a.Asker, a.info) {
		if err := a.stands(ctx); err != nil {
			return err
		}
	}
	return a.inTime()
}

// inTime is nil until the deadline.
func (a *attempt) inTime() error {
	if action.Expired(a.in.GetSpec(), a.now()) {
		return a.failure(workflowv1.FailureHeld, "the deadline has passed", false, 0)
	}
	return nil
}

// stands asks the workflow whether this attempt may act, and what rows show by now.
func (a *attempt) stands(ctx context.Context) error {
	s, err := ask(ctx, a.Asker, a.info.WorkflowExecution.ID, a.info.WorkflowExecution.RunID)
	switch {
	case ctx.Err() != nil:
		return temporal.NewCanceledError()
	case err != nil:
		a.Log.WarnContext(ctx, "An attempt could not ask for its standing and does not act.", "error", err)
		return a.failure(workflowv1.FailureHeld, "its standing could not be asked", false, 0)
	case s.GetGuid() != a.in.GetMeta().GetGuid() || !s.GetPerform() || s.GetSequence() != a.in.GetSequence():
		return a.failure(workflowv1.FailureSuperseded, "the spec no longer stands", false, 0)
	case s.GetPaused():
		return a.failure(workflowv1.FailureHeld, "paused", false, 0)
	}
	if s.GetMeta() != nil { // a worker of an older version does not say
		a.shown, a.conditions, a.sequence = s.GetMeta(), s.GetConditions(), s.GetRowSequence()
	}
	return nil
}

// beat keeps the attempt alive with the server and its counters with it, until the
// function it returns is called, which may be called again.
func (a *attempt) beat(ctx context.Context) (quiet func()) {
	every := max(a.info.HeartbeatTimeout/4, 100*time.Millisecond)
	a.beaten.Store(proto.CloneOf(a.progress))
	if a.info.Attempt > 1 {
		// The details that the attempt before this one left say that it had ended.
		activity.RecordHeartbeat(ctx, a.beaten.Load())
	}
	ctx, stop := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, a.beaten.Load())
			}
		}
	})
	return func() {
		stop()
		beats.Wait()
	}
}

// settle counts the attempt, stores its row and reports to server or workflow.
func (a *attempt) settle(ctx context.Context, ending life.Ending) (*workflowv1.Progress, error) {
	tellOutcome(ctx, ending)
	number := a.progress.GetOccurrence().GetAttempts() + 1
	verdict := life.Settle(a.in.GetSpec(), a.in.GetMeta(), a.progress, ending)
	a.progress.Counted++
	over := a.progress.GetOccurrence() == nil
	a.progress.Stored = a.store(ctx, number)
	a.quiet() // not earlier: a store that hangs must not make the attempt count as lost
	if over && ending.Outcome == gnomonv1.AttemptStatus_SUCCESS {
		return a.progress, nil
	}
	kind := workflowv1.FailureFailed
	if ending.Outcome == gnomonv1.AttemptStatus_INTERRUPTED {
		kind = workflowv1.FailureInterrupted
	}
	switch verdict {
	case life.Again:
		a.progress.Settled = true
		activity.RecordHeartbeat(ctx, a.progress)
		delay := max(a.progress.GetOccurrence().GetNotBefore().AsTime().Sub(a.now()), time.Millisecond)
		return nil, a.failure(kind, ending.Error, true, delay)
	case life.Hold:
		return nil, a.failure(workflowv1.FailureHeld, ending.Error+" (the deadline comes before the retry)", false, 0)
	default:
		return nil, a.failure(workflowv1.FailureFinal, ending.Error, false, 0)
	}
}

// store has the row of the ended attempt written, and waits a little for it.
func (a *attempt) store(ctx context.Context, number uint32) bool {
	wait := rowWait
	if next := a.progress.GetStatus().GetScheduledAt(); next != nil {
		wait = min(wait, max(next.AsTime().Sub(a.now())-rowMargin, rowLeast))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	row := a.row(store.PhaseLast)
	row.Revision.Attempt = number
	ctx, span := tracing.Begin(ctx, "StoreRow")
	err := a.Mirror.Write(ctx, row)
	tracing.End(span, err)
	return err == nil
}

// row is the mirror's row of the attempt as it stands.
func (a *attempt) row(phase uint32) store.Row {
	st := proto.CloneOf(a.progress.GetStatus())
	st.Conditions = a.conditions
	return store.Row{
		Action: &gnomonv1.ScheduledAction{Meta: a.shown, Spec: a.in.GetSpec(), Status: st},
		Revision: store.Revision{
			Incarnation: a.in.GetIncarnation().AsTime(),
			Sequence:    a.sequence,
			Attempt:     a.progress.GetOccurrence().GetAttempts() + 1,
			Phase:       phase,
		},
		Chain:     a.in.GetChain(),
		Tombstone: life.Ended(a.progress.GetStatus()),
	}
}

// failure is the attempt's report that it did not succeed.
func (a *attempt) failure(kind, message string, again bool, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, kind, temporal.ApplicationErrorOptions{
		// An action that fails is an ordinary outcome, not an error of the worker.
		Category:       temporal.ApplicationErrorCategoryBenign,
		NonRetryable:   !again,
		NextRetryDelay: delay,
		Details:        []any{a.progress},
	})
}

var (
	errTooSlow  = errors.New("the performer's time limit passed")
	errStopping = errors.New("the worker stops")
)

func (a *attempt) stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}
