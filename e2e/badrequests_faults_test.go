package e2e

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// fault breaks one thing of an action that is good.
type fault func(*gnomonv1.ScheduledAction)

// create is a row that creates an action with one fault. Field is its path within
// the action.
func (s *served) create(name, field, reason string, broken fault) badRequest {
	a := s.once(s.id(slug(name)), "/ok", time.Hour)
	broken(a)
	return badRequest{
		name: name, req: &gnomonv1.CreateActionRequest{Action: a},
		field: "action." + field, reason: reason,
	}
}

// slug makes an id of a row's name.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

func specFault(change func(*gnomonv1.Spec)) fault {
	return func(a *gnomonv1.ScheduledAction) { change(a.GetSpec()) }
}

func metaFault(change func(*gnomonv1.Meta)) fault {
	return func(a *gnomonv1.ScheduledAction) { change(a.GetMeta()) }
}

// retryFault breaks the retry policy of a once-action.
func retryFault(change func(*gnomonv1.RetryPolicy)) fault {
	return func(a *gnomonv1.ScheduledAction) {
		change(retrying(a, 3).GetSpec().GetSendPolicy().GetSendOncePolicy().GetRetryPolicy())
	}
}

// periodFault breaks a policy of every minute.
func periodFault(change func(*gnomonv1.SendPeriodicallyPolicy)) fault {
	return func(a *gnomonv1.ScheduledAction) {
		change(every(a, time.Minute).GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy())
	}
}

// calendarFault breaks a policy of every hour.
func calendarFault(change func(*gnomonv1.SendByCalendarPolicy)) fault {
	return func(a *gnomonv1.ScheduledAction) {
		p := &gnomonv1.SendByCalendarPolicy{Cron: "@hourly"}
		a.GetSpec().GetSendPolicy().Policy = &gnomonv1.SendPolicy_SendByCalendarPolicy{SendByCalendarPolicy: p}
		change(p)
	}
}

func httpFault(change func(*gnomonv1.HttpRequest)) fault {
	return func(a *gnomonv1.ScheduledAction) { change(a.GetSpec().GetAction().GetHttpRequest()) }
}

// pushFault breaks a push.
func pushFault(change func(*gnomonv1.SendTechnicalPush)) fault {
	return func(a *gnomonv1.ScheduledAction) {
		p := &gnomonv1.SendTechnicalPush{Recipient: "device-1", Type: "sync"}
		a.GetSpec().Action = &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{SendTechnicalPush: p}}
		change(p)
	}
}

func urlFault(raw string) fault {
	return httpFault(func(r *gnomonv1.HttpRequest) { r.Url = raw })
}

func headerFault(name, value string) fault {
	return httpFault(func(r *gnomonv1.HttpRequest) { r.Headers = map[string]string{name: value} })
}

func labelFault(key, value string) fault {
	return metaFault(func(m *gnomonv1.Meta) { m.Labels = map[string]string{key: value} })
}

// many are n entries of a map.
func many(n int, value string) map[string]string {
	entries := make(map[string]string, n)
	for k := range n {
		entries[fmt.Sprintf("x-%d", k)] = value
	}
	return entries
}

// mixed is no duration: its parts have two signs.
func mixed() *durationpb.Duration { return &durationpb.Duration{Seconds: 1, Nanos: -1} }
