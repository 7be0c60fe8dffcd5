package worker

import (
	"context"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

const (
	// shortHistory is up to how many events a workflow is not tied to the worker that has
	// it in its cache: each task brings them along, which the server reads anyway, and
	// replaying them takes less than a millisecond. A whole once-action has 16.
	shortHistory = 50
	// remembered bounds the tasks that are known to be of long histories.
	remembered = 10_000
)

// Connection is how gnomon's processes connect to Temporal, beyond these options.
//
// Requests are not compressed: that took a sixth of the processor time of facade and
// worker for messages of a kilobyte (docs/performance.md). And workflows of short
// histories are not tied to one worker. A tied one waits for its worker, which in a herd
// is longer than the time it is given: it counted as timed out, with two events more, and
// was read and replayed after all, at half the speed. That of a worker that was lost is
// taken by another at once.
// And timers fire when workflows meant them to (exactTimers).
func Connection(o client.ConnectionOptions) client.ConnectionOptions {
	long, exact := &longTasks{}, &exactTimers{}
	o.GrpcCompression = &client.GrpcCompressionNone{}
	o.DialOptions = append(o.DialOptions, grpc.WithChainUnaryInterceptor(long.intercept, exact.intercept))
	return o
}

// longTasks are the workflow tasks under way in this process whose histories are long.
type longTasks struct {
	mu     sync.Mutex
	tokens map[string]struct{}
}

// intercept is a grpc.UnaryClientInterceptor.
func (l *longTasks) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	switch r := req.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		if !l.has(r.GetTaskToken()) {
			r.StickyAttributes = nil // the server knows by this that it is tied to nobody
		}
	case *workflowservice.RespondWorkflowTaskFailedRequest:
		l.forget(r.GetTaskToken())
	}
	if err := invoke(ctx, method, req, reply, conn, opts...); err != nil {
		return err
	}
	if r, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		l.forget(r.GetTaskToken())
	}
	switch r := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		l.note(r)
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		l.note(r.GetWorkflowTask())
	}
	return nil
}

// note keeps a task if its history is long. Questions are answered otherwise.
func (l *longTasks) note(task *workflowservice.PollWorkflowTaskQueueResponse) {
	if task.GetQuery() != nil || task.GetStartedEventId() <= shortHistory {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens == nil || len(l.tokens) >= remembered {
		// So many that nobody answered: these are tied to nobody for once.
		l.tokens = map[string]struct{}{}
	}
	l.tokens[string(task.GetTaskToken())] = struct{}{}
}

func (l *longTasks) has(token []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, long := l.tokens[string(token)]
	return long
}

func (l *longTasks) forget(token []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tokens, string(token))
}
