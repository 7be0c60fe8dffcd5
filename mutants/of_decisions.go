package main

// ofDecisions are bugs in what is to be done next: action/life/next.go, state.go.
var ofDecisions = []mutant{
	{
		name: "next-expires-at-the-deadline", requirement: "M-15", tests: lives,
		why:   "what is due exactly at the deadline is not performed",
		edits: alone("action/life/next.go", "if bounded && now.After(deadline) {", "if bounded && !now.Before(deadline) {"),
	},
	{
		name: "next-performs-after-deadline", requirement: "M-13", tests: lives,
		why:   "workers that were down across the deadline perform the action",
		edits: alone("action/life/next.go", "if bounded && now.After(deadline) {", "if bounded && now.Before(deadline) && now.After(deadline) {"),
	},
	{
		name: "next-waits-past-the-deadline", requirement: "M-15", tests: lives,
		why:   "the action stands until its next tick instead of its deadline",
		edits: alone("action/life/next.go", "case bounded && (!awaited || deadline.Before(due)):", "case bounded && !awaited:"),
	},
	{
		name: "next-sleeps-at-the-deadline", requirement: "M-15", tests: lives,
		why:   "with nothing left to do the action does not end at its deadline",
		edits: alone("action/life/next.go", "case bounded && !now.Before(deadline):", "case bounded && now.After(deadline):"),
	},
	{
		name: "next-early", requirement: "faults.md, promise 2", tests: lives,
		why:   "the action is performed before its time",
		edits: alone("action/life/next.go", "if awaited && !due.After(now) {", "if awaited && !due.After(now.Add(time.Second)) {"),
	},
	{
		name: "next-not-at-its-time", requirement: "M-10", tests: lives,
		why:   "at exactly its time the action sleeps on",
		edits: alone("action/life/next.go", "if awaited && !due.After(now) {", "if awaited && due.Before(now) {"),
	},
	{
		name: "pause-ignored", requirement: "design, The workflow", tests: lives,
		why: "a paused action is performed",
		edits: alone("action/life/next.go", "\tcase s.GetPaused():\n\t\treturn time.Time{}, false",
			"\tcase s.GetPaused() && s.GetStatus() == nil:\n\t\treturn time.Time{}, false"),
	},
	{
		name: "pause-does-not-hold-retry", requirement: "design, The workflow", tests: lives,
		why: "a retry is made though the action is paused",
		edits: alone("action/life/next.go", "\tcase s.GetPaused():\n\t\treturn time.Time{}, false",
			"\tcase s.GetPaused() && s.GetOccurrence() == nil:\n\t\treturn time.Time{}, false"),
	},
	{
		name: "paused-for-good", requirement: "design, The workflow", tests: lives,
		why:   "a paused action without a deadline ends",
		edits: alone("action/life/next.go", "\tcase s.GetPaused():\n\t\treturn Decision{Step: Wait}", "\tcase s.GetPaused():\n\t\treturn Decision{Step: End}"),
	},
	{
		name: "trigger-never-used-up", requirement: "design, The workflow", tests: lives,
		why:   "a triggered action is performed without end",
		edits: alone("action/life/next.go", "s.Occurrence, s.Triggered = occurrence(s, now), false", "s.Occurrence = occurrence(s, now)"),
	},
	{
		name: "triggered-once-keeps-its-due-time", requirement: "M-59", tests: lives,
		why:   "an occurrence of now is named after a time that has not come",
		edits: alone("action/life/next.go", "case !periodic && (o.GetDue() == nil || o.GetDue().AsTime().After(now)):", "case !periodic && o.GetDue() == nil:"),
	},
	{
		name: "sequence-stands-still", requirement: "M-61", tests: lives,
		why:   "two occurrences write rows of one revision",
		edits: alone("action/life/next.go", "\ts.Sequence++\n\ts.Performing", "\ts.Performing"),
	},
	{
		name: "owed-row-without-sequence", requirement: "M-61", tests: lives,
		why:   "a command's row is refused as old",
		edits: alone("action/life/next.go", "\ts.Sequence++\n\ts.MirrorOwed = true", "\ts.MirrorOwed = true"),
	},
	{
		name: "end-owes-no-row", requirement: "M-25", tests: lives,
		why: "an action that ended stands in lists for ever",
		edits: alone("action/life/next.go", "s.Occurrence, s.Triggered, s.Performing = nil, false, 0\n\tOwe(s)",
			"s.Occurrence, s.Triggered, s.Performing = nil, false, 0"),
	},
	{
		name: "expired-has-not-ended", requirement: "M-13", tests: lives,
		why:   "an expired action never closes",
		edits: alone("action/life/state.go", "gnomonv1.Status_FAILED, gnomonv1.Status_EXPIRED, gnomonv1.Status_DELETED:", "gnomonv1.Status_FAILED, gnomonv1.Status_DELETED:"),
	},
	{
		name: "guid-of-facade-lost", requirement: "M-07", tests: lives,
		why:   "the reply's Guid is not the workflow's",
		edits: alone("action/life/state.go", "Id: a.GetMeta().GetId(), Guid: guid,", "Id: a.GetMeta().GetId(), Guid: guid[:0],"),
	},
	{
		name: "transition-time-moves", requirement: "design, Conditions", tests: lives,
		why:   "nobody can see since when a condition holds",
		edits: alone("action/life/state.go", "c.LastTransitionTime = old.GetLastTransitionTime()", "old.LastTransitionTime = c.GetLastTransitionTime()"),
	},
}
