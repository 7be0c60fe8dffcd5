package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/notices"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/workflows"
)

// lostAfter is how long a worker is silent before the server gives its attempt up.
const lostAfter = 10 * time.Second

// office is one run of the workflow Batch in skipped time, with the real activities, a
// real store in memory, changes that do as the test says, and people who note what they
// are told.
type office struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	rows  *faulty.Store
	clock time.Time // when the run starts

	// options of the worker; subscribed are the outcomes that people asked for.
	options    workflows.Options
	subscribed []string
	// problems are what stands against the changes of these indexes.
	problems func(unfinished []int) []*gnomonv1.Problem
	// apply does a change. Default: it is done.
	apply func(index int, turn changes.Turn) error
	// tell carries a notice. Default: it arrives.
	tell func(n notices.Notice) error

	mu sync.Mutex
	// done are the changes applied, told the notices that people got.
	done     []applied
	told     []notices.Notice
	attempts []time.Duration // when attempts began, after the batch's time
	judged   [][]int         // what each validation looked at
	lost     int             // how many workers were lost
}

// applied is a call of Apply.
type applied struct {
	at      time.Duration // after the batch's time
	index   int
	key     string
	resumed bool
}

func newOffice(t *testing.T, opts ...func(*office)) *office {
	t.Helper()
	o := &office{
		t: t, clock: accepted,
		problems: func([]int) []*gnomonv1.Problem { return nil },
		apply:    func(int, changes.Turn) error { return nil },
		tell:     func(notices.Notice) error { return nil },
	}
	for _, change := range opts {
		change(o)
	}
	quiet := slog.New(slog.DiscardHandler)
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(log.NewStructuredLogger(quiet))
	o.env = suite.NewTestWorkflowEnvironment()
	o.env.SetWorkerOptions(worker.Options{Interceptors: workflows.Interceptors(), DeadlockDetectionTimeout: time.Minute})
	o.env.SetTestTimeout(time.Minute)
	o.env.SetStartTime(o.clock)
	workflows.New(o.options).Register(registry{o.env})
	if o.rows == nil {
		rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Now: o.now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, rows.Close()) })
		o.rows = faulty.New(rows, 1)
	}
	kinds, err := changes.NewSet(scripted{o})
	require.NoError(t, err)
	people, err := notices.NewSet(notices.Subscription{Channel: person{o}, Events: o.subscribed})
	require.NoError(t, err)
	b := &activities.Batches{
		Store: o.rows, Kinds: kinds, Notices: people, Log: quiet, Worker: "worker",
		Clock: func(activity.Info) func() time.Time { return o.serverTime },
	}
	register := func(f any, name string) { o.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	register(b.AcceptBatch, workflowv1.AcceptBatchActivity)
	register(b.StoreBatch, workflowv1.StoreBatchActivity)
	register(b.AbandonBatch, workflowv1.AbandonBatchActivity)
	register(b.NotifyBatch, workflowv1.NotifyBatchActivity)
	register(func(ctx context.Context, in *workflowv1.ProcessBatchInput) (*workflowv1.ProcessBatchResult, error) {
		return o.process(ctx, b, in)
	}, workflowv1.ProcessBatchActivity)
	return o
}

// process is ProcessBatch in a goroutine that may vanish, as a worker does that is killed
// in the middle of a change: nothing of it runs any more, and the server notices later.
func (o *office) process(ctx context.Context, b *activities.Batches, in *workflowv1.ProcessBatchInput) (*workflowv1.ProcessBatchResult, error) {
	if queue := activity.GetInfo(ctx).TaskQueue; queue != workflowv1.BatchTaskQueue("default-test-taskqueue") {
		o.t.Errorf("V-15: a batch is processed from the task queue %s", queue)
	}
	o.mu.Lock()
	o.attempts = append(o.attempts, o.now().Sub(start))
	o.mu.Unlock()
	var result *workflowv1.ProcessBatchResult
	err := temporal.NewHeartbeatTimeoutError()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err = b.ProcessBatch(ctx, in)
	}()
	<-ended
	if err != nil && temporal.IsTimeoutError(err) {
		o.mu.Lock()
		o.lost++
		o.mu.Unlock()
	}
	return result, err
}

// vanish is the end of the worker that calls it.
func vanish() { runtime.Goexit() }

func (o *office) now() time.Time { return o.env.Now().UTC() }

// serverTime is now, with the silence of lost workers, which the environment leaves out.
func (o *office) serverTime() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now().Add(time.Duration(o.lost) * lostAfter)
}

// scripted is the kind of all changes.
type scripted struct{ o *office }

func (scripted) Name() string                             { return "http_change" }
func (scripted) TimeLimit(*gnomonv1.Change) time.Duration { return time.Second }

func (d scripted) Validate(_ context.Context, _ changes.Batch, all []changes.Subject) ([]*gnomonv1.Problem, error) {
	var indexes []int
	for _, s := range all {
		indexes = append(indexes, s.Index)
	}
	d.o.mu.Lock()
	d.o.judged = append(d.o.judged, indexes)
	d.o.mu.Unlock()
	return d.o.problems(indexes), nil
}

func (d scripted) Apply(_ context.Context, _ changes.Batch, s changes.Subject, turn changes.Turn) error {
	d.o.mu.Lock()
	d.o.done = append(d.o.done, applied{d.o.now().Sub(start), s.Index, turn.Key, turn.Resumed})
	d.o.mu.Unlock()
	return d.o.apply(s.Index, turn)
}

// person is a channel.
type person struct{ o *office }

func (person) Name() string { return "on-call" }

func (p person) Send(_ context.Context, n notices.Notice) error {
	if err := p.o.tell(n); err != nil {
		return err
	}
	p.o.mu.Lock()
	defer p.o.mu.Unlock()
	p.o.told = append(p.o.told, n)
	return nil
}

// wantedBatch is a batch of n changes, due at start.
func wantedBatch(n int) *gnomonv1.Batch {
	b := &gnomonv1.Batch{Id: "b", Uid: "0123456789abcdef", ScheduledAt: timestamppb.New(start)}
	for i := range n {
		b.Changes = append(b.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{
			HttpChange: &gnomonv1.HttpChange{ApplyUrl: fmt.Sprintf("http://localhost/%d", i)},
		}})
	}
	return b
}

// stage stores a batch of n changes as the facade does before it starts the workflow, and
// gives the workflow's state.
func (o *office) stage(n int) *workflowv1.BatchState {
	o.t.Helper()
	b := wantedBatch(n)
	require.NoError(o.t, o.rows.StageBatch(o.t.Context(), b, "request-1"))
	return batch.New(b, accepted, "request-1")
}

// run executes the workflow and gives its error.
func (o *office) run(s *workflowv1.BatchState) error {
	o.t.Helper()
	o.env.ExecuteWorkflow(workflowv1.BatchWorkflow, s)
	require.True(o.t, o.env.IsWorkflowCompleted())
	return o.env.GetWorkflowError()
}

// finish executes the workflow to its end and gives the final status, which the store
// must have.
func (o *office) finish(s *workflowv1.BatchState) *gnomonv1.BatchStatus {
	o.t.Helper()
	require.NoError(o.t, o.run(s))
	st := &gnomonv1.BatchStatus{}
	require.NoError(o.t, o.env.GetWorkflowResult(st))
	require.True(o.t, batch.Ended(st.GetState()), st.GetState())
	row := o.row().Batch.GetStatus()
	require.Equal(o.t, st.GetState(), row.GetState())
	require.Equal(o.t, st.GetRound(), row.GetRound())
	require.Equal(o.t, st.GetFinishTime().AsTime(), row.GetFinishTime().AsTime())
	return st
}

// row is the batch as the store has it.
func (o *office) row() store.BatchRow {
	o.t.Helper()
	row, err := o.rows.GetBatch(o.t.Context(), "b")
	require.NoError(o.t, err)
	return row
}

// states are those of the changes.
func (o *office) states() []gnomonv1.ChangeStatus_State {
	var all []gnomonv1.ChangeStatus_State
	for _, c := range o.row().Batch.GetChanges() {
		all = append(all, c.GetStatus().GetState())
	}
	return all
}

// head asks the workflow, from within the loop.
func (o *office) head() *workflowv1.BatchHead {
	v, err := o.env.QueryWorkflow(workflowv1.QueryBatch)
	require.NoError(o.t, err)
	h := &workflowv1.BatchHead{}
	require.NoError(o.t, v.Get(h))
	return h
}

// at has something done at a time of the run.
func (o *office) at(moment time.Time, do func()) {
	o.env.RegisterDelayedCallback(do, moment.Sub(o.clock))
}

// is holds the state of the workflow and of the store at a time.
func (o *office) is(moment time.Time, want gnomonv1.BatchStatus_State) {
	o.at(moment, func() {
		require.Equal(o.t, want, o.head().GetStatus().GetState(), "the workflow at %s", moment)
		require.Equal(o.t, want, o.row().Batch.GetStatus().GetState(), "the store at %s", moment)
	})
}

// signal sends a command as a person does, found by the workflow in one task with those
// before it unless it is the last.
func (o *office) signal(last bool, name string, payload any) {
	if last {
		o.env.SignalWorkflow(name, payload)
	} else {
		o.env.SignalWorkflowSkippingWorkflowTask(name, payload)
	}
}

// verdict is how an update ended.
type verdict struct {
	head *workflowv1.BatchHead
	// refused is the type of the refusal, state its detail.
	refused, state string
}

// update sends a command as the facade does.
func (o *office) update(name string, c *workflowv1.BatchCommand) *verdict {
	v := &verdict{}
	refuse := func(err error) {
		refused, ok := err.(*temporal.ApplicationError) //nolint:errorlint // exactly this one crosses the wire
		require.True(o.t, ok, "%v", err)
		v.refused = refused.Type()
		if refused.HasDetails() {
			require.NoError(o.t, refused.Details(&v.state))
		}
	}
	o.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnReject: refuse,
		OnAccept: func() {},
		OnComplete: func(reply any, err error) {
			if err != nil {
				refuse(err)
				return
			}
			v.head = reply.(*workflowv1.BatchHead)
		},
	}, c)
	return v
}

// indexes are the changes that were applied, in order.
func (o *office) indexes() []int {
	var all []int
	for _, d := range o.done {
		all = append(all, d.index)
	}
	return all
}

// events are what people were told.
func (o *office) events() []string {
	var all []string
	for _, n := range o.told {
		all = append(all, n.Event)
	}
	return all
}

// The states, short.
const (
	pending    = gnomonv1.BatchStatus_PENDING
	processing = gnomonv1.BatchStatus_PROCESSING
	inReview   = gnomonv1.BatchStatus_MANUAL_REVIEW
	complete   = gnomonv1.BatchStatus_COMPLETE
	ended      = gnomonv1.BatchStatus_CANCELLED
)
