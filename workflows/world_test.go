package workflows_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gnomon/action/life"
	"gnomon/activities"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/storetest"
	"gnomon/workflows"
)

// world is one run of the workflow in skipped time, with the real activities, a
// performer that does as the test says and a store in memory.
type world struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	rows  *storetest.Memory
	clock time.Time // when the run starts

	// perform is what the performer does. Default: succeeds.
	perform func(ctx context.Context, r performers.Request) error
	// take may take an attempt over, which then ends when the test says so.
	take func(a *attempt) bool
	real *activities.Perform

	mu       sync.Mutex
	attempts []made
}

// made is an attempt that acted.
type made struct {
	at         time.Time
	guid       string
	number     uint32
	occurrence time.Time
	key        string
}

func newWorld(t *testing.T, opts ...func(*world)) *world {
	t.Helper()
	w := &world{
		t: t, rows: storetest.NewMemory(), clock: accepted,
		perform: func(context.Context, performers.Request) error { return nil },
	}
	for _, o := range opts {
		o(w)
	}
	quiet := slog.New(slog.DiscardHandler)
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(log.NewStructuredLogger(quiet))
	w.env = suite.NewTestWorkflowEnvironment()
	w.env.SetWorkerOptions(worker.Options{
		Interceptors: workflows.Interceptors(),
		// A machine that is busy with other tests is no deadlock.
		DeadlockDetectionTimeout: time.Minute,
	})
	w.env.SetTestTimeout(time.Minute)
	w.env.SetStartTime(w.clock)
	workflows.New(workflows.Options{}).Register(registry{w.env})

	mirror := activities.NewMirrorTelling(w.rows, quiet, 0)
	t.Cleanup(func() { mirror.Close(context.Background()) })
	w.real = &activities.Perform{
		Performers: performers.Set{"mock_action": w}, Mirror: mirror, Asker: w, Log: quiet,
		Clock: func(activity.Info) func() time.Time { return w.env.Now },
	}
	w.env.RegisterActivityWithOptions(w.performActivity, activity.RegisterOptions{Name: workflowv1.PerformActivity})
	w.env.RegisterActivityWithOptions(mirror.Mirror, activity.RegisterOptions{Name: workflowv1.MirrorActivity})
	return w
}

// registry makes the environment what Register wants.
type registry struct {
	*testsuite.TestWorkflowEnvironment
}

func (registry) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}

// Perform implements performers.Performer.
func (w *world) Perform(ctx context.Context, r performers.Request) (performers.Reply, error) {
	w.mu.Lock()
	w.attempts = append(w.attempts, made{w.now(), r.GUID, r.Attempt, r.Occurrence, r.IdempotencyKey})
	w.mu.Unlock()
	return performers.Reply{Text: "done"}, w.perform(ctx, r)
}

func (w *world) performActivity(ctx context.Context, in *workflowv1.PerformInput) (*workflowv1.Progress, error) {
	a := &attempt{w: w, in: in, token: activity.GetInfo(ctx).TaskToken}
	if activity.HasHeartbeatDetails(ctx) {
		a.left = &workflowv1.Progress{}
		require.NoError(w.t, activity.GetHeartbeatDetails(ctx, a.left))
	}
	if w.take != nil && w.take(a) {
		return nil, activity.ErrResultPending
	}
	return w.real.Perform(ctx, in)
}

// Untouched implements activities.Asker: every attempt that asks asks the workflow.
func (*world) Untouched(context.Context, activity.Info) (bool, error) { return false, nil }

// Standing implements activities.Asker: it asks the workflow between its tasks, as
// the server would.
func (w *world) Standing(ctx context.Context, _, _ string) (*workflowv1.Standing, error) {
	type answer struct {
		standing *workflowv1.Standing
		err      error
	}
	answers := make(chan answer, 1)
	w.env.RegisterDelayedCallback(func() {
		s, err := w.standing()
		answers <- answer{s, err}
	}, 0)
	select {
	case a := <-answers:
		return a.standing, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// standing asks from within the environment's own loop.
func (w *world) standing() (*workflowv1.Standing, error) {
	v, err := w.env.QueryWorkflow(workflowv1.QueryStanding)
	if err != nil {
		return nil, err
	}
	s := &workflowv1.Standing{}
	return s, v.Get(s)
}

// action asks the workflow for the action, from within the loop.
func (w *world) action() *workflowv1.CommandResult {
	v, err := w.env.QueryWorkflow(workflowv1.QueryAction)
	require.NoError(w.t, err)
	r := &workflowv1.CommandResult{}
	require.NoError(w.t, v.Get(r))
	return r
}

// now is the time of the run.
func (w *world) now() time.Time { return w.env.Now().UTC() }

// at has something done at a time of the run.
func (w *world) at(moment time.Time, do func()) {
	w.env.RegisterDelayedCallback(do, moment.Sub(w.clock))
}

// signal sends commands that the workflow finds in one task.
func (w *world) signal(names ...string) {
	for i, name := range names {
		w.signalWith(i == len(names)-1, name, &workflowv1.Command{})
	}
}

func (w *world) signalWith(last bool, name string, payload any) {
	if last {
		w.env.SignalWorkflow(name, payload)
	} else {
		w.env.SignalWorkflowSkippingWorkflowTask(name, payload)
	}
}

// run executes the workflow and gives its error.
func (w *world) run(s *workflowv1.ActionState) error {
	w.t.Helper()
	w.env.ExecuteWorkflow(workflowv1.ActionWorkflow, s)
	require.True(w.t, w.env.IsWorkflowCompleted())
	return w.env.GetWorkflowError()
}

// finish executes the workflow to its end and gives the final status, which the
// store must have as a tombstone.
func (w *world) finish(s *workflowv1.ActionState) *gnomonv1.Status {
	w.t.Helper()
	require.NoError(w.t, w.run(s))
	st := &gnomonv1.Status{}
	require.NoError(w.t, w.env.GetWorkflowResult(st))
	require.True(w.t, life.Ended(st))
	row, ok := w.rows.Row("a")
	require.True(w.t, ok)
	require.True(w.t, row.Tombstone)
	require.Equal(w.t, st.String(), row.Action.GetStatus().String())
	return st
}

// acted is when attempts acted, after start.
func (w *world) acted() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []time.Duration
	for _, m := range w.attempts {
		all = append(all, m.at.Sub(start))
	}
	return all
}

func (w *world) guids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, m := range w.attempts {
		all = append(all, m.guid)
	}
	return all
}
