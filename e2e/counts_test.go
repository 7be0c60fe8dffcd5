package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// calls are the calls of an installation: those of Temporal, without polls and what
// tests ask themselves, and those of the store, by their names, and the rows put.
type calls struct {
	mu sync.Mutex
	of map[string]int
}

func (c *calls) add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[name] += n
}

// seen is a copy.
func (c *calls) seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

// costly are the calls of Temporal that cost it something for each action: whatever
// begins so.
var costly = []string{"Start", "Signal", "Update", "Query", "DescribeWorkflow", "Respond", "Record", "Execute", "Reset", "Terminate"}

// intercept is a grpc.UnaryClientInterceptor.
func (c *calls) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	name := method[strings.LastIndexByte(method, '/')+1:]
	if slices.ContainsFunc(costly, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
		c.add(name, 1)
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

// countingStore counts the calls of actions' methods.
type countingStore struct {
	store.Store

	calls *calls
}

func (s countingStore) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	s.calls.add("rows", len(rows))
	return s.Store.PutActions(ctx, rows)
}

func (s countingStore) InsertAction(ctx context.Context, row store.Row) (bool, error) {
	s.calls.add("inserts", 1)
	return s.Store.InsertAction(ctx, row)
}

func (s countingStore) GetAction(ctx context.Context, id string) (store.Row, error) {
	s.calls.add("gets", 1)
	return s.Store.GetAction(ctx, id)
}

func installCounted(t *testing.T) (*installation, *calls) {
	t.Helper()
	c := &calls{of: map[string]int{}}
	i := installOn(t, func(s store.Store) store.Store { return countingStore{s, c} }, grpc.WithChainUnaryInterceptor(c.intercept))
	i.work(t)
	return i, c
}

// transitions of the newest run of an action.
func (i *installation) transitions(t *testing.T, id string) int {
	t.Helper()
	d, err := i.client.DescribeWorkflowExecution(t.Context(), workflowv1.WorkflowID(id), "")
	require.NoError(t, err)
	return int(d.GetWorkflowExecutionInfo().GetStateTransitionCount())
}

// asked takes out the questions of attempts of the server in a worker process younger than ten seconds,
// at most one for each attempt, and what workers tell of themselves.
func asked(t *testing.T, seen map[string]int, attempts int) {
	t.Helper()
	require.LessOrEqual(t, seen["DescribeWorkflowExecution"], attempts+1, "one is the test's own, which waits for the end")
	require.Zero(t, seen["QueryWorkflow"], "nothing reached the workflow while they ran")
	for _, name := range []string{"DescribeWorkflowExecution", "RecordWorkerHeartbeat"} {
		delete(seen, name)
	}
}

// stored takes out what the store was asked: one row at the creation, some by the
// workflow itself, and one or two for each attempt, since the row of one that has ended
// may overtake that of its beginning.
func stored(t *testing.T, seen map[string]int, attempts, own int) {
	t.Helper()
	require.Equal(t, 1, seen["inserts"])
	require.GreaterOrEqual(t, seen["rows"], attempts+own)
	require.LessOrEqual(t, seen["rows"], 2*attempts+own)
	require.Zero(t, seen["gets"])
	delete(seen, "inserts")
	delete(seen, "rows")
}

// Issue 8: what a once-action costs, without a clock: of Temporal no more than the
// workflow that a team would write by hand.
func TestCountsOnce(t *testing.T) {
	t.Parallel()
	i, c := installCounted(t)
	id := i.id("a")
	i.create(t, i.once(id, "/ok", 2*time.Second))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 20*time.Second).GetState())
	seen := c.seen()
	asked(t, seen, 1)
	stored(t, seen, 1, 0)
	require.Equal(t, map[string]int{
		"StartWorkflowExecution": 1, "RespondWorkflowTaskCompleted": 3, "RespondActivityTaskCompleted": 1,
	}, seen)
	require.Equal(t, 9, i.transitions(t, id))
}

// Issue 8: a retry costs its report, a question whether it may act, and heartbeats with
// the counters. It costs no workflow task.
func TestCountsRetry(t *testing.T) {
	t.Parallel()
	i, c := installCounted(t)
	id := i.id("a")
	i.create(t, retrying(i.once(id, "/fail-first/2", time.Second), 8))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 40*time.Second).GetState())
	seen := c.seen()
	require.GreaterOrEqual(t, seen["DescribeWorkflowExecution"], 3)
	asked(t, seen, 3)
	stored(t, seen, 3, 0)
	// One when an attempt ends that is followed by another, one when the next begins.
	require.LessOrEqual(t, seen["RecordActivityTaskHeartbeat"], 4)
	delete(seen, "RecordActivityTaskHeartbeat")
	require.Equal(t, map[string]int{
		"StartWorkflowExecution": 1, "RespondWorkflowTaskCompleted": 3,
		"RespondActivityTaskFailed": 2, "RespondActivityTaskCompleted": 1,
	}, seen)
}

// Issue 8: a periodic tick costs two workflow tasks and one attempt. Two actions that
// differ in nothing but the number of their ticks are compared.
func TestCountsTick(t *testing.T) {
	t.Parallel()
	type cost struct{ ticks, tasks, reports, transitions int }
	live := func(d time.Duration) cost {
		i, c := installCounted(t)
		id := i.id("a")
		a := every(i.once(id, "/ok", time.Second), time.Second)
		a.GetSpec().GetSendPolicy().Deadline = stamp(a.GetSpec().GetStartPolicy().GetStartAt().AsTime().Add(d))
		i.create(t, a)
		i.closed(t, id, 30*time.Second)
		seen := c.seen()
		ticks := len(i.of(id))
		stored(t, seen, ticks, 1) // its end by the deadline
		asked(t, seen, ticks)
		return cost{ticks, seen["RespondWorkflowTaskCompleted"], seen["RespondActivityTaskCompleted"], i.transitions(t, id)}
	}
	few, many := live(500*time.Millisecond), live(5500*time.Millisecond)
	more := many.ticks - few.ticks
	require.Greater(t, more, 1)
	require.Equal(t, more, many.reports-few.reports)
	// On a machine that is busy a task of one of them may be lost to the sticky queue's
	// timeout, and the end by the deadline may take one more.
	require.InDelta(t, 2*more, many.tasks-few.tasks, 1)
	require.InDelta(t, 6*more, many.transitions-few.transitions, 3)
}
