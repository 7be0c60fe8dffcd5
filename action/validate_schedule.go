package action

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// startPolicy holds M-11: now - 10 min <= start_at, the bound included. Both are cut
// to microseconds, so that normalising cannot move start_at beyond the bound.
func (v *violations) startPolicy(s *gnomonv1.Spec, now time.Time) {
	const field = "spec.start_policy.start_at"
	p := s.GetStartPolicy()
	switch at := p.GetStartAt(); {
	case at == nil:
		v.add(field, RuleRequired, "start_at must be set")
	case !v.timestamp(field, at):
	case !now.IsZero() && at.AsTime().Truncate(time.Microsecond).Before(now.Add(-MaxPast).Truncate(time.Microsecond)):
		v.add(field, RuleTooEarly, "start_at must be at most 10 minutes in the past")
	}
	v.jitter("spec.start_policy.jitter", p.GetJitter(), s.GetSendPolicy().GetSendPeriodicallyPolicy().GetPeriod())
}

// jitter must be below the period in whole microseconds too, which is what is kept of
// both. A period that is no good is named elsewhere.
func (v *violations) jitter(field string, jitter, period *durationpb.Duration) {
	if !v.duration(field, jitter, 0, MaxJitter) || !period.IsValid() || period.AsDuration() < MinPeriod {
		return
	}
	if jitter.AsDuration().Truncate(time.Microsecond) >= period.AsDuration().Truncate(time.Microsecond) {
		v.add(field, RuleNotBelowPeriod, "jitter must be below the period")
	}
}

func (v *violations) sendPolicy(s *gnomonv1.Spec) {
	const field = "spec.send_policy"
	p := s.GetSendPolicy()
	switch policy := p.GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		v.retryPolicy(field+".send_once_policy.retry_policy", policy.SendOncePolicy.GetRetryPolicy())
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		v.periodically(policy.SendPeriodicallyPolicy)
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		v.byCalendar(s, policy.SendByCalendarPolicy)
	default:
		v.add(field, RuleRequired, "one of send_once_policy, send_periodically_policy and send_by_calendar_policy must be set")
	}
	if p.GetDeadline() != nil {
		v.timestamp(field+".deadline", p.GetDeadline())
	}
}

func (v *violations) periodically(p *gnomonv1.SendPeriodicallyPolicy) {
	const field = "spec.send_policy.send_periodically_policy"
	if p.GetPeriod() == nil {
		v.add(field+".period", RuleRequired, "period must be set")
	} else {
		v.duration(field+".period", p.GetPeriod(), MinPeriod, MaxDuration)
	}
	v.retryPolicy(field+".retry_policy", p.GetRetryPolicy())
}

func (v *violations) byCalendar(s *gnomonv1.Spec, p *gnomonv1.SendByCalendarPolicy) {
	const field = "spec.send_policy.send_by_calendar_policy"
	v.cron(field+".cron", s, p)
	if _, err := Location(p.GetTimeZone()); err != nil {
		v.add(field+".time_zone", RuleUnknownTimeZone, "time_zone must be an IANA name such as Europe/Amsterdam")
	}
	v.retryPolicy(field+".retry_policy", p.GetRetryPolicy())
}

func (v *violations) cron(field string, s *gnomonv1.Spec, p *gnomonv1.SendByCalendarPolicy) {
	switch {
	case p.GetCron() == "":
		v.add(field, RuleRequired, "cron must be set")
		return
	case len(p.GetCron()) > MaxCronLength:
		v.add(field, RuleTooLong, "cron is %d bytes long, at most %d are allowed", len(p.GetCron()), MaxCronLength)
		return
	}
	if _, err := parseCron(p.GetCron()); err != nil {
		v.add(field, RuleInvalidCron, "cron %s", err)
		return
	}
	start, ok := moment(s.GetStartPolicy().GetStartAt())
	c, err := parseCalendar(p.GetCron(), p.GetTimeZone())
	if !ok || err != nil {
		return // named elsewhere
	}
	if first, ok := c.next(start.Add(-1)); !ok || first.After(start.AddDate(MaxCalendarGap, 0, 0)) {
		v.add(field, RuleNoMatch, "cron must have a match within %d years after start_at", MaxCalendarGap)
	}
}

// retryPolicy holds M-18 and M-20. Defaults stand for a message that is absent, never
// for a field of one that is there, so a minimum that is not set is below 1 s.
func (v *violations) retryPolicy(field string, p *gnomonv1.RetryPolicy) {
	if p == nil {
		return
	}
	v.duration(field+".restart_period_scale", p.GetRestartPeriodScale(), 0, MaxDuration)
	switch b := p.GetRestartPeriodBackOff(); {
	case math.IsNaN(b) || math.IsInf(b, 0):
		v.add(field+".restart_period_back_off", RuleNotFinite, "restart_period_back_off must be a finite number")
	case b < 0:
		v.add(field+".restart_period_back_off", RuleOutOfRange, "restart_period_back_off must not be negative")
	}
	okMin := v.duration(field+".min_restart_period", p.GetMinRestartPeriod(), MinRestartPeriod, MaxDuration)
	okMax := v.duration(field+".max_restart_period", p.GetMaxRestartPeriod(), 0, MaxDuration)
	if okMin && okMax && p.GetMaxRestartPeriod().AsDuration() < p.GetMinRestartPeriod().AsDuration() {
		v.add(field+".max_restart_period", RuleBelowMinimum, "max_restart_period must not be below min_restart_period")
	}
}

// duration says whether d is valid and in [least, most]. An absent one is 0.
func (v *violations) duration(field string, d *durationpb.Duration, least, most time.Duration) bool {
	return v.shared().Duration(field, d, least, most)
}

func (v *violations) timestamp(field string, t *timestamppb.Timestamp) bool {
	return v.shared().Timestamp(field, t)
}
