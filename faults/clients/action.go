package clients

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

// requestTimeout is longer than any request here takes: none is to be a failure.
const requestTimeout = time.Minute

// Action is the action that a spec of the record stands for.
func Action(id, target string, s record.Spec) *gnomonv1.ScheduledAction {
	var retry *gnomonv1.RetryPolicy
	if s.Retries > 0 {
		retry = &gnomonv1.RetryPolicy{
			MaxRetries: s.Retries, MinRestartPeriod: durationpb.New(s.Delay), MaxRestartPeriod: durationpb.New(s.Delay),
		}
	}
	send := &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{RetryPolicy: retry}}}
	if s.Period > 0 {
		send.Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{
			Period: durationpb.New(s.Period), RetryPolicy: retry,
		}}
	}
	if !s.Deadline.IsZero() {
		send.Deadline = timestamppb.New(s.Deadline)
	}
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: id},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(s.Due)},
			SendPolicy:  send,
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: "http://" + target + s.Path, Timeout: durationpb.New(requestTimeout),
			}}},
		},
	}
}
