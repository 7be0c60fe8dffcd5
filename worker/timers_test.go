package worker

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// here is a moment of this process; Temporal's clock is an hour ahead of it.
var here = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func there(after time.Duration) *timestamppb.Timestamp {
	return timestamppb.New(here.Add(time.Hour + after))
}

// begun is a task that was begun there after some time.
func begun(token string, after time.Duration) *workflowservice.PollWorkflowTaskQueueResponse {
	return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte(token), StartedTime: there(after)}
}

// asking is a completion that asks for timers.
func asking(token string, timers ...time.Duration) *workflowservice.RespondWorkflowTaskCompletedRequest {
	r := &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte(token), Commands: []*commandpb.Command{{
		CommandType: enumspb.COMMAND_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
	}}}
	for _, t := range timers {
		r.Commands = append(r.Commands, &commandpb.Command{
			CommandType: enumspb.COMMAND_TYPE_START_TIMER,
			Attributes: &commandpb.Command_StartTimerCommandAttributes{StartTimerCommandAttributes: &commandpb.StartTimerCommandAttributes{
				StartToFireTimeout: durationpb.New(t),
			}},
		})
	}
	return r
}

// timers are those of a completion.
func timers(r *workflowservice.RespondWorkflowTaskCompletedRequest) (all []time.Duration) {
	for _, c := range r.GetCommands() {
		if t := c.GetStartTimerCommandAttributes(); t != nil {
			all = append(all, t.GetStartToFireTimeout().AsDuration())
		}
	}
	return all
}

func after(d time.Duration) time.Time { return here.Add(d) }

const ms = time.Millisecond

// M-26, issue 8: a timer is shortened by what its task took by Temporal's clock, as far
// as that is certain, less a millisecond; never below one.
func TestTimersAreShortenedByWhatTheirTaskTook(t *testing.T) {
	t.Parallel()
	e := &exactTimers{}
	e.note(begun("slow", 0), after(40*ms))
	require.Equal(t, []time.Duration{time.Minute}, timers(e.shortened(asking("slow", time.Minute), after(40*ms))), "it may have taken no time at all")
	require.Equal(t, []time.Duration{time.Minute - 6*ms}, timers(e.shortened(asking("slow", time.Minute), after(47*ms+ms/2))), "what it took here is certain")

	e.note(begun("quick", 100*ms), after(102*ms))
	r := asking("slow", time.Minute, 50*ms, 104*ms)
	require.Equal(t, []time.Duration{time.Minute - 103*ms, ms, ms}, timers(e.shortened(r, after(106*ms))), "the clock there is an hour less 2 ms ahead at the least")
	require.Equal(t, []time.Duration{time.Minute, 50 * ms, 104 * ms}, timers(r), "what may be sent again stays as it is")
	e.note(begun("slower", 110*ms), after(150*ms))
	require.Equal(t, []time.Duration{time.Minute - 37*ms}, timers(e.shortened(asking("slower", time.Minute), after(150*ms))), "the quickest counts")

	require.Equal(t, []time.Duration{time.Minute}, timers(e.shortened(asking("unknown", time.Minute), after(150*ms))))
	plain := asking("slower")
	require.Same(t, plain, e.shortened(plain, after(time.Second)), "nothing is copied where there is no timer")
}

// What was seen of Temporal's clock counts for 10 to 20 seconds, as clocks drift and are set.
func TestTemporalsClockIsLearnedAgain(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		comes time.Duration
		took  time.Duration
	}{
		{9 * time.Second, 38 * ms}, {19 * time.Second, 38 * ms}, {21 * time.Second, 0}, {time.Hour, 0},
	} {
		e := &exactTimers{}
		e.note(begun("quick", 0), after(ms))
		e.note(begun("between", 2900*ms), after(3*time.Second))
		e.note(begun("task", one.comes-40*ms), after(one.comes))
		want := max(one.took, 0)
		require.Equal(t, []time.Duration{time.Minute - want}, timers(e.shortened(asking("task", time.Minute), after(one.comes))), one.comes)
	}
	e := &exactTimers{}
	e.note(begun("quick", 0), after(ms))
	e.note(begun("between", 10900*ms), after(11*time.Second))
	e.note(begun("task", 20960*ms), after(21*time.Second))
	require.Equal(t, []time.Duration{time.Minute}, timers(e.shortened(asking("task", time.Minute), after(21*time.Second))), "two windows later it is forgotten")
}

// A completion that is sent again is shortened by what has passed until then; what was
// answered, or is a question, is not kept; and what is kept is bounded.
func TestTasksOfTimers(t *testing.T) {
	t.Parallel()
	e := &exactTimers{}
	var sent []time.Duration
	var fail error
	send := func(req, reply any) error {
		return e.intercept(t.Context(), "", req, reply, nil, func(_ context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			if r, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
				sent = timers(r)
			}
			return fail
		})
	}
	soon := func(token string) *workflowservice.PollWorkflowTaskQueueResponse {
		return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte(token), StartedTime: timestamppb.New(time.Now().Add(-time.Minute))}
	}
	quick := soon("quick")
	quick.StartedTime = timestamppb.Now()
	require.NoError(t, send(&workflowservice.PollWorkflowTaskQueueRequest{}, quick))
	require.NoError(t, send(&workflowservice.PollWorkflowTaskQueueRequest{}, soon("task")))
	reply := &workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: soon("next")}
	fail = errors.New("lost")
	require.ErrorIs(t, send(asking("task", time.Hour), reply), fail)
	first := sent[0]
	require.Less(t, first, time.Hour-50*time.Second)
	fail = nil
	require.NoError(t, send(asking("task", time.Hour), reply))
	require.LessOrEqual(t, sent[0], first)
	require.NoError(t, send(asking("task", time.Hour), &workflowservice.RespondWorkflowTaskCompletedResponse{}))
	require.Equal(t, time.Hour, sent[0], "it was answered")
	require.NoError(t, send(asking("next", time.Hour), &workflowservice.RespondWorkflowTaskCompletedResponse{}))
	require.Less(t, sent[0], time.Hour-50*time.Second, "it came with a reply")

	require.NoError(t, send(&workflowservice.PollWorkflowTaskQueueRequest{}, soon("failed")))
	require.NoError(t, send(&workflowservice.RespondWorkflowTaskFailedRequest{TaskToken: []byte("failed")}, &workflowservice.RespondWorkflowTaskFailedResponse{}))
	question := soon("asked")
	question.Query = &querypb.WorkflowQuery{}
	require.NoError(t, send(&workflowservice.PollWorkflowTaskQueueRequest{}, question))
	require.NoError(t, send(&workflowservice.PollWorkflowTaskQueueRequest{}, &workflowservice.PollWorkflowTaskQueueResponse{}))
	require.Len(t, e.tasks, 1, "quick is left: %v", e.tasks)
	for i := range remembered + 1 {
		e.note(soon(fmt.Sprint(i)), time.Now())
	}
	require.LessOrEqual(t, len(e.tasks), remembered)
}
