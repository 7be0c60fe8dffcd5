package model_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gnomon/action/life"
	"gnomon/activities"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/model"
	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/workflows"
)

// origin is when lives begin.
var origin = time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)

// step is the least that the clock is moved by to look at what came of an instant.
const step = time.Microsecond

// patience is how long, in real time, a life may stand still: a busy machine is not a
// difference.
const patience = time.Minute

// difference is what ends a life in which product and model disagree.
type difference struct{ what string }

// world is one life in progress: the product in its environment on one side, the model
// on the other.
type world struct {
	script Life
	model  *model.Action

	env      *testsuite.TestWorkflowEnvironment
	server   *server
	rows     *rows
	mirror   *activities.Mirror
	mu       sync.Mutex // of spares
	tries    []*try
	spares   []*activities.Mirror
	done     int       // steps
	base     time.Time // when the last one was
	watching map[time.Time]bool

	attempts int // that began
	guids    int
	commands int
	lastID   string
	oldGUID  string
	// veiled: the mirror shows what the workflow knows, as of before the attempts that
	// go on, since a command had a row written meanwhile.
	veiled *execution
	// unheard: it was deleted while attempts went on, which nobody heard of any more.
	unheard bool
	behind  bool      // the store was down and has not been seen to catch up
	upAt    time.Time // when it came back

	verbose bool
	story   []string
}

func (w *world) tellf(format string, args ...any) {
	if w.verbose {
		w.story = append(w.story, fmt.Sprintf("%9.3fs  ", w.now().Sub(origin).Seconds())+fmt.Sprintf(format, args...))
	}
}

func (w *world) differf(format string, args ...any) {
	panic(difference{fmt.Sprintf(format, args...)})
}

func (w *world) now() time.Time {
	if w.env == nil {
		return origin
	}
	return w.env.Now().UTC()
}

// run lives a life; "" is that both sides agree, else it is the difference.
func (l Life) run(verbose bool) (what string, story []string) {
	w := &world{script: l, verbose: verbose, rows: &rows{Memory: storetest.NewMemory()}, base: origin}
	defer w.clear()
	defer func() {
		story = w.story
		switch r := recover().(type) {
		case nil:
		case difference:
			what = r.what
		case string:
			what = r // the environment gave up waiting
		default:
			panic(fmt.Sprint(r))
		}
	}()
	spec := l.First.spec(origin)
	state := life.New(&gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: w.guid()}, Spec: spec}, origin, "request")
	w.model = model.New(origin, "a", "guid-1", nil, spec, spread)
	w.renewMirror()
	if !l.Unseen {
		if _, err := w.rows.PutActions(context.Background(), []store.Row{{Action: life.Action(state)}}); err != nil {
			panic(err)
		}
	}
	w.tellf("created: %s", describe(spec))
	for state != nil {
		state = w.live(state)
	}
	return "", nil
}

// live is one run of the workflow; it gives what the next one carries on.
func (w *world) live(state *workflowv1.ActionState) *workflowv1.ActionState {
	start := w.now()
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(quiet)
	w.env = suite.NewTestWorkflowEnvironment()
	w.env.SetTestTimeout(patience)
	w.env.SetWorkflowRunTimeout(-1) // none: a timer of years would keep the run in memory
	w.env.SetStartTime(start)
	w.watching = map[time.Time]bool{}
	w.server = &server{w: w}
	w.env.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: patience,
		Interceptors:             append([]interceptor.WorkerInterceptor{&taking{s: w.server}}, workflows.Interceptors()...),
	})
	workflows.New(workflows.Options{HeartbeatTimeout: heartbeat}).Register(registry{w.env})
	w.env.ExecuteWorkflow(workflowv1.ActionWorkflow, state)

	err := w.env.GetWorkflowError()
	if again, ok := errors.AsType[*workflow.ContinueAsNewError](err); ok {
		w.tellf("continues as new")
		next := &workflowv1.ActionState{}
		if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, next); err != nil {
			panic(err)
		}
		return next
	}
	if broken, ok := errors.AsType[*temporal.PanicError](err); ok {
		w.differf("the workflow panicked: %v\n%s", err, broken.StackTrace())
	}
	if err != nil {
		w.differf("the workflow failed: %v", err)
	}
	w.judgeEnd()
	return nil
}

// perform is the product's activity in a worker of this moment.
func (w *world) perform(ctx context.Context, in *workflowv1.PerformInput) (*workflowv1.Progress, error) {
	born := time.Now()
	if !w.script.Young {
		born = born.Add(-time.Hour)
	}
	p := &activities.Perform{
		Performers: performers.Set{"mock_action": doer{}}, Mirror: w.writer(), Asker: asker{w}, Log: discard,
		Born: born, Clock: func(activity.Info) func() time.Time { return w.now },
	}
	return p.Perform(ctx, in)
}

// writer is the worker's Mirror. While the store is down each write has its own: one
// pauses in real time after a failure.
func (w *world) writer() *activities.Mirror {
	if w.rows.Down() {
		m := activities.NewMirrorTelling(w.rows.tap(), discard, 0)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.spares = append(w.spares, m)
		return m
	}
	return w.mirror
}

func (w *world) renewMirror() {
	if w.mirror != nil {
		w.spares = append(w.spares, w.mirror)
	}
	w.mirror = activities.NewMirrorTelling(w.rows.tap(), discard, 0)
}

// clear ends what a life leaves behind.
func (w *world) clear() {
	w.rows.cut()
	for _, m := range append(w.spares, w.mirror) {
		m.Close(cancelled)
	}
	for _, t := range w.tries {
		t.cancel()
	}
}

var cancelled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

var (
	discard = slog.New(slog.DiscardHandler)
	quiet   = log.NewStructuredLogger(discard)
)

// doer is the performer: it says that it began and ends as it is told.
type doer struct{}

func (doer) Perform(ctx context.Context, r performers.Request) (performers.Reply, error) {
	t := ctx.Value(tryKey{}).(*try)
	t.began <- r
	var how Ending
	select {
	case how = <-t.end:
	case <-ctx.Done():
		return performers.Reply{}, ctx.Err()
	}
	switch how.How {
	case model.Success:
		return performers.Reply{Text: "done"}, nil
	case model.Permanent:
		return performers.Reply{}, performers.Permanent(errors.New("for good"))
	case model.Panicked:
		panic("out of order")
	default:
		return performers.Reply{}, errors.New("not now")
	}
}

// asker asks the workflow, which is between its tasks.
type asker struct{ w *world }

// Untouched implements activities.Asker: every attempt that asks asks the workflow.
func (asker) Untouched(context.Context, activity.Info) (bool, error) { return false, nil }

func (a asker) Standing(context.Context, string, string) (*workflowv1.Standing, error) {
	v, err := a.w.env.QueryWorkflow(workflowv1.QueryStanding)
	if err != nil {
		return nil, err
	}
	s := &workflowv1.Standing{}
	return s, v.Get(s)
}

type registry struct {
	*testsuite.TestWorkflowEnvironment
}

func (registry) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}

// rows is the store, and who is connected to it.
type rows struct {
	*storetest.Memory
	mu   sync.Mutex
	taps []*tap
}

// tap is one process's connection to it.
type tap struct {
	store.Actions
	rows   *rows
	closed bool
}

func (r *rows) tap() *tap {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &tap{rows: r, closed: r.Down()}
	r.taps = append(r.taps, t)
	return t
}

// cut ends all connections: the processes that had them write nothing any more.
func (r *rows) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.taps {
		t.closed = true
	}
	r.taps = nil
}

func (t *tap) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	t.rows.mu.Lock()
	defer t.rows.mu.Unlock()
	if t.closed {
		return nil, storetest.ErrDown
	}
	return t.rows.PutActions(ctx, rows)
}
