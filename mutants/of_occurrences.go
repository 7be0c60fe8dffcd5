package main

// ofOccurrences are bugs in what follows an attempt: action/life/settle.go, adopt.go.
var ofOccurrences = []mutant{
	{
		name: "permanent-failure-retried", requirement: "issue 2, performers", tests: lives,
		why:   "what no retry can mend is tried to the end of the budget",
		edits: alone("action/life/settle.go", "if e.Permanent || o.GetAttempts()", "if o.GetAttempts()"),
	},
	{
		name: "retry-passes-next-tick", requirement: "M-30", tests: lives,
		why:   "a retry takes the place of the tick",
		edits: alone("action/life/settle.go", "return retry.Before(tick) && !action.Expired(spec, retry)", "return !action.Expired(spec, retry)"),
	},
	{
		name: "retry-at-next-tick", requirement: "M-30", tests: lives,
		why:   "a retry at the very time of the tick takes its place",
		edits: alone("action/life/settle.go", "return retry.Before(tick) && !action.Expired(spec, retry)", "return !retry.After(tick) && !action.Expired(spec, retry)"),
	},
	{
		name: "periodic-retry-passes-deadline", requirement: "M-30", tests: lives,
		why:   "a periodic action waits for a retry that never comes, and triggers with it",
		edits: alone("action/life/settle.go", "return retry.Before(tick) && !action.Expired(spec, retry)", "return retry.Before(tick)"),
	},
	{
		name: "trigger-named-as-the-tick", requirement: "M-59", tests: lives,
		why:   "a receiver drops the tick as the triggered occurrence that came before it",
		edits: alone("action/life/next.go", "tick != nil && tick.AsTime().Equal(due) {", "tick != nil && tick.AsTime().Equal(due) && now.IsZero() {"),
	},
	{
		name: "trigger-named-as-the-one-before", requirement: "M-59", tests: lives,
		why:   "a receiver drops the triggered occurrence as the one before it",
		edits: alone("action/life/next.go", "before != nil && !before.AsTime().Before(due) {", "before != nil && now.IsZero() {"),
	},
	{
		name: "periodic-stopped-by-failure", requirement: "M-31", tests: lives,
		why:   "one bad night ends a periodic action",
		edits: alone("action/life/settle.go", "p.GetOccurrence(), at); ok {", "p.GetOccurrence(), at); ok && end != gnomonv1.Status_FAILED {"),
	},
	{
		name: "missed-ticks-burst", requirement: "M-29", tests: lives,
		why:   "after an outage every missed tick is performed",
		edits: alone("action/life/settle.go", "due.After(now) {\n\t\tnow = due", "due.Before(now) {\n\t\tnow = due"),
	},
	{
		name: "tick-twice-by-a-slow-clock", requirement: "M-29", tests: lives,
		why:   "a worker whose clock is behind performs a tick twice",
		edits: alone("action/life/settle.go", "due.After(now) {\n\t\tnow = due", "due.After(now) && false {\n\t\tnow = due"),
	},
	{
		name: "trigger-eats-the-tick", requirement: "design, The workflow", tests: lives,
		why:   "a tick that fell due during a triggered occurrence is left out",
		edits: alone("action/life/next.go", "o.WaitingTick, o.Due = o.GetDue(), distinct(s, now)", "o.Due = distinct(s, now)"),
	},
	{
		name: "retry-passes-deadline", requirement: "M-13", tests: lives,
		why:   "an attempt is made after the deadline",
		edits: alone("action/life/settle.go", "if action.Expired(spec, retry) {", "if action.Expired(spec, retry) && e.Immediate {"),
	},
	{
		name: "no-provisional-retry", requirement: "M-54", tests: lives,
		why:   "during an attempt readers see a time in the past or none",
		edits: alone("action/life/settle.go", "\t\tst.ScheduledAt = Stamp(retry)\n\tcase periodic:", "\t\tst.ScheduledAt = Stamp(a.At)\n\tcase periodic:"),
	},
	{
		name: "provisional-retry-of-the-last", requirement: "M-54", tests: lives,
		why:   "the last attempt promises a retry that will not come",
		edits: alone("action/life/settle.go", "case o.GetAttempts()+1 < action.MaxAttempts(policy) &&", "case o.GetAttempts() < action.MaxAttempts(policy) &&"),
	},
	{
		name: "key-per-attempt", requirement: "M-59", tests: lives,
		why: "the other side cannot tell a retry from a new occurrence",
		edits: alone("action/life/settle.go", "IdempotencyKey: key(meta, o),\n\t}\n\tp.AttemptStart",
			"IdempotencyKey: action.IdempotencyKey(meta, a.At),\n\t}\n\tp.AttemptStart"),
	},
	{
		name: "key-changes-with-labels", requirement: "M-59", tests: lives,
		why:   "new labels between two attempts make an occurrence look like two",
		edits: alone("action/life/settle.go", "cmp.Or(o.GetGuid(), meta.GetGuid())", "cmp.Or(meta.GetGuid(), o.GetGuid())"),
	},
	{
		name: "attempt-number-from-zero", requirement: "M-40", tests: lives,
		why:   "the first attempt is numbered 0",
		edits: alone("action/life/settle.go", "Attempt:        o.GetAttempts() + 1,", "Attempt:        o.GetAttempts(),"),
	},
	{
		name: "current-attempt-left-standing", requirement: "M-40", tests: lives,
		why:   "an attempt that has ended shows as running",
		edits: alone("action/life/settle.go", "st.LastAttemptStatus, st.CurrentAttemptStatus = last, nil", "st.LastAttemptStatus = last"),
	},
	{
		name: "last-error-lost", requirement: "M-40", tests: lives,
		why:   "nobody learns why it failed",
		edits: alone("action/life/settle.go", "last.Error = e.Error", "last.Error = \"\""),
	},
	{
		name: "heartbeat-details-ignored", requirement: "M-55", tests: lives,
		why:   "failures before a lost worker are forgotten",
		edits: alone("action/life/adopt.go", "p.GetStatus() == nil || p.GetOccurrence() == nil {", "p.GetOccurrence() != in.GetOccurrence() {"),
	},
	{
		name: "lost-retry-began-with-its-execution", requirement: "M-27", tests: lives,
		why:   "the delay after a lost retry is counted from the first attempt",
		edits: alone("action/life/adopt.go", "retry.After(began) {", "retry.Before(began) && retry.After(began) {"),
	},
	{
		name: "pause-forgotten-by-result", requirement: "design, The workflow", tests: lives,
		why:   "an attempt that ends shows a paused action as running",
		edits: alone("action/life/adopt.go", "if s.GetPaused() && !Ended(s.GetStatus()) {", "if s.GetPaused() && Ended(s.GetStatus()) {"),
	},
	{
		name: "conditions-forgotten-by-result", requirement: "F22", tests: lives,
		why:   "a dropped signal shows only until the next attempt ends",
		edits: alone("action/life/adopt.go", "s.Status.Conditions = conditions", "s.Status.Conditions = conditions[:0]"),
	},
}
