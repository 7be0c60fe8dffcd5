package worker

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// timerMargin is what a timer is not shortened by, for what is cut off and for the
	// clocks of several hosts of Temporal.
	timerMargin = time.Millisecond
	// clockWindow is for how long, and up to twice as long, what was seen of Temporal's
	// clock counts. Clocks that are off by 50 millionths drift apart by a millisecond
	// meanwhile.
	clockWindow = 10 * time.Second
)

// exactTimers has timers fire when workflows meant them to. A workflow counts from when
// its task began, the server from when the task was completed, so that every timer would
// be late by what the task took: some milliseconds, and a tenth of a second on a busy
// server (docs/performance.md). Timers are sent shorter by that. Histories replay as they
// did, since the duration of a timer is not compared.
//
// What a task took is known by Temporal's own clock: a task that has just come tells when
// it was begun there, and the quickest of late bounds how far that clock is ahead. So
// what is taken off is never more than has passed, as long as the hosts of Temporal agree
// on the time; where they do not, a timer may fire early by the difference, and the
// workflow, which looks at the clock, sleeps on.
type exactTimers struct {
	mu sync.Mutex
	// tasks are those under way, and when they began by Temporal's clock.
	tasks map[string]time.Time
	clock serverClock
}

// intercept is a grpc.UnaryClientInterceptor.
func (e *exactTimers) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	completed, _ := req.(*workflowservice.RespondWorkflowTaskCompletedRequest)
	if completed != nil {
		req = e.shortened(completed, time.Now())
	}
	err := invoke(ctx, method, req, reply, conn, opts...)
	switch r := req.(type) {
	case *workflowservice.RespondWorkflowTaskFailedRequest:
		e.forget(r.GetTaskToken())
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		if err == nil { // else it is sent again
			e.forget(r.GetTaskToken())
		}
	}
	if err != nil {
		return err
	}
	switch r := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		e.note(r, time.Now())
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		e.note(r.GetWorkflowTask(), time.Now())
	}
	return nil
}

// note keeps when a task was begun, which came just now.
func (e *exactTimers) note(task *workflowservice.PollWorkflowTaskQueueResponse, now time.Time) {
	if task.GetStartedTime() == nil || task.GetQuery() != nil {
		return
	}
	began := task.GetStartedTime().AsTime()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clock.note(began, now)
	if e.tasks == nil || len(e.tasks) >= remembered {
		e.tasks = map[string]time.Time{}
	}
	e.tasks[string(task.GetTaskToken())] = began
}

func (e *exactTimers) forget(token []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tasks, string(token))
}

// shortened is a completion whose timers fire when they were meant to. The request itself
// stays as it is, as it may be sent again.
func (e *exactTimers) shortened(r *workflowservice.RespondWorkflowTaskCompletedRequest, now time.Time) *workflowservice.RespondWorkflowTaskCompletedRequest {
	timers := false
	for _, c := range r.GetCommands() {
		timers = timers || c.GetStartTimerCommandAttributes() != nil
	}
	if !timers {
		return r
	}
	took := e.took(r.GetTaskToken(), now).Truncate(time.Millisecond)
	if took <= 0 {
		return r
	}
	r = proto.CloneOf(r)
	for _, c := range r.GetCommands() {
		if t := c.GetStartTimerCommandAttributes(); t != nil {
			t.StartToFireTimeout = durationpb.New(max(time.Millisecond, t.GetStartToFireTimeout().AsDuration()-took))
		}
	}
	return r
}

// took is how long a task has been under way at the least, less the margin.
func (e *exactTimers) took(token []byte, now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	began, known := e.tasks[string(token)]
	if !known {
		return 0
	}
	return e.clock.now(now).Sub(began) - timerMargin
}

// serverClock is Temporal's as far as it is known: at any moment at least as late as this
// says. It goes by this process's clock that is never set.
type serverClock struct {
	// base is a moment here, and zeroes are the times there at that moment by what was
	// seen in this window and in the one before.
	base   time.Time
	zeroes [2]time.Time
	window time.Time
}

// note sees an answer that came now and was given at a time.
func (c *serverClock) note(given, now time.Time) {
	if c.base.IsZero() {
		c.base, c.window = now, now
	}
	if age := now.Sub(c.window); age >= clockWindow {
		c.zeroes = [2]time.Time{{}, c.zeroes[0]}
		if age >= 2*clockWindow {
			c.zeroes[1] = time.Time{}
		}
		c.window = now
	}
	if zero := given.Add(-now.Sub(c.base)); zero.After(c.zeroes[0]) {
		c.zeroes[0] = zero
	}
}

// now is the time there, if anything was noted.
func (c *serverClock) now(now time.Time) time.Time {
	zero := c.zeroes[0]
	if c.zeroes[1].After(zero) {
		zero = c.zeroes[1]
	}
	return zero.Add(now.Sub(c.base))
}
