package main

// attempts are the tests of single attempts, thenRuns those and whole runs.
var (
	attempts = in("activities")
	thenRuns = append(in("activities", "workflows"), compared(300))
)

// ofAttempts are bugs of an attempt: activities/perform.go, call.go, standing.go.
var ofAttempts = []mutant{
	{
		name: "next-retry-delay-missing", requirement: "M-21", tests: attempts,
		why:   "retries follow Temporal's formula instead of ours",
		edits: alone("activities/perform.go", "\t\tNextRetryDelay: delay,\n", ""),
	},
	{
		name: "old-guid-stands", requirement: "M-07", tests: attempts,
		why:   "an attempt of a deleted action acts for the one that was made anew",
		edits: alone("activities/perform.go", "case s.GetGuid() != a.in.GetMeta().GetGuid() || !s.GetPerform()", "case !s.GetPerform()"),
	},
	{
		name: "old-sequence-stands", requirement: "M-43", tests: attempts,
		why:   "an attempt of an older execution acts beside the newer one",
		edits: alone("activities/perform.go", " || s.GetSequence() != a.in.GetSequence():", ":"),
	},
	{
		name: "ended-occurrence-stands", requirement: "M-43", tests: attempts,
		why:   "an attempt acts that the workflow no longer waits for",
		edits: alone("activities/perform.go", " || !s.GetPerform() || ", " || "),
	},
	{
		name: "late-first-attempt-does-not-ask", requirement: "design, The workflow", tests: attempts,
		why:   "an attempt that waited in a queue acts for a deleted action",
		edits: alone("activities/perform.go", "\tlateStart = time.Second\n", "\tlateStart = time.Hour\n"),
	},
	{
		name: "young-process-does-not-ask", requirement: "design, The workflow", tests: attempts,
		why:   "what waited for the workers to come back acts for a deleted action",
		edits: alone("activities/perform.go", "!late && time.Since(a.Born) > youngProcess {", "!late {"),
	},
	{
		name: "retry-does-not-ask", requirement: "design, The workflow", tests: attempts,
		why:   "a pause does not hold the server's retries",
		edits: alone("activities/perform.go", "if a.info.Attempt == 1 && !late && ", "if !late && "),
	},
	{
		name: "acts-without-an-answer", requirement: "design, The workflow", tests: attempts,
		why: "an attempt that cannot ask acts",
		edits: alone("activities/perform.go", `return a.failure(workflowv1.FailureHeld, "its standing could not be asked", false, 0)`,
			"return nil"),
	},
	{
		name: "acts-while-paused", requirement: "design, The workflow", tests: attempts,
		why:   "a retry is made though the action is paused",
		edits: alone("activities/perform.go", "\tcase s.GetPaused():\n", "\tcase s.GetPaused() && !s.GetPerform():\n"),
	},
	{
		name: "acts-after-the-deadline", requirement: "F14", tests: attempts,
		why:   "an attempt begins after the deadline",
		edits: alone("activities/perform.go", "\tif action.Expired(a.in.GetSpec(), a.now()) {", "\tif action.Expired(a.in.GetSpec(), a.info.ScheduledTime) {"),
	},
	{
		name: "acts-after-a-long-question", requirement: "F14", tests: attempts,
		why:   "the deadline passes while the attempt asks",
		edits: alone("activities/perform.go", "\treturn a.inTime()\n}", "\treturn nil\n}"),
	},
	{
		name: "touched-taken-for-untouched", requirement: "M-43", tests: attempts,
		why:   "an attempt acts by a spec that was changed since it was scheduled",
		edits: alone("activities/standing.go", "return strconv.FormatInt(w.GetHistoryLength(), 10) == info.ActivityID", `return strconv.FormatInt(w.GetHistoryLength(), 10) != ""`),
	},
	{
		name: "undecided-command-overlooked", requirement: "M-43", tests: attempts,
		why:   "an attempt acts though a command was accepted that nobody has decided on",
		edits: alone("activities/standing.go", "if d.GetPendingWorkflowTask() != nil || ", "if "),
	},
	{
		name: "attempt-of-a-run-that-is-over-acts", requirement: "M-43", tests: attempts,
		why: "an attempt acts for a run that was terminated or reset",
		edits: alone("activities/standing.go", " || d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {",
			" {"),
	},
	{
		name: "canceled-attempt-is-untouched", requirement: "M-43", tests: attempts,
		why:   "an attempt acts that the workflow has called back",
		edits: alone("activities/standing.go", "return p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED && ", "return "),
	},
	{
		name: "older-attempt-is-untouched", requirement: "M-33", tests: attempts,
		why:   "an attempt that was given up acts beside the one after it",
		edits: alone("activities/standing.go", " && p.GetAttempt() == info.Attempt\n", "\n"),
	},
	{
		name: "no-description-is-untouched", requirement: "design, The workflow", tests: attempts,
		why:   "an attempt acts though nobody said that it stands",
		edits: alone("activities/standing.go", "return err == nil && yes", "return err != nil || yes"),
	},
	{
		name: "untouched-asks-the-workflow", requirement: "issue 8", tests: attempts,
		why:   "a herd asks its workers a question for each action",
		edits: alone("activities/perform.go", "\tif !untouched(ctx, a.Asker, a.info) {", "\tif a.in != nil {"),
	},
	{
		name: "workers-own-clock", requirement: "F7", tests: attempts,
		why:   "a worker whose clock is wrong decides by it",
		edits: alone("activities/perform.go", "return info.StartedTime.Add(time.Since(here))", "return here.Add(time.Since(here))"),
	},
	{
		name: "panic-is-a-failure", requirement: "M-38", tests: attempts,
		why: "a performer that panics counts as an action that failed",
		edits: alone("activities/call.go", "\tcase performers.IsInterruption(r.err):\n\t\te.Outcome = gnomonv1.AttemptStatus_INTERRUPTED",
			"\tcase performers.IsInterruption(r.err):\n\t\te.Outcome = gnomonv1.AttemptStatus_FAILURE"),
	},
	{
		name: "panic-kills-the-worker", requirement: "F11", tests: attempts,
		why:   "one performer takes all attempts of its process with it",
		edits: alone("activities/performers/guard.go", "if cause := recover(); cause != nil {", "if cause := any(nil); cause != nil {"),
	},
	{
		name: "permanence-lost", requirement: "issue 2, performers", tests: attempts,
		why:   "what no retry can mend is tried to the end of the budget",
		edits: alone("activities/call.go", "gnomonv1.AttemptStatus_FAILURE, performers.IsPermanent(r.err)", "gnomonv1.AttemptStatus_FAILURE, performers.IsPermanent(r.err) && performers.IsInterruption(r.err)"),
	},
	{
		name: "unknown-kind-retried", requirement: "M-02", tests: attempts,
		why: "an installation that cannot perform a kind tries to the end of the budget",
		edits: alone("activities/call.go", "Outcome: gnomonv1.AttemptStatus_FAILURE, At: a.now(), Permanent: true,",
			"Outcome: gnomonv1.AttemptStatus_FAILURE, At: a.now(),"),
	},
	{
		name: "slow-action-not-stopped", requirement: "M-37", tests: attempts,
		why:   "a slow action ends with its process's time and counts as interrupted",
		edits: alone("activities/call.go", "context.WithTimeoutCause(ctx, limit, errTooSlow)", "context.WithTimeoutCause(ctx, 100*limit, errTooSlow)"),
	},
	{
		name: "deaf-performer-waited-for", requirement: "F11", tests: attempts,
		why:   "a performer that does not listen holds its attempt for ever",
		edits: alone("activities/call.go", "deaf := time.NewTimer(listenGrace)", "deaf := time.NewTimer(10000 * listenGrace)"),
	},
	{
		name: "stop-is-a-failure", requirement: "M-38", tests: attempts,
		why: "a deployment counts against the action",
		edits: alone("activities/call.go", "e.Outcome, e.Immediate = gnomonv1.AttemptStatus_INTERRUPTED, true",
			"e.Outcome, e.Immediate = gnomonv1.AttemptStatus_FAILURE, true"),
	},
	{
		name: "stop-gives-no-grace", requirement: "M-38", tests: attempts,
		why:   "a deployment breaks off what would have ended in time",
		edits: alone("activities/call.go", "grace := time.NewTimer(a.StopGrace)", "grace := time.NewTimer(a.StopGrace / 1000)"),
	},
	{
		name: "counters-not-in-heartbeats", requirement: "design, An occurrence", tests: thenRuns,
		why:   "a retry knows nothing of the failures before it",
		edits: alone("activities/perform.go", "\t\tactivity.RecordHeartbeat(ctx, a.progress)\n", ""),
	},
	{
		name: "recalled-failures-counted-twice", requirement: "M-37", tests: thenRuns,
		why:   "each retry counts the failures before it again",
		edits: alone("activities/perform.go", "\ta.progress.Counted++\n", ""),
	},
	{
		name: "unseen-failures-not-counted", requirement: "M-37", tests: attempts,
		why:   "a failure whose heartbeat was lost gives an attempt for free",
		edits: alone("activities/perform.go", "for left.GetCounted() < uint32(info.Attempt-1) {", "for left.GetCounted() > uint32(info.Attempt-1) {"),
	},
	{
		name: "retry-beats-as-settled", requirement: "M-38", tests: attempts,
		why:   "a retry whose process is lost is taken for the attempt before it",
		edits: alone("activities/perform.go", "left.Stored, left.Settled = false, false", "left.Stored = false"),
	},
	{
		name: "settled-not-said", requirement: "M-38", tests: attempts,
		why:   "an attempt whose report was lost counts as failed and as interrupted",
		edits: alone("activities/perform.go", "\t\ta.progress.Settled = true\n", ""),
	},
	{
		name: "held-retry-is-final", requirement: "M-15", tests: attempts,
		why:   "an action ends before its deadline, though an update might extend it",
		edits: alone("activities/perform.go", "\tcase life.Hold:\n\t\treturn nil, a.failure(workflowv1.FailureHeld,", "\tcase life.Hold:\n\t\treturn nil, a.failure(workflowv1.FailureFinal,"),
	},
	{
		name: "cancelled-attempt-reports", requirement: "M-43", tests: attempts,
		why:   "a superseded attempt writes the old spec's row",
		edits: alone("activities/perform.go", "!= gnomonv1.AttemptStatus_SUCCESS && !a.stopping(ctx) {", "!= gnomonv1.AttemptStatus_SUCCESS && a.stopping(ctx) {"),
	},
	{
		name: "beats-stop-before-the-row", requirement: "M-61", tests: attempts,
		why: "a store that hangs makes an attempt count as lost",
		edits: []edit{
			{"activities/perform.go", "\ta.quiet() // not earlier: a store that hangs must not make the attempt count as lost\n", ""},
			{"activities/perform.go", "\ta.progress.Counted++\n", "\ta.progress.Counted++\n\ta.quiet()\n"},
		},
	},
	{
		name: "stored-always-said", requirement: "M-61", tests: attempts,
		why:   "a row that could not be stored is never stored",
		edits: alone("activities/perform.go", "a.progress.Stored = a.store(ctx, number)", "a.progress.Stored = a.store(ctx, number) || number > 0"),
	},
	{
		name: "tombstone-not-written-by-attempt", requirement: "M-61", tests: thenRuns,
		why:   "a finished action stands in lists",
		edits: alone("activities/perform.go", "Tombstone: life.Ended(a.progress.GetStatus()),", "Tombstone: a.in == nil,"),
	},
	{
		name: "rows-of-attempts-in-one-place", requirement: "M-61", tests: thenRuns,
		why:   "the row of a retry is refused as old",
		edits: alone("activities/perform.go", "\trow.Revision.Attempt = number\n", "\trow.Revision.Attempt = 0 * number\n"),
	},
	{
		name: "rows-over-later-commands", requirement: "M-61", tests: attempts,
		why:   "a retry's row is refused, or shows labels that were changed before it",
		edits: alone("activities/perform.go", "a.shown, a.conditions, a.sequence = s.GetMeta(), s.GetConditions(), s.GetRowSequence()", "a.shown, a.conditions = s.GetMeta(), s.GetConditions()"),
	},
	{
		name: "asks-once", requirement: "design, The workflow", tests: attempts,
		why:   "a hiccup of Temporal ends an occurrence's attempts",
		edits: alone("activities/standing.go", "case <-time.After(askPause):\n", "case <-time.After(askPause):\n\t\t\treturn nil, err\n"),
	},
}
