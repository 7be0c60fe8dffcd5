package action_test

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

var start = time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)

func once(at time.Time) *gnomonv1.Spec {
	return spec(at, &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}})
}

func periodic(at time.Time, period time.Duration) *gnomonv1.Spec {
	return spec(at, &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
		SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period)},
	}})
}

func byCalendar(at time.Time, cron, zone string) *gnomonv1.Spec {
	return spec(at, &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendByCalendarPolicy{
		SendByCalendarPolicy: &gnomonv1.SendByCalendarPolicy{Cron: cron, TimeZone: zone},
	}})
}

func spec(at time.Time, p *gnomonv1.SendPolicy) *gnomonv1.Spec {
	return &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(at)},
		SendPolicy:  p,
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
			HttpRequest: &gnomonv1.HttpRequest{Url: "https://example.com/orders"},
		}},
	}
}

func jittered(s *gnomonv1.Spec, jitter time.Duration) *gnomonv1.Spec {
	s.StartPolicy.Jitter = durationpb.New(jitter)
	return s
}

func until(s *gnomonv1.Spec, deadline time.Time) *gnomonv1.Spec {
	s.SendPolicy.Deadline = timestamppb.New(deadline)
	return s
}
