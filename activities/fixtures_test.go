package activities_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/actiontest"
	"gnomon/action/life"
	"gnomon/activities"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/storetest"
)

// start is when the occurrences of these tests are due.
var start = actiontest.Start

// bench is one attempt, ready to be made.
type bench struct {
	t     *testing.T
	suite testsuite.WorkflowTestSuite
	env   *testsuite.TestActivityEnvironment
	real  *activities.Perform
	store *storetest.Memory
	in    *workflowv1.PerformInput
	info  func(*activity.Info)
	// whole is what the server says of whether anything reached the workflow.
	whole   func() (bool, error)
	asked   int
	answer  func(asked int) (*workflowv1.Standing, error)
	perform func(ctx context.Context, r performers.Request) (performers.Reply, error)

	mu    sync.Mutex
	now   time.Time
	acted []performers.Request
	beats []*workflowv1.Progress
}

// newBench has an attempt of an action that retries by table T1, at its time, in a
// process that has run for long. It must be closed in the same bubble of time.
func newBench(t *testing.T, retries uint32) *bench {
	t.Helper()
	b := &bench{t: t, store: storetest.NewMemory(), now: start}
	spec := actiontest.Once(actiontest.T1(retries))
	spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
		Url: "https://example.com", Timeout: durationpb.New(20 * time.Second),
	}}}
	s := life.New(actiontest.Wanted(spec, "guid-1"), actiontest.Accepted, "")
	s.Incarnation = timestamppb.New(actiontest.Accepted)
	b.in = life.Begin(s, start)
	b.in.Chain = "run-1"
	b.whole = func() (bool, error) { return false, nil }
	b.answer = func(int) (*workflowv1.Standing, error) {
		return &workflowv1.Standing{Guid: "guid-1", Perform: true, Sequence: b.in.GetSequence()}, nil
	}
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
		return performers.Reply{Text: "done"}, nil
	}

	quiet := slog.New(slog.DiscardHandler)
	b.suite.SetLogger(log.NewStructuredLogger(quiet))
	b.env = b.suite.NewTestActivityEnvironment()
	b.env.SetTestTimeout(time.Hour)
	b.env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&altering{bench: b}}})
	b.real = &activities.Perform{
		Performers: performers.Set{"http_request": b}, Mirror: activities.NewMirror(b.store, quiet), Asker: b, Log: quiet,
		Worker: "host/build/1", StopGrace: time.Second,
		Clock: func(activity.Info) func() time.Time { return b.clock },
	}
	b.env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		p := &workflowv1.Progress{}
		require.NoError(t, details.Get(p))
		b.mu.Lock()
		defer b.mu.Unlock()
		b.beats = append(b.beats, p)
	})
	b.env.RegisterActivity(b.real.Perform)
	return b
}

// close ends what runs in the background.
func (b *bench) close() { b.real.Mirror.Close(context.Background()) }

// run makes the attempt.
func (b *bench) run() (*workflowv1.Progress, error) {
	v, err := b.env.ExecuteActivity(b.real.Perform, b.in)
	if err != nil {
		return nil, err
	}
	p := &workflowv1.Progress{}
	require.NoError(b.t, v.Get(p))
	return p, nil
}

// fail makes the attempt, which is to fail, and gives its report.
func (b *bench) fail() (*temporal.ApplicationError, *workflowv1.Progress) {
	b.t.Helper()
	_, err := b.run()
	var failure *temporal.ApplicationError
	require.ErrorAs(b.t, err, &failure)
	p := &workflowv1.Progress{}
	require.NoError(b.t, failure.Details(p))
	return failure, p
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// Perform implements performers.Performer.
func (b *bench) Perform(ctx context.Context, r performers.Request) (performers.Reply, error) {
	b.mu.Lock()
	b.acted = append(b.acted, r)
	b.mu.Unlock()
	return b.perform(ctx, r)
}

// Untouched implements activities.Asker.
func (b *bench) Untouched(_ context.Context, info activity.Info) (bool, error) {
	require.Equal(b.t, "run-1", info.WorkflowExecution.RunID)
	return b.whole()
}

// Standing implements activities.Asker.
func (b *bench) Standing(context.Context, string, string) (*workflowv1.Standing, error) {
	b.asked++
	return b.answer(b.asked)
}

// altering is an interceptor by which a test says what the server told of the
// attempt.
type altering struct {
	interceptor.WorkerInterceptorBase
	bench *bench
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (a *altering) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &alteredInbound{bench: a.bench}
	i.Next = next
	return i
}

type alteredInbound struct {
	interceptor.ActivityInboundInterceptorBase
	bench *bench
}

// Init implements interceptor.ActivityInboundInterceptor.
func (i *alteredInbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	o := &alteredOutbound{bench: i.bench}
	o.Next = out
	return i.Next.Init(o)
}

type alteredOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
	bench *bench
}

// GetInfo implements interceptor.ActivityOutboundInterceptor.
func (o *alteredOutbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.ScheduledTime, info.StartedTime = start, start
	info.HeartbeatTimeout = 10 * time.Second
	info.WorkflowExecution.ID, info.WorkflowExecution.RunID = "action/a", "run-1"
	if o.bench.info != nil {
		o.bench.info(&info)
	}
	return info
}
