package e2e

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/receiver"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/worker"
)

// installation is a facade, a store that can be broken, a receiver, and a worker
// that can be stopped, all on a task queue of their own.
type installation struct {
	client  client.Client
	queue   string
	store   *faulty.Store
	facade  *starter.Actions
	inbox   *receiver.Receiver
	log     *slog.Logger
	prefix  string
	working *worker.Worker
}

// install brings an installation up with a worker that has lived long enough not
// to ask before first attempts.
func install(t *testing.T) *installation {
	t.Helper()
	i := installIdle(t)
	i.work(t)
	return i
}

// installIdle is install without a worker.
func installIdle(t *testing.T) *installation {
	t.Helper()
	return installOn(t, func(s store.Store) store.Store { return s })
}

// installOn is installIdle with something around the store, and with options of the
// connection to Temporal.
func installOn(t *testing.T, around func(store.Store) store.Store, dial ...grpc.DialOption) *installation {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c, err := client.Dial(client.Options{
		HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(log),
		ConnectionOptions: worker.Connection(client.ConnectionOptions{DialOptions: dial}),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	inbox, err := receiver.Start(context.WithoutCancel(t.Context()), receiver.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, inbox.Close()) })
	i := &installation{
		client: c, queue: "e2e-" + uuid.NewString(), store: faulty.New(around(rows), 1), inbox: inbox, log: log,
		prefix: strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:]) + "-" + uuid.NewString()[:8] + "-",
	}
	i.facade, err = starter.NewActions(starter.Config{
		Client: c, TaskQueue: i.queue, Store: i.store, AllowMockActions: true, Logger: log,
	})
	require.NoError(t, err)
	return i
}

// work starts a worker.
func (i *installation) work(t *testing.T) {
	t.Helper()
	perform := performers.Default()
	perform.AllowMock = true
	w, err := worker.New(i.client, worker.Config{
		TaskQueue: i.queue, Store: i.store, Performers: perform, HeartbeatTimeout: 2 * time.Second,
		StopGrace: time.Second, Pollers: 4, Logger: i.log,
	})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	i.working = w
	t.Cleanup(func() { i.rest() })
}

// rest stops the worker.
func (i *installation) rest() {
	if i.working != nil {
		i.working.Stop()
		i.working = nil
	}
}

// id is an id of this installation's own.
func (i *installation) id(name string) string { return i.prefix + name }

// once is an action that calls a path of the receiver once.
func (i *installation) once(id, path string, in time.Duration) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: id},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(time.Now().Add(in))},
			SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: i.inbox.URL(path),
			}}},
		},
	}
}

// retrying makes a once-action retry by table T1's policy.
func retrying(a *gnomonv1.ScheduledAction, retries uint32) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().GetSendOncePolicy().RetryPolicy = &gnomonv1.RetryPolicy{
		MaxRetries: retries, RestartPeriodScale: durationpb.New(time.Second), RestartPeriodBackOff: 2,
		MinRestartPeriod: durationpb.New(time.Second), MaxRestartPeriod: durationpb.New(time.Minute),
	}
	return a
}

// every makes an action periodic.
func every(a *gnomonv1.ScheduledAction, period time.Duration) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
		SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period)},
	}
	return a
}

func (i *installation) create(t *testing.T, a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	t.Helper()
	reply, err := i.facade.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
	require.NoError(t, err)
	return reply
}

// arrival waits for something to arrive.
func (i *installation) arrival(t *testing.T, within time.Duration, want func(receiver.Arrival) bool) receiver.Arrival {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	a, err := i.inbox.Wait(ctx, want)
	require.NoError(t, err, "it did not arrive within %s", within)
	return a
}

// closed waits for the run of an action to close.
func (i *installation) closed(t *testing.T, id string, within time.Duration) *gnomonv1.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	st := &gnomonv1.Status{}
	require.NoError(t, i.client.GetWorkflow(ctx, workflowv1.WorkflowID(id), "").Get(ctx, st))
	return st
}

// events are the history of the newest run of an action.
func (i *installation) events(t *testing.T, id string) []*historypb.HistoryEvent {
	t.Helper()
	return i.history(t, workflowv1.WorkflowID(id))
}

// history is that of the newest run of a workflow.
func (i *installation) history(t *testing.T, workflowID string) []*historypb.HistoryEvent {
	t.Helper()
	var all []*historypb.HistoryEvent
	pages := i.client.GetWorkflowHistory(t.Context(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		e, err := pages.Next()
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

// eventually waits for a fact about processes and servers that no event tells of.
func eventually(t *testing.T, within time.Duration, what string, fact func() bool) {
	t.Helper()
	require.Eventually(t, fact, within, 20*time.Millisecond, what)
}

func guid(want string) func(receiver.Arrival) bool {
	return func(a receiver.Arrival) bool { return a.GUID == want }
}

func stamp(at time.Time) *timestamppb.Timestamp { return timestamppb.New(at) }

// long says whether the long forms of the tests are wanted.
func long() bool { return os.Getenv("GNOMON_E2E_LONG") != "" }
