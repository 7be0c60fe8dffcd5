package model_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/model"
)

// heartbeat is the timeout that the product is run with.
const heartbeat = 400 * time.Millisecond

// server is Temporal as far as activities are concerned: the SDK's environment runs them
// in real time and keeps the clock still meanwhile, so here executions are taken from it;
// their attempts are made by the product's own code, and end and are retried in skipped
// time.
type server struct {
	w       *world
	asked   []*execution // not begun yet
	live    []*execution
	storing bool // a row is on its way to the store
}

// execution is one execution of Perform with all its attempts.
type execution struct {
	asked    workflow.Context
	answer   workflow.Settable
	policy   *temporal.RetryPolicy
	input    *workflowv1.PerformInput
	attempts int32
	mu       sync.Mutex // of details
	details  []byte     // of the last heartbeat
	done     bool       // at the server
	told     bool       // and the workflow knows
	// mute: the worker of its attempt was lost after it had written its last row, which
	// is not noticed yet.
	mute bool
}

// over says whether nobody waits for the execution any more.
func (e *execution) over() bool { return e.done || e.asked.Err() != nil }

// heard is what the last heartbeat told, or nil.
func (e *execution) heard() *workflowv1.Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.details == nil {
		return nil
	}
	p := &workflowv1.Progress{}
	if err := proto.Unmarshal(e.details, p); err != nil {
		panic(err)
	}
	return p
}

// try is one attempt.
type try struct {
	e        *execution
	at       time.Time
	attempt  int32
	cancel   context.CancelFunc
	began    chan performers.Request
	end      chan Ending
	returned chan report
	beats    chan struct{}
	lost     atomic.Bool
	stop     chan struct{} // its worker stops
	noted    bool          // a heartbeat told of its end
	due      time.Time
	ended    time.Time
	how      Ending
	model    *model.Attempt
}

type report struct {
	progress *workflowv1.Progress
	err      error
}

type tryKey struct{}

// The SDK's hooks.

type taking struct {
	interceptor.WorkerInterceptorBase
	s *server
}

func (i *taking) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &takingWorkflow{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, s: i.s}
}

type takingWorkflow struct {
	interceptor.WorkflowInboundInterceptorBase
	s *server
}

func (i *takingWorkflow) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&takingOutbound{WorkflowOutboundInterceptorBase: interceptor.WorkflowOutboundInterceptorBase{Next: out}, s: i.s})
}

func (i *takingWorkflow) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	// Only from here on does the clock stand still while the workflow is at work.
	i.s.w.at(step, i.s.w.plan)
	i.s.w.watch()
	return i.Next.ExecuteWorkflow(ctx, in)
}

type takingOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	s *server
}

func (i *takingOutbound) ExecuteActivity(ctx workflow.Context, _ string, args ...any) workflow.Future {
	future, answer := workflow.NewFuture(ctx)
	if in, ok := args[0].(*workflowv1.MirrorInput); ok {
		i.s.store(proto.CloneOf(in), answer, workflow.GetActivityOptions(ctx).RetryPolicy)
		return future
	}
	i.s.asked = append(i.s.asked, &execution{
		asked: ctx, answer: answer, policy: workflow.GetActivityOptions(ctx).RetryPolicy,
		input: proto.CloneOf(args[0].(*workflowv1.PerformInput)),
	})
	i.s.w.soon(func() {})
	return future
}

// inActivity is the context of an activity, in which the product's code can ask what
// it asks Temporal; the answers are those of the attempt that is in the context too.
var inActivity = sync.OnceValue(func() context.Context {
	inside := make(chan context.Context, 1)
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(quiet)
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&answering{}}})
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		inside <- context.WithoutCancel(ctx)
		return nil
	}, activity.RegisterOptions{Name: workflowv1.PerformActivity})
	if _, err := env.ExecuteActivity(workflowv1.PerformActivity); err != nil {
		panic(err)
	}
	return <-inside
})

type answering struct {
	interceptor.WorkerInterceptorBase
}

func (*answering) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &answeringInbound{interceptor.ActivityInboundInterceptorBase{Next: next}}
}

type answeringInbound struct {
	interceptor.ActivityInboundInterceptorBase
}

func (i *answeringInbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	return i.Next.Init(&tryOutbound{interceptor.ActivityOutboundInterceptorBase{Next: out}})
}

// tryOutbound is what an attempt sees of Temporal.
type tryOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

func (o *tryOutbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	if t, ok := ctx.Value(tryKey{}).(*try); ok {
		info.Attempt, info.ScheduledTime, info.StartedTime = t.attempt, t.at, t.at
		info.HeartbeatTimeout = heartbeat
	}
	return info
}

func (o *tryOutbound) RecordHeartbeat(ctx context.Context, details ...any) {
	t := ctx.Value(tryKey{}).(*try)
	if t.lost.Load() {
		return
	}
	data, err := proto.Marshal(details[0].(*workflowv1.Progress))
	if err != nil {
		panic(err)
	}
	t.e.mu.Lock()
	t.e.details = data
	t.e.mu.Unlock()
	select {
	case t.beats <- struct{}{}:
	default:
	}
}

func (o *tryOutbound) GetWorkerStopChannel(ctx context.Context) <-chan struct{} {
	return ctx.Value(tryKey{}).(*try).stop
}

func (o *tryOutbound) HasHeartbeatDetails(ctx context.Context) bool {
	return ctx.Value(tryKey{}).(*try).e.heard() != nil
}

func (o *tryOutbound) GetHeartbeatDetails(ctx context.Context, d ...any) error {
	proto.Merge(d[0].(*workflowv1.Progress), ctx.Value(tryKey{}).(*try).e.heard())
	return nil
}

// take starts the attempts of what the workflow has asked for. It is called before
// anything else happens in an instant, so that the order is always the same.
func (s *server) take() {
	for len(s.asked) > 0 {
		e := s.asked[0]
		s.asked = s.asked[1:]
		s.live = append(s.live, e)
		if !e.over() { // the server starts nothing that was cancelled
			s.start(e)
		}
	}
}

// current is the execution that the workflow waits for, or nil.
func (s *server) current() *execution {
	s.live = slices.DeleteFunc(s.live, func(e *execution) bool { return e.told || e.asked.Err() != nil })
	if len(s.live) == 0 {
		return nil
	}
	return s.live[len(s.live)-1]
}

// start makes an attempt, up to where the performer is at work or it has returned.
func (s *server) start(e *execution) {
	e.attempts++
	t := &try{
		e: e, at: s.w.now(), attempt: e.attempts, began: make(chan performers.Request),
		end: make(chan Ending), returned: make(chan report, 1), beats: make(chan struct{}, 1),
		stop: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(context.WithValue(inActivity(), tryKey{}, t))
	t.cancel = cancel
	go func() {
		r, err := s.w.perform(ctx, proto.CloneOf(e.input))
		t.returned <- report{r, err}
	}()
	select {
	case request := <-t.began:
		s.w.tries = append(s.w.tries, t)
		s.w.began(t, request)
	case r := <-t.returned:
		s.w.refused(t)
		s.report(t, r)
	}
}

// finish lets the performer come back.
func (s *server) finish(t *try) {
	if t.how.Beats && t.how.How == model.Lost {
		select {
		case <-t.beats: // that of before it began
		default:
		}
		<-t.beats
	}
	if t.how.How == model.Lost {
		t.lost.Store(true)
		s.w.at(t.how.Noticed, func() { s.lose(t) })
		return
	}
	switch {
	case t.e.over() && !t.how.Deaf:
		t.cancel()
	case t.how.How == model.Stopped:
		close(t.stop)
	default:
		t.end <- t.how
	}
	if !t.how.Unheard {
		s.report(t, <-t.returned)
		return
	}
	<-t.returned
	t.noted, t.ended = t.e.heard().GetSettled(), s.w.now()
	t.lost.Store(true)
	t.e.mute = true
	s.w.at(t.how.Noticed, func() { s.lose(t) })
}

// report is what the server does with the result of an attempt.
func (s *server) report(t *try, r report) {
	e := t.e
	if e.over() {
		return
	}
	if failure, ok := errors.AsType[*temporal.ApplicationError](r.err); ok && !failure.NonRetryable() &&
		!slices.Contains(e.policy.NonRetryableErrorTypes, failure.Type()) && e.attempts < e.policy.MaximumAttempts {
		s.w.settle(t)
		if failure.NextRetryDelay() <= 0 {
			s.w.differf("an attempt failed without a NextRetryDelay")
		}
		s.w.at(failure.NextRetryDelay(), func() {
			if !e.over() {
				s.start(e)
			}
		})
		return
	}
	e.done = true
	s.w.soon(func() {
		if e.asked.Err() == nil {
			s.w.settle(t)
		}
	})
	s.complete(e, r.progress, r.err)
}

// store is an execution of Mirror, which is tried until it succeeds.
func (s *server) store(in *workflowv1.MirrorInput, answer workflow.Settable, policy *temporal.RetryPolicy) {
	s.storing = true
	wait := policy.InitialInterval
	var write func()
	write = func() {
		s.storing = true
		if err := s.w.writer().Mirror(context.Background(), in); err != nil {
			s.storing = false // for a while
			s.w.at(wait, write)
			wait = min(time.Duration(float64(wait)*policy.BackoffCoefficient), policy.MaximumInterval)
			return
		}
		s.w.soon(func() {
			s.storing = false
			answer.SetValue(nil)
		})
		s.w.env.SignalWorkflow("__task", nil)
	}
	s.w.soon(write)
}

// complete tells the workflow, as it would be told over the wire.
func (s *server) complete(e *execution, result *workflowv1.Progress, err error) {
	s.w.soon(func() {
		if e.asked.Err() != nil {
			return // cancelled in this very instant
		}
		e.told = true
		if err != nil {
			wire := temporal.GetDefaultFailureConverter()
			e.answer.SetError(wire.FailureToError(wire.ErrorToFailure(err)))
			return
		}
		e.answer.SetValue(proto.CloneOf(result))
	})
	s.w.env.SignalWorkflow("__task", nil)
}

// lose is the server noticing that no heartbeat comes any more.
func (s *server) lose(t *try) {
	e := t.e
	if t.how.Ghost {
		// The process was only cut off: it goes on, writes its rows, and nobody listens.
		defer func() {
			s.w.at(time.Second, func() {
				t.end <- Ending{How: model.Success}
				<-t.returned
			})
		}()
	} else {
		t.cancel()
	}
	if e.over() {
		return
	}
	e.done = true
	s.w.soon(func() {
		if e.asked.Err() == nil {
			s.w.settle(t)
		}
	})
	var details []any
	if p := e.heard(); p != nil {
		details = append(details, p)
	}
	s.complete(e, nil, temporal.NewHeartbeatTimeoutError(details...))
}
