package actiontest

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Start is when the actions are due first, Accepted when they came, a minute before.
var (
	Start    = time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	Accepted = Start.Add(-time.Minute)
)

// T1 is the policy of table T1 of the requirements, with so many retries: they come
// after 2, 3, 5, 9, 17, 33 and then 60 seconds.
func T1(retries uint32) *gnomonv1.RetryPolicy {
	return &gnomonv1.RetryPolicy{
		MaxRetries:           retries,
		RestartPeriodScale:   durationpb.New(time.Second),
		RestartPeriodBackOff: 2,
		MinRestartPeriod:     durationpb.New(time.Second),
		MaxRestartPeriod:     durationpb.New(time.Minute),
	}
}

// Once is performed until its first success or until p is spent; nil: the default.
func Once(p *gnomonv1.RetryPolicy) *gnomonv1.Spec {
	return Spec(&gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{
		SendOncePolicy: &gnomonv1.SendOncePolicy{RetryPolicy: p},
	}})
}

// Periodic is performed every period, each time as Once is.
func Periodic(period time.Duration, p *gnomonv1.RetryPolicy) *gnomonv1.Spec {
	return Spec(&gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
		SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period), RetryPolicy: p},
	}})
}

// Spec is a mock action that succeeds, performed by p.
func Spec(p *gnomonv1.SendPolicy) *gnomonv1.Spec {
	return &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(Start)},
		SendPolicy:  p,
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
			Behaviour: &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}},
		}}},
	}
}

// Until gives a spec a deadline.
func Until(s *gnomonv1.Spec, deadline time.Time) *gnomonv1.Spec {
	s.SendPolicy.Deadline = timestamppb.New(deadline)
	return s
}

// Wanted is the action "a" as a client wants it.
func Wanted(s *gnomonv1.Spec, guid string) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: guid}, Spec: s}
}
