package e2e

import (
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const onceRetry = "spec.send_policy.send_once_policy.retry_policy."

// badSchedules are faults of when: StartPolicy, SendPolicy, RetryPolicy (M-11,
// M-12, M-18, M-20, M-28).
func badSchedules(s *served) []badRequest {
	const startAt = "spec.start_policy.start_at"
	start := func(at *timestamppb.Timestamp) fault {
		return specFault(func(p *gnomonv1.Spec) { p.StartPolicy = &gnomonv1.StartPolicy{StartAt: at} })
	}
	jitter := func(d *durationpb.Duration) fault {
		return specFault(func(p *gnomonv1.Spec) { p.GetStartPolicy().Jitter = d })
	}
	deadline := func(at *timestamppb.Timestamp) fault {
		return specFault(func(p *gnomonv1.Spec) { p.GetSendPolicy().Deadline = at })
	}
	rows := []badRequest{
		s.create("no start policy", startAt, "REQUIRED", specFault(func(p *gnomonv1.Spec) { p.StartPolicy = nil })),
		s.create("no start", startAt, "REQUIRED", start(nil)),
		s.create("start 11 minutes ago", startAt, "TOO_EARLY", start(timestamppb.New(time.Now().Add(-11*time.Minute)))),
		s.create("start in 1970", startAt, "TOO_EARLY", start(&timestamppb.Timestamp{})),
		s.create("jitter below 0", "spec.start_policy.jitter", "OUT_OF_RANGE", jitter(durationpb.New(-1))),
		s.create("jitter above a day", "spec.start_policy.jitter", "OUT_OF_RANGE", jitter(durationpb.New(24*time.Hour+1))),
		s.create("jitter of the period", "spec.start_policy.jitter", "NOT_BELOW_PERIOD", func(a *gnomonv1.ScheduledAction) {
			jitter(durationpb.New(time.Minute))(every(a, time.Minute))
		}),
		s.create("no send policy", "spec.send_policy", "REQUIRED", specFault(func(p *gnomonv1.Spec) { p.SendPolicy = nil })),
		s.create("no policy", "spec.send_policy", "REQUIRED", specFault(func(p *gnomonv1.Spec) { p.SendPolicy = &gnomonv1.SendPolicy{} })),
	}
	// Their JSON is not read as a time or a duration at all.
	unreadable := func(row badRequest, json string) badRequest {
		row.rest, row.restReason = &restCall{method: "POST", path: "/v1/actions", body: json}, "BAD_VALUE"
		return row
	}
	return append(rows,
		unreadable(s.create("start with negative nanoseconds", startAt, "INVALID_TIMESTAMP", start(&timestamppb.Timestamp{Seconds: 2e9, Nanos: -1})),
			`{"spec":{"startPolicy":{"startAt":"2033-05-18T03:33:20.-1Z"}}}`),
		unreadable(s.create("start in the year 10000", startAt, "INVALID_TIMESTAMP", start(&timestamppb.Timestamp{Seconds: 253402300800})),
			`{"spec":{"startPolicy":{"startAt":"10000-01-01T00:00:00Z"}}}`),
		unreadable(s.create("deadline in the year 0", "spec.send_policy.deadline", "INVALID_TIMESTAMP", deadline(&timestamppb.Timestamp{Seconds: -62135596801})),
			`{"spec":{"sendPolicy":{"deadline":"0000-12-31T23:59:59Z"}}}`),
		unreadable(s.create("jitter of two signs", "spec.start_policy.jitter", "INVALID_DURATION", jitter(mixed())),
			`{"spec":{"startPolicy":{"jitter":"1h"}}}`),
		unreadable(s.create("period of two signs", "spec.send_policy.send_periodically_policy.period", "INVALID_DURATION",
			periodFault(func(p *gnomonv1.SendPeriodicallyPolicy) { p.Period = mixed() })),
			`{"spec":{"sendPolicy":{"sendPeriodicallyPolicy":{"period":"-"}}}}`),
		unreadable(s.create("minimum of two signs", onceRetry+"min_restart_period", "INVALID_DURATION",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.MinRestartPeriod = mixed() })),
			`{"spec":{"sendPolicy":{"sendOncePolicy":{"retryPolicy":{"minRestartPeriod":1}}}}}`),
	)
}

// badRetries are faults of the retry policy, wherever it stands.
func badRetries(s *served) []badRequest {
	var rows []badRequest
	for name, scale := range map[string]time.Duration{"-1 ns": -1, "-1 s": -time.Second, "over 100 years": 36525*24*time.Hour + 1} {
		rows = append(rows, s.create("scale of "+name, onceRetry+"restart_period_scale", "OUT_OF_RANGE",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodScale = durationpb.New(scale) })))
	}
	for value, rule := range map[float64]string{
		math.Inf(1): "NOT_FINITE", math.Inf(-1): "NOT_FINITE", -1: "OUT_OF_RANGE", -math.SmallestNonzeroFloat64: "OUT_OF_RANGE",
	} {
		rows = append(rows, s.create(fmt.Sprintf("back off of %g", value), onceRetry+"restart_period_back_off", rule,
			retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodBackOff = value })))
	}
	for name, least := range map[string]*durationpb.Duration{
		"nothing": nil, "0 s": {}, "-1 s": durationpb.New(-time.Second), "1 ns too little": durationpb.New(time.Second - 1),
	} {
		rows = append(rows, s.create("minimum of "+name, onceRetry+"min_restart_period", "OUT_OF_RANGE",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.MinRestartPeriod = least })))
	}
	const inTick = "spec.send_policy.send_periodically_policy.retry_policy.max_restart_period"
	const byCalendar = "spec.send_policy.send_by_calendar_policy.retry_policy.restart_period_back_off"
	return append(rows,
		s.create("back off of NaN", onceRetry+"restart_period_back_off", "NOT_FINITE",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodBackOff = math.NaN() })),
		s.create("minimum above maximum", onceRetry+"max_restart_period", "BELOW_MINIMUM",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.MinRestartPeriod = durationpb.New(time.Minute + 1) })),
		s.create("no maximum", onceRetry+"max_restart_period", "BELOW_MINIMUM",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.MaxRestartPeriod = nil })),
		s.create("maximum below 0", onceRetry+"max_restart_period", "OUT_OF_RANGE",
			retryFault(func(p *gnomonv1.RetryPolicy) { p.MaxRestartPeriod = durationpb.New(-time.Second) })),
		s.create("a tick's maximum over 100 years", inTick, "OUT_OF_RANGE", periodFault(func(p *gnomonv1.SendPeriodicallyPolicy) {
			p.RetryPolicy = &gnomonv1.RetryPolicy{MinRestartPeriod: durationpb.New(time.Second), MaxRestartPeriod: durationpb.New(36525*24*time.Hour + 1)}
		})),
		s.create("a calendar's back off of NaN", byCalendar, "NOT_FINITE", calendarFault(func(p *gnomonv1.SendByCalendarPolicy) {
			p.RetryPolicy = &gnomonv1.RetryPolicy{RestartPeriodBackOff: math.NaN(), MinRestartPeriod: durationpb.New(time.Second), MaxRestartPeriod: durationpb.New(time.Second)}
		})),
	)
}

// badRepeats are faults of periods and calendars.
func badRepeats(s *served) []badRequest {
	const calendar = "spec.send_policy.send_by_calendar_policy."
	period := func(name, reason string, d *durationpb.Duration) badRequest {
		return s.create(name, "spec.send_policy.send_periodically_policy.period", reason,
			periodFault(func(p *gnomonv1.SendPeriodicallyPolicy) { p.Period = d }))
	}
	cron := func(name, reason, expression string) badRequest {
		return s.create(name, calendar+"cron", reason, calendarFault(func(p *gnomonv1.SendByCalendarPolicy) { p.Cron = expression }))
	}
	zone := func(name, value string) badRequest {
		return s.create(name, calendar+"time_zone", "UNKNOWN_TIME_ZONE", calendarFault(func(p *gnomonv1.SendByCalendarPolicy) { p.TimeZone = value }))
	}
	return []badRequest{
		period("no period", "REQUIRED", nil),
		period("period of 0", "OUT_OF_RANGE", &durationpb.Duration{}),
		period("period below 0", "OUT_OF_RANGE", durationpb.New(-time.Minute)),
		period("period 1 ns too short", "OUT_OF_RANGE", durationpb.New(time.Second-1)),
		period("period over 100 years", "OUT_OF_RANGE", durationpb.New(36525*24*time.Hour+1)),
		period("period that no number holds", "OUT_OF_RANGE", &durationpb.Duration{Seconds: 315576000000}),
		cron("no cron", "REQUIRED", ""),
		cron("cron of words", "INVALID_CRON", "every day"),
		cron("cron with seconds", "INVALID_CRON", "0 0 * * * *"),
		cron("cron of minute 60", "INVALID_CRON", "60 * * * *"),
		cron("cron at every", "INVALID_CRON", "@every 5s"),
		cron("cron with a zone", "INVALID_CRON", "TZ=UTC 0 0 * * *"),
		cron("cron of 30 February", "NO_MATCH", "0 0 30 2 *"),
		cron("cron of 513 bytes", "TOO_LONG", "*"+strings.Repeat(" ", 505)+"* * * *"),
		zone("zone of nowhere", "Europe/Nowhere"),
		zone("zone of the machine", "Local"),
		zone("zone of a path", "../../etc/passwd"),
	}
}
