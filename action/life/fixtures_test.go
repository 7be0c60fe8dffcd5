package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// start is when the actions of these tests are due first; accepted is when they came.
var (
	start    = time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	accepted = start.Add(-time.Minute)
)

// t1 is the policy of table T1.
func t1(retries uint32) *gnomonv1.RetryPolicy {
	return &gnomonv1.RetryPolicy{
		MaxRetries:           retries,
		RestartPeriodScale:   durationpb.New(time.Second),
		RestartPeriodBackOff: 2,
		MinRestartPeriod:     durationpb.New(time.Second),
		MaxRestartPeriod:     durationpb.New(time.Minute),
	}
}

func once(p *gnomonv1.RetryPolicy) *gnomonv1.Spec {
	return spec(&gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{
		SendOncePolicy: &gnomonv1.SendOncePolicy{RetryPolicy: p},
	}})
}

func periodic(period time.Duration, p *gnomonv1.RetryPolicy) *gnomonv1.Spec {
	return spec(&gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
		SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period), RetryPolicy: p},
	}})
}

func spec(p *gnomonv1.SendPolicy) *gnomonv1.Spec {
	return &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(start)},
		SendPolicy:  p,
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
			Behaviour: &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}},
		}}},
	}
}

func until(s *gnomonv1.Spec, deadline time.Time) *gnomonv1.Spec {
	s.SendPolicy.Deadline = timestamppb.New(deadline)
	return s
}

func wanted(s *gnomonv1.Spec, guid string) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: guid}, Spec: s}
}

// state is that of an action just accepted, in its first run.
func state(s *gnomonv1.Spec) *workflowv1.ActionState {
	st := life.New(wanted(s, "guid-1"), accepted, "request-1")
	st.Incarnation = timestamppb.New(accepted)
	return st
}

// begun is the state once its first occurrence has begun, at its time.
func begun(s *gnomonv1.Spec) (*workflowv1.ActionState, *workflowv1.PerformInput) {
	st := state(s)
	return st, life.Begin(st, st.GetStatus().GetScheduledAt().AsTime())
}

// progress is what an attempt starts from.
func progress(in *workflowv1.PerformInput) *workflowv1.Progress {
	return &workflowv1.Progress{Status: in.GetStatus(), Occurrence: in.GetOccurrence()}
}

func command(t *testing.T, s *workflowv1.ActionState, name string, c *workflowv1.Command, now time.Time) life.Effect {
	t.Helper()
	effect, err := life.Apply(s, name, c, now, "guid-minted")
	require.NoError(t, err)
	return effect
}

func attempt(t *testing.T, s *workflowv1.ActionState, at time.Time, e life.Ending) life.Verdict {
	t.Helper()
	in := life.Begin(s, at)
	p := progress(in)
	life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: at})
	verdict := life.Settle(s.GetSpec(), s.GetMeta(), p, e)
	life.Adopt(s, p)
	return verdict
}

func failed(at time.Time) life.Ending {
	return life.Ending{Outcome: gnomonv1.AttemptStatus_FAILURE, At: at, Error: "no"}
}

func succeeded(at time.Time) life.Ending {
	return life.Ending{Outcome: gnomonv1.AttemptStatus_SUCCESS, At: at, Reply: "yes"}
}

func at(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
