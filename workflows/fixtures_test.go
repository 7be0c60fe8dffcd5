package workflows_test

import (
	"time"

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

func startingAt(s *gnomonv1.Spec, at time.Time) *gnomonv1.Spec {
	s.StartPolicy.StartAt = timestamppb.New(at)
	return s
}

func until(s *gnomonv1.Spec, deadline time.Time) *gnomonv1.Spec {
	s.SendPolicy.Deadline = timestamppb.New(deadline)
	return s
}

func wanted(s *gnomonv1.Spec, guid string) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: guid}, Spec: s}
}

// state is that of an action just accepted by a facade.
func state(s *gnomonv1.Spec) *workflowv1.ActionState {
	return life.New(wanted(s, "guid-1"), accepted, "request-1")
}

// update is the command that replaces the spec.
func update(s *gnomonv1.Spec, guid string) *workflowv1.Command {
	return &workflowv1.Command{Action: wanted(s, guid)}
}
