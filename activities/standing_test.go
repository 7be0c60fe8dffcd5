package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities"
	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// An attempt asks whether it may act where it may have waited in a queue, or is a
// retry; in the normal path nothing is asked.
func TestWhoAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		info  func(*activity.Info)
		born  func() time.Time
		asked int
	}{
		"first attempt, in time":    {nil, nil, 0},
		"first attempt, 1 s late":   {func(i *activity.Info) { i.StartedTime = start.Add(time.Second) }, nil, 0},
		"first attempt, later":      {func(i *activity.Info) { i.StartedTime = start.Add(time.Second + 1) }, nil, 1},
		"retry":                     {func(i *activity.Info) { i.Attempt = 2 }, nil, 1},
		"young process":             {nil, func() time.Time { return time.Now().Add(-9 * time.Second) }, 1},
		"process of eleven seconds": {nil, func() time.Time { return time.Now().Add(-11 * time.Second) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, 9)
				defer b.close()
				b.info = c.info
				if c.born != nil {
					b.real.Born = c.born()
				}
				_, err := b.run()
				require.NoError(t, err)
				require.Equal(t, c.asked, b.asked)
				require.Len(t, b.acted, 1)
			})
		})
	}
}

// Issue 8: where nothing reached the workflow since it scheduled the attempt, which the
// server says, the workflow is not asked; where the server does not say so, it is.
func TestUntouchedIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		whole bool
		err   error
		asked int
	}{
		"untouched":           {true, nil, 0},
		"touched":             {false, nil, 1},
		"not known":           {false, errNo, 1},
		"not known, not even": {true, errNo, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 9)
			defer b.close()
			b.info = func(i *activity.Info) { i.Attempt = 2 }
			b.whole = func() (bool, error) { return c.whole, c.err }
			_, err := b.run()
			require.NoError(t, err)
			require.Equal(t, c.asked, b.asked)
			require.Len(t, b.acted, 1)
		})
	}
}

// M-15: the deadline may come while the server is asked.
func TestDeadlineWhileTheServerIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.in.Spec.SendPolicy.Deadline = timestamppb.New(start.Add(time.Second))
	b.real.Born = time.Now()
	b.whole = func() (bool, error) {
		b.pass(2 * time.Second)
		return true, nil
	}
	failure, _ := b.fail()
	require.Equal(t, workflowv1.FailureHeld, failure.Type())
	require.Empty(t, b.acted)
}

// described is a Temporal that says this of every workflow.
type described struct {
	client.Client

	answer *workflowservice.DescribeWorkflowExecutionResponse
	err    error
}

func (d described) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return d.answer, d.err
}

// M-43: only a workflow to which nothing happened since is untouched, for the attempt
// that runs.
func TestUntouched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(d *workflowservice.DescribeWorkflowExecutionResponse)
		want   bool
	}{
		"nothing happened": {func(*workflowservice.DescribeWorkflowExecutionResponse) {}, true},
		"a command, not decided on": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{}
		}, false},
		"a command, decided on": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.WorkflowExecutionInfo.HistoryLength = 14
		}, false},
		"terminated": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.WorkflowExecutionInfo.Status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
		}, false},
		"called back": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingActivities[1].State = enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
		}, false},
		"given up, the next runs": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingActivities[1].Attempt = 3
		}, false},
		"another activity": {func(d *workflowservice.DescribeWorkflowExecutionResponse) {
			d.PendingActivities = d.GetPendingActivities()[:1]
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := &workflowservice.DescribeWorkflowExecutionResponse{
				WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
					Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, HistoryLength: 10,
				},
				PendingActivities: []*workflowpb.PendingActivityInfo{
					{ActivityId: "9", State: enumspb.PENDING_ACTIVITY_STATE_STARTED, Attempt: 2},
					{ActivityId: "10", State: enumspb.PENDING_ACTIVITY_STATE_STARTED, Attempt: 2},
				},
			}
			c.change(answer)
			info := activity.Info{ActivityID: "10", Attempt: 2}
			got, err := activities.NewAsker(described{answer: answer}).Untouched(t.Context(), info)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			_, err = activities.NewAsker(described{answer: answer, err: errNo}).Untouched(t.Context(), info)
			require.ErrorIs(t, err, errNo)
		})
	}
}

// M-43: an attempt of what no longer stands does not act, and one that is held hands
// its occurrence back as it was.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		standing *workflowv1.Standing
		want     string
	}{
		"another Guid":       {&workflowv1.Standing{Guid: "guid-2", Perform: true, Sequence: 1}, workflowv1.FailureSuperseded},
		"nothing performed":  {&workflowv1.Standing{Guid: "guid-1", Sequence: 1}, workflowv1.FailureSuperseded},
		"a later occurrence": {&workflowv1.Standing{Guid: "guid-1", Perform: true, Sequence: 2}, workflowv1.FailureSuperseded},
		"superseded, paused": {&workflowv1.Standing{Guid: "guid-2", Perform: true, Paused: true, Sequence: 1}, workflowv1.FailureSuperseded},
		"paused":             {&workflowv1.Standing{Guid: "guid-1", Perform: true, Paused: true, Sequence: 1}, workflowv1.FailureHeld},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 9)
			defer b.close()
			require.EqualValues(t, 1, b.in.GetSequence())
			b.real.Born = time.Now()
			b.answer = func(int) (*workflowv1.Standing, error) { return c.standing, nil }
			failure, p := b.fail()
			require.Equal(t, c.want, failure.Type())
			require.True(t, failure.NonRetryable())
			require.Empty(t, b.acted)
			require.True(t, proto.Equal(b.in.GetOccurrence(), p.GetOccurrence()))
			require.True(t, proto.Equal(b.in.GetStatus(), p.GetStatus()))
			_, stored := b.store.Row("a")
			require.False(t, stored, "it has no row to write")
		})
	}
}

// M-15: the deadline may come while the attempt asks.
func TestDeadlineWhileAsking(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.in.Spec.SendPolicy.Deadline = timestamppb.New(start.Add(time.Second))
	b.real.Born = time.Now()
	stands := b.answer
	b.answer = func(n int) (*workflowv1.Standing, error) {
		b.pass(2 * time.Second)
		return stands(n)
	}
	failure, _ := b.fail()
	require.Equal(t, workflowv1.FailureHeld, failure.Type())
	require.Empty(t, b.acted)
}

// An attempt that cannot ask asks again for a while, keeps its heartbeat meanwhile,
// and then does not act.
func TestAnAttemptThatCannotAskDoesNotAct(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		began := time.Now()
		b.real.Born = began
		b.answer = func(int) (*workflowv1.Standing, error) { return nil, errNo }
		failure, p := b.fail()
		require.Equal(t, workflowv1.FailureHeld, failure.Type())
		require.Empty(t, b.acted)
		require.Equal(t, 25*time.Second, time.Since(began))
		require.Greater(t, b.asked, 50)
		require.GreaterOrEqual(t, len(b.beats), 2, "it used to count as lost after the heartbeat timeout")
		require.True(t, proto.Equal(b.in.GetStatus(), p.GetStatus()))
	})
}

// A question that got no answer is asked again.
func TestAskingAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.real.Born = time.Now()
		stands := b.answer
		b.answer = func(n int) (*workflowv1.Standing, error) {
			if n < 3 {
				return nil, errNo
			}
			return stands(n)
		}
		_, err := b.run()
		require.NoError(t, err)
		require.Equal(t, 3, b.asked)
		require.Len(t, b.acted, 1)
	})
}

// Beats carry the counters and the attempt that runs.
func TestBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.perform = func(ctx context.Context, _ performers.Request) (performers.Reply, error) {
			select {
			case <-time.After(15 * time.Second):
			case <-ctx.Done():
			}
			return performers.Reply{}, ctx.Err()
		}
		_, err := b.run()
		require.NoError(t, err)
		require.NotEmpty(t, b.beats)
		for _, beat := range b.beats {
			require.Equal(t, start, beat.GetAttemptStart().AsTime())
			require.Equal(t, "host/build/1", beat.GetStatus().GetCurrentAttemptStatus().GetWorker())
			require.Zero(t, beat.GetCounted())
		}
	})
}

// An attempt whose row waits for a store that hangs is still alive. It used to fall
// silent for longer than a short heartbeat timeout, to count as lost and to be made
// again.
func TestBeatsWhileTheRowIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.store.Hold = make(chan struct{})
		b.info = func(i *activity.Info) { i.HeartbeatTimeout = time.Second }
		b.perform = failing
		_, p := b.fail()
		require.Len(t, b.beats, 2)
		require.Zero(t, b.beats[0].GetCounted())
		require.Equal(t, start, b.beats[0].GetAttemptStart().AsTime())
		require.True(t, proto.Equal(p, b.beats[1]), "the last one carries the counters")
	})
}
