package main

// lives are the tests of an action's life as plain functions, and what they let pass.
var lives = append(in("action/life"), compared(300))

// ofCounters are bugs in how an attempt is counted: action/life/settle.go.
var ofCounters = []mutant{
	{
		name: "successes-counted-twice", requirement: "M-36", tests: lives,
		why:   "people count on it",
		edits: alone("action/life/settle.go", "st.SuccessfulAttemptsCounter++", "st.SuccessfulAttemptsCounter += 2"),
	},
	{
		name: "failures-counted-twice", requirement: "M-37", tests: lives,
		why:   "people count on it",
		edits: alone("action/life/settle.go", "st.FailedAttemptsCounter++", "st.FailedAttemptsCounter += 2"),
	},
	{
		name: "interruptions-not-counted", requirement: "M-38", tests: lives,
		why:   "a worker that crashes shows nowhere",
		edits: alone("action/life/settle.go", "st.InterruptedAttemptsCounter++", "st.InterruptedAttemptsCounter += 0"),
	},
	{
		name: "interruptions-counted-as-failures", requirement: "M-38", tests: lives,
		why:   "the action is blamed for a lost worker",
		edits: alone("action/life/settle.go", "st.InterruptedAttemptsCounter++", "st.FailedAttemptsCounter++"),
	},
	{
		name: "consecutive-counted-twice", requirement: "M-39", tests: lives,
		why:   "the counter is not that of failures in a row",
		edits: alone("action/life/settle.go", "st.ConsecutiveFailuresCounter++", "st.ConsecutiveFailuresCounter += 2"),
	},
	{
		name: "consecutive-without-interruptions", requirement: "M-39", tests: lives,
		why: "errors of any kind count",
		edits: alone("action/life/settle.go", "\tst.ConsecutiveFailuresCounter++",
			"\tif e.Outcome != gnomonv1.AttemptStatus_INTERRUPTED {\n\t\tst.ConsecutiveFailuresCounter++\n\t}"),
	},
	{
		name: "consecutive-not-reset", requirement: "M-39", tests: lives,
		why:   "a success ends the row of failures",
		edits: alone("action/life/settle.go", "st.ConsecutiveFailuresCounter = 0\n", "st.ConsecutiveFailuresCounter += 0\n"),
	},
	{
		name: "attempts-counted-twice", requirement: "M-23", tests: lives,
		why:   "half of the retries are made",
		edits: alone("action/life/settle.go", "\to.Attempts++", "\to.Attempts += 2"),
	},
	{
		name: "interruptions-free-of-budget", requirement: "M-26", tests: lives,
		why: "an action that kills its worker is attempted for ever",
		edits: alone("action/life/settle.go", "\to.Attempts++",
			"\tif e.Outcome != gnomonv1.AttemptStatus_INTERRUPTED {\n\t\to.Attempts++\n\t}"),
	},
	{
		name: "budget-one-more", requirement: "M-23", tests: lives,
		why:   "one attempt more than 1 + MaxRetries",
		edits: alone("action/life/settle.go", "o.GetAttempts() >= action.MaxAttempts(policy)", "o.GetAttempts() > action.MaxAttempts(policy)"),
	},
	{
		name: "budget-by-consecutive-counter", requirement: "M-30", tests: lives,
		why: "a periodic action that failed often is never retried again",
		edits: alone("action/life/settle.go", "o.GetAttempts() >= action.MaxAttempts(policy)",
			"st.GetConsecutiveFailuresCounter() >= uint64(action.MaxAttempts(policy))"),
	},
	{
		name: "budget-per-execution", requirement: "M-26", tests: lives,
		why: "after every lost worker the budget begins anew",
		edits: alone("action/life/next.go", "\ts.Status.State = gnomonv1.Status_RUNNING\n\ts.Sequence++",
			"\ts.Occurrence.Attempts = 0\n\ts.Status.State = gnomonv1.Status_RUNNING\n\ts.Sequence++"),
	},
	{
		name: "delay-by-current-counter", requirement: "M-24", tests: lives,
		why:   "the first retry comes after delay(1)",
		edits: alone("action/life/settle.go", "retryAt(e, start, action.Delay(policy, c))", "retryAt(e, start, action.Delay(policy, c+1))"),
	},
	{
		name: "delay-frozen", requirement: "M-17", tests: lives,
		why:   "every retry comes after delay(0)",
		edits: alone("action/life/settle.go", "o.Consecutive = c + 1", "o.Consecutive = 0"),
	},
	{
		name: "delay-spans-ticks", requirement: "M-30", tests: lives,
		why: "a periodic action's delays grow from tick to tick",
		edits: alone("action/life/next.go", "\treturn o\n}\n\n// distinct",
			"\to.Consecutive = s.GetStatus().GetConsecutiveFailuresCounter()\n\treturn o\n}\n\n// distinct"),
	},
	{
		name: "delay-from-start", requirement: "M-27", tests: lives,
		why:   "after a slow failure the retry comes at once",
		edits: alone("action/life/settle.go", "\t\treturn e.At.Add(delay)", "\t\treturn start.Add(delay)"),
	},
	{
		name: "delay-of-interruption-from-its-discovery", requirement: "M-27", tests: lives,
		why:   "a lost worker delays the retry by the heartbeat timeout",
		edits: alone("action/life/settle.go", "if t := start.Add(delay); t.After(e.At)", "if t := e.At.Add(delay); t.After(e.At)"),
	},
	{
		name: "interruption-retried-in-the-past", requirement: "M-27", tests: lives,
		why:   "scheduled_at lies before the interruption was noticed",
		edits: alone("action/life/settle.go", "if t := start.Add(delay); t.After(e.At)", "if t := start.Add(delay); !t.IsZero()"),
	},
	{
		name: "stopping-worker-delays", requirement: "design, An occurrence", tests: lives,
		why:   "a deployment delays every retry that was under way",
		edits: alone("action/life/settle.go", "\tcase e.Immediate:\n", "\tcase e.Immediate && e.Permanent:\n"),
	},
}
