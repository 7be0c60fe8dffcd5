package workflows_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// dossier is one entity in skipped time, whose store and stages are played by the test.
type dossier struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	clock time.Time
	state *workflowv1.EntityState

	mu      sync.Mutex
	version int64
	gone    bool
	// wants says whether a stage wants to visit when it is asked. Default: no.
	wants map[string]func(in *workflowv1.AskInput) *workflowv1.AskResult_Answer
	// works is what a stage makes of its visit. Default: nothing.
	works map[string]func(in *workflowv1.VisitInput) *workflowv1.VisitResult
	// holds are stages whose queue nobody polls: their visits wait there.
	holds   map[string]bool
	waiting []waitingVisit

	asks   []*workflowv1.AskInput
	visits []visitMade
	// publisher is why nothing can be published; published is when it was.
	publisher error
	published []time.Time
	// untold is a version that nobody told of, and that is published the second time.
	untold int64
	rows   []*workflowv1.MirrorQueueInput
}

type visitMade struct {
	stage string
	after time.Duration
	in    *workflowv1.VisitInput
}

type waitingVisit struct {
	in    *workflowv1.VisitInput
	token []byte
}

func newDossier(t *testing.T) *dossier {
	t.Helper()
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	d := &dossier{
		t: t, env: suite.NewTestWorkflowEnvironment(), clock: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		state: &workflowv1.EntityState{Type: "offer", Id: "1"},
		wants: map[string]func(*workflowv1.AskInput) *workflowv1.AskResult_Answer{},
		works: map[string]func(*workflowv1.VisitInput) *workflowv1.VisitResult{},
		holds: map[string]bool{},
	}
	d.env.SetWorkerOptions(worker.Options{Interceptors: workflows.Interceptors(), DeadlockDetectionTimeout: time.Minute})
	d.env.SetStartTime(d.clock)
	d.env.SetTestTimeout(20 * time.Second)
	workflows.New(workflows.Options{Entities: &workflowv1.EntitySettings{
		CascadeCap: 3, CascadePause: durationpb.New(time.Minute),
	}}).Register(registry{d.env})
	register := func(f any, name string) {
		d.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	register(d.askStages, workflowv1.AskStagesActivity)
	register(d.process, workflowv1.ProcessActivity)
	register(d.publishSaved, workflowv1.PublishSavedActivity)
	register(d.mirrorQueue, workflowv1.MirrorQueueActivity)
	return d
}

// stage adds one that wants every change and does this.
func (d *dossier) stage(name string, work func(*workflowv1.VisitInput) *workflowv1.VisitResult) {
	d.wants[name] = func(*workflowv1.AskInput) *workflowv1.AskResult_Answer {
		return &workflowv1.AskResult_Answer{Stage: name, Visit: true}
	}
	d.works[name] = work
}

// quietly is what a stage does that changes nothing.
func quietly(*workflowv1.VisitInput) *workflowv1.VisitResult { return &workflowv1.VisitResult{} }

func (d *dossier) names() []string {
	var all []string
	for name := range d.wants {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (d *dossier) askStages(_ context.Context, in *workflowv1.AskInput) (*workflowv1.AskResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, in)
	if d.gone {
		return &workflowv1.AskResult{Gone: true}, nil
	}
	r := &workflowv1.AskResult{Version: d.version}
	for _, name := range d.names() {
		if slices.Contains(in.GetExcept(), name) || len(in.GetOnly()) > 0 && !slices.Contains(in.GetOnly(), name) {
			continue
		}
		if a := d.wants[name](in); a != nil {
			r.Answers = append(r.Answers, a)
		}
	}
	return r, nil
}

func (d *dossier) process(ctx context.Context, in *workflowv1.VisitInput) (*workflowv1.VisitResult, error) {
	require.Equal(d.t, workflowv1.StageTaskQueue(defaultQueue, in.GetStage()), activity.GetInfo(ctx).TaskQueue)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds[in.GetStage()] {
		d.waiting = append(d.waiting, waitingVisit{in, activity.GetInfo(ctx).TaskToken})
		return nil, activity.ErrResultPending
	}
	return d.work(in), nil
}

// defaultQueue is the task queue of the environment's workflow.
const defaultQueue = "default-test-taskqueue"

func (d *dossier) work(in *workflowv1.VisitInput) *workflowv1.VisitResult {
	d.visits = append(d.visits, visitMade{in.GetStage(), d.env.Now().Sub(d.clock).Round(time.Millisecond), in})
	if d.gone {
		return &workflowv1.VisitResult{Gone: true}
	}
	r := d.works[in.GetStage()](in)
	if r.GetChanged() {
		d.version++
	}
	if r.GetError() == "" {
		r.Version = d.version
	}
	return r
}

func (d *dossier) publishSaved(context.Context, *workflowv1.PublishSavedInput) (*workflowv1.PublishSavedResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.publisher != nil {
		return nil, d.publisher
	}
	d.published = append(d.published, d.env.Now())
	if d.untold == 0 || len(d.published) != 2 {
		return &workflowv1.PublishSavedResult{}, nil
	}
	d.version = d.untold
	return &workflowv1.PublishSavedResult{Version: d.untold}, nil
}

func (d *dossier) mirrorQueue(_ context.Context, in *workflowv1.MirrorQueueInput) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows = append(d.rows, in)
	return nil
}

// release has the visits that wait in a stage's queue made.
func (d *dossier) release(stage string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.holds[stage] = false
	for _, w := range d.waiting {
		if w.in.GetStage() == stage {
			r := d.work(w.in)
			d.env.RegisterDelayedCallback(func() {
				// One that was called back is known to the environment no more.
				_ = d.env.CompleteActivity(w.token, r, nil)
			}, 0)
		}
	}
}

// at does something when so much time has passed.
func (d *dossier) at(after time.Duration, do func()) { d.env.RegisterDelayedCallback(do, after) }

// put makes a new version from outside and tells of it.
func (d *dossier) put(fields ...string) {
	d.mu.Lock()
	d.version++
	v := d.version
	d.mu.Unlock()
	d.env.SignalWorkflow(workflowv1.SignalChanged, &workflowv1.EntityChanged{Version: v, Fields: fields})
}

func (d *dossier) want(v *workflowv1.VisitRequested) {
	d.env.SignalWorkflow(workflowv1.SignalVisit, v)
}

// run begins with a put, unless the state is of a run before, and goes on to the end.
func (d *dossier) run() error {
	d.t.Helper()
	if d.state.GetVersion() == 0 && d.version == 0 {
		d.at(0, func() { d.put("x") })
	}
	d.env.ExecuteWorkflow(workflowv1.EntityWorkflow, d.state)
	require.True(d.t, d.env.IsWorkflowCompleted())
	return d.env.GetWorkflowError()
}

func (d *dossier) check() *gnomonv1.CheckEntityResponse {
	v, err := d.env.QueryWorkflow(workflowv1.QueryCheck)
	require.NoError(d.t, err)
	r := &gnomonv1.CheckEntityResponse{}
	require.NoError(d.t, v.Get(r))
	return r
}

// visited are the stages that visited, in their order.
func (d *dossier) visited() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, v := range d.visits {
		all = append(all, v.stage)
	}
	return all
}

// when are the times of a stage's visits.
func (d *dossier) when(stage string) []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []time.Duration
	for _, v := range d.visits {
		if v.stage == stage {
			all = append(all, v.after)
		}
	}
	return all
}

func (d *dossier) in(after time.Duration) *timestamppb.Timestamp {
	return timestamppb.New(d.clock.Add(after))
}

// nextState is what a run handed to the next.
func nextState(t *testing.T, err error) *workflowv1.EntityState {
	t.Helper()
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &next)
	state := &workflowv1.EntityState{}
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, state))
	return state
}
