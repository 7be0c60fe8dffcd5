package main

// ofTimers are bugs of how a worker shortens timers: worker/timers.go.
var ofTimers = []mutant{
	{
		name: "timers-late", requirement: "issue 8", tests: connected,
		why:   "every timer is late by what its task took",
		edits: alone("worker/timers.go", "\tif took <= 0 {\n", "\tif took != 0 {\n"),
	},
	{
		name: "timers-without-margin", requirement: "M-26", tests: connected,
		why:   "a timer fires early by what was cut off",
		edits: alone("worker/timers.go", "Sub(began) - timerMargin", "Sub(began)"),
	},
	{
		name: "timer-of-nothing", requirement: "M-26", tests: connected,
		why:   "Temporal refuses the completion of a task that took longer than its timer",
		edits: alone("worker/timers.go", "max(time.Millisecond, t.GetStartToFireTimeout().AsDuration()-took)", "t.GetStartToFireTimeout().AsDuration() - took"),
	},
	{
		name: "timers-shortened-twice", requirement: "M-26", tests: connected,
		why:   "a completion that is sent again has a timer that fires early",
		edits: alone("worker/timers.go", "\tr = proto.CloneOf(r)\n", "\t_ = proto.CloneOf(r)\n"),
	},
	{
		name: "slowest-answer-counts", requirement: "issue 8", tests: connected,
		why:   "timers are late by as much as the last task was slow to come",
		edits: alone("worker/timers.go", "zero.After(c.zeroes[0]) {", "!zero.IsZero() {"),
	},
	{
		name: "window-before-overlooked", requirement: "issue 8", tests: connected,
		why:   "every ten seconds timers are late until a task comes quickly",
		edits: alone("worker/timers.go", "c.zeroes[1].After(zero)", "c.zeroes[1].Equal(zero)"),
	},
	{
		name: "temporals-clock-known-for-ever", requirement: "M-26", tests: connected,
		why:   "clocks drift apart, and timers fire early",
		edits: alone("worker/timers.go", "\t\tif age >= 2*clockWindow {\n", "\t\tif age < 0 {\n"),
	},
	{
		name: "timers-of-questions", requirement: "issue 8", tests: connected,
		why:   "the memory of a worker grows with each question",
		edits: alone("worker/timers.go", "task.GetStartedTime() == nil || task.GetQuery() != nil", "task.GetStartedTime() == nil"),
	},
	{
		name: "timers-of-failed-tasks", requirement: "issue 8", tests: connected,
		why:   "the memory of a worker grows with each task that fails",
		edits: alone("worker/timers.go", "\tcase *workflowservice.RespondWorkflowTaskFailedRequest:\n\t\te.forget(r.GetTaskToken())\n", ""),
	},
	{
		name: "timers-of-unanswered-completion", requirement: "issue 8", tests: connected,
		why:   "the timers of a completion that is sent again are late",
		edits: alone("worker/timers.go", "\t\tif err == nil { // else it is sent again\n", "\t\tif r != nil {\n"),
	},
	{
		name: "timers-of-the-next-task", requirement: "issue 8", tests: connected,
		why:   "the timers of a task that came with a reply are late",
		edits: alone("worker/timers.go", "\t\te.note(r.GetWorkflowTask(), time.Now())\n", ""),
	},
	{
		name: "timers-of-unanswered-tasks", requirement: "issue 8", tests: connected,
		why:   "the memory of a worker grows with each task that nobody answers",
		edits: alone("worker/timers.go", "e.tasks == nil || len(e.tasks) >= remembered", "e.tasks == nil"),
	},
}
