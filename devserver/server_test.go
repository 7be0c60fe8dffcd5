package devserver_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gnomon/devserver"
)

const queue = "greetings"

var tenant = temporal.NewSearchAttributeKeyKeyword("Tenant")

// shared is one server for the tests that need only some server: starting one
// per test would be most of their time.
var shared *devserver.Server

// quiet is the log of clients and workers, which say much at start and stop.
var quiet = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(runChild(dir))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	srv, err := devserver.Start(context.Background(), devserver.Config{
		Namespaces:       []string{"default", "other"},
		SearchAttributes: map[string]enumspb.IndexedValueType{"Tenant": enumspb.INDEXED_VALUE_TYPE_KEYWORD},
	})
	if err != nil {
		slog.Error("no server for the tests", "error", err)
		return 1
	}
	defer srv.Stop()
	shared = srv
	return m.Run()
}

func TestWorkflowRuns(t *testing.T) {
	t.Parallel()
	c := dial(t, shared, "default")
	work(t, c)
	require.Equal(t, "hello gnome", greet(t, c, "runs"))
}

func TestEveryNamespaceServesAtOnce(t *testing.T) {
	t.Parallel()
	c := dial(t, shared, "other")
	reply, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "other"})
	require.NoError(t, err)
	require.GreaterOrEqual(t, reply.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), 24*time.Hour)
	work(t, c)
	require.Equal(t, "hello gnome", greet(t, c, "other"))
}

func TestSearchAttributesFindWorkflows(t *testing.T) {
	t.Parallel()
	c := dial(t, shared, "default")
	work(t, c)
	greet(t, c, "found", tenant.ValueSet("acme"))
	requireFound(t, c, "Tenant = 'acme'", "found")
}

// Issue 8: a timer of a tenth of a second takes about that long, and not up to a second, which
// is how far ahead Temporal reads its timers by default.
func TestShortTimersFireInTime(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, devserver.Config{UIPort: devserver.NoUI}), "default")
	work(t, c)
	const naps, nap = 20, 100 * time.Millisecond
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue + t.Name()}, "Nap", naps, nap)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))
	events := c.GetWorkflowHistory(t.Context(), run.GetID(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var late, set time.Duration
	started := map[int64]time.Time{}
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		started[e.GetEventId()] = e.GetEventTime().AsTime()
		if fired := e.GetTimerFiredEventAttributes(); fired != nil {
			late += e.GetEventTime().AsTime().Sub(started[fired.GetStartedEventId()]) - nap
			set += nap
		}
	}
	require.Equal(t, naps*nap, set)
	require.GreaterOrEqual(t, late, time.Duration(0), "none fires early")
	require.Less(t, late/naps, 2*nap)
}

func TestUIServesHTML(t *testing.T) {
	t.Parallel()
	require.Contains(t, get(t, "http://"+shared.UIAddress()+"/"), "<html")
	require.Contains(t, get(t, "http://"+shared.UIAddress()+"/api/v1/namespaces/default"), `"default"`)
}

// dial returns a client that ends with the test.
func dial(t *testing.T, srv *devserver.Server, namespace string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort:  srv.Address(),
		Namespace: namespace,
		Logger:    quiet,
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// work runs a worker for the rest of the test, on a queue of the test's own.
func work(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, queue+t.Name(), worker.Options{})
	w.RegisterWorkflowWithOptions(greetWorkflow, workflow.RegisterOptions{Name: "Greet"})
	w.RegisterWorkflowWithOptions(napWorkflow, workflow.RegisterOptions{Name: "Nap"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return w
}

func greetWorkflow(_ workflow.Context, name string) (string, error) { return "hello " + name, nil }

// napWorkflow sleeps many times, one after another.
func napWorkflow(ctx workflow.Context, naps int, nap time.Duration) error {
	for range naps {
		if err := workflow.Sleep(ctx, nap); err != nil {
			return err
		}
	}
	return nil
}

// greet runs the workflow and returns its result.
func greet(t *testing.T, c client.Client, id string, attributes ...temporal.SearchAttributeUpdate) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                    id,
		TaskQueue:             queue + t.Name(),
		TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}, "Greet", "gnome")
	require.NoError(t, err)
	var result string
	require.NoError(t, run.Get(ctx, &result))
	return result
}

// requireFound waits for what visibility writes after the fact.
func requireFound(t *testing.T, c client.Client, query, id string) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		reply, err := c.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		require.NoError(t, err)
		require.Len(t, reply.GetExecutions(), 1)
		require.Equal(t, id, reply.GetExecutions()[0].GetExecution().GetWorkflowId())
	}, 10*time.Second, 50*time.Millisecond)
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, http.StatusOK, resp.StatusCode, url)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}
