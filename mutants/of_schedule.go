package main

// ofSchedule are bugs in when an action is due and when it ends: action/due.go,
// jitter, calendar, deadline.
var ofSchedule = []mutant{
	{
		name: "deadline-absent-is-1970", requirement: "M-14", tests: rules,
		why:   "every action without a deadline expires at once",
		edits: alone("action/deadline.go", "if !t.IsValid() {", "if t != nil && !t.IsValid() {"),
	},
	{
		name: "deadline-exclusive", requirement: "M-15", tests: in("action", "action/life"),
		why:   "an attempt exactly at the deadline is not made",
		edits: alone("action/deadline.go", "return ok && at.After(d)", "return ok && !at.Before(d)"),
	},
	{
		name: "deadline-other-way", requirement: "M-13", tests: rules,
		why:   "nothing is performed before the deadline, all after it",
		edits: alone("action/deadline.go", "return ok && at.After(d)", "return ok && at.Before(d)"),
	},
	{
		name: "tick-not-strictly-after", requirement: "M-29", tests: rules,
		why:   "the tick that was just performed is performed again, and again",
		edits: alone("action/due.go", "if !due.After(after) {", "if due.Before(after) {"),
	},
	{
		name: "period-counted-from-now", requirement: "M-29", tests: rules,
		why:   "the rate drifts by the length of each attempt",
		edits: alone("action/due.go", "tick = after.Add(-sinceTick(start, period, after))", "tick = after"),
	},
	{
		name: "tick-before-start", requirement: "M-10", tests: rules,
		why:   "a periodic action runs before its StartAt",
		edits: alone("action/due.go", "\tif !after.Before(start) {\n\t\ttick", "\tif after != start {\n\t\ttick"),
	},
	{
		name: "first-calendar-match-at-start-skipped", requirement: "M-10", tests: rules,
		why:   "a tick exactly at StartAt is left out",
		edits: alone("action/due.go", "return NextDue(s, id, start.Add(-1))", "return NextDue(s, id, start)"),
	},
	{
		name: "jitter-ignored", requirement: "design, The action", tests: rules,
		why:   "a thousand actions of one minute fall due in one second",
		edits: alone("action/due.go", "return min(max(s.GetStartPolicy().GetJitter().AsDuration(), 0), MaxJitter)", "return 0"),
	},
	{
		name: "jitter-ignored-by-once", requirement: "design, The action", tests: rules,
		why:   "once-actions of one minute fall due in one second",
		edits: alone("action/due.go", "return within(start.Add(spread(id, start, jitter(s))))", "return within(start)"),
	},
	{
		name: "jitter-same-for-every-id", requirement: "design, The action", tests: rules,
		why:   "all actions of a tick move by the same",
		edits: alone("action/jitter.go", "_, _ = h.Write([]byte(id))", "_ = id"),
	},
	{
		name: "preview-passes-deadline", requirement: "M-13", tests: rules,
		why:   "people are shown times that will not come",
		edits: alone("action/preview.go", " && !Expired(s, due); due, ok", "; due, ok"),
	},
	{
		name: "doubled-hour-second-time", requirement: "F8", tests: rules,
		why:   "when clocks are turned back an action is an hour late",
		edits: alone("action/calendar.go", "(!found || shown.Before(first))", "(!found || shown.After(first))"),
	},
	{
		name: "leap-day-out-of-sight", requirement: "F8", tests: rules,
		why:   "29 February of 2104 is never found from 2097 on",
		edits: alone("action/calendar.go", "const calendarHorizon = 10", "const calendarHorizon = 7"),
	},
	{
		name: "cron-day-fields-both", requirement: "F8", tests: rules,
		why:   "an expression with day of month and of week waits for both",
		edits: alone("action/calendar.go", "return dom || dow\n", "return dom && dow\n"),
	},
}
