package main

// runs are the tests of whole runs in skipped time, and what they let pass.
var runs = append(in("workflows"), compared(300))

// ofWorkflow are bugs of the workflow itself: workflows/action.go, perform.go.
var ofWorkflow = []mutant{
	{
		name: "attempts-overlap", requirement: "M-33", tests: runs,
		why: "an occurrence begins while attempts of the one before it run",
		edits: alone("workflows/action.go", "\tif a.perform != nil {\n\t\ta.disarm()\n\t\treturn\n\t}",
			"\tif a.perform != nil && a.state.GetPaused() {\n\t\ta.disarm()\n\t\treturn\n\t}"),
	},
	{
		name: "timer-not-moved", requirement: "M-42", tests: runs,
		why:   "an action that was moved to an earlier time is late",
		edits: alone("workflows/alarm.go", "!a.timer.IsReady() && a.timerUntil.Equal(until) {", "!a.timer.IsReady() {"),
	},
	{
		name: "timer-always-new", requirement: "design, An occurrence (events)", tests: runs,
		why:   "every wake-up costs a timer's events",
		edits: alone("workflows/alarm.go", "!a.timer.IsReady() && a.timerUntil.Equal(until) {", "!a.timer.IsReady() && a.timerUntil.Equal(until) && until.IsZero() {"),
	},
	{
		name: "commands-after-the-timer", requirement: "design, The workflow", tests: runs,
		why: "what fell due while no worker ran is performed before the deletion that came first",
		edits: []edit{
			{"workflows/action.go", "\t\ta.drain()\n\t\tif a.revived {\n\t\t\treturn nil, a.anew()\n\t\t}\n\t\ta.step()\n", "\t\ta.step()\n\t\ta.drain()\n\t\tif a.revived {\n\t\t\treturn nil, a.anew()\n\t\t}\n"},
		},
	},
	{
		name: "late-result-accepted", requirement: "M-43", tests: runs,
		why:   "the old spec's attempt changes the new one's counters",
		edits: alone("workflows/perform.go", "a.stopPerform()\n\ta.perform, a.performed = nil, nil", "a.stopPerform()"),
	},
	{
		name: "superseded-not-cancelled", requirement: "M-43", tests: runs,
		why:   "the server goes on to retry the old spec",
		edits: alone("workflows/perform.go", "\ta.stopPerform()\n", ""),
	},
	{
		name: "supersede-ignored", requirement: "M-43", tests: runs,
		why:   "an update waits for the old spec's retries",
		edits: alone("workflows/commands.go", "if effect.Supersede {", "if effect.Supersede && effect.Revive {"),
	},
	{
		name: "closes-before-the-row", requirement: "design, The mirror row", tests: runs,
		why: "a run that closed leaves a living row for ever",
		edits: []edit{
			{"workflows/action.go", "life.Ended(a.state.GetStatus()) && !a.state.GetMirrorOwed() && a.idle()", "life.Ended(a.state.GetStatus()) && a.idle()"},
			{"workflows/action.go", "return a.perform == nil && a.mirror == nil && ", "return a.perform == nil && "},
		},
	},
	{
		name: "row-owed-once", requirement: "M-61", tests: runs,
		why:   "a change made while a row is being stored shows in no list",
		edits: alone("workflows/perform.go", "if a.mirroring == a.state.GetSequence() {", "if a.mirroring <= a.state.GetSequence() {"),
	},
	{
		name: "lost-row-not-owed", requirement: "M-61", tests: runs,
		why:   "a row that an attempt could not store is never stored",
		edits: alone("workflows/perform.go", "if !p.GetStored() || in.GetSequence() != a.state.GetSequence() {", "if in.GetSequence() != a.state.GetSequence() {"),
	},
	{
		name: "row-of-meanwhile-not-owed", requirement: "M-61", tests: runs,
		why:   "what a command changed during an attempt is not in the row",
		edits: alone("workflows/perform.go", "if !p.GetStored() || in.GetSequence() != a.state.GetSequence() {", "if !p.GetStored() {"),
	},
	{
		name: "tombstone-not-written-by-workflow", requirement: "M-61", tests: runs,
		why:   "a deleted action stands in lists",
		edits: alone("workflows/perform.go", "Tombstone: life.Ended(a.state.GetStatus()),", "Tombstone: a.cancelled && a.perform != nil,"),
	},
	{
		name: "outcome-not-marked", requirement: "design, The workflow", tests: runs,
		why:   "nobody can search for failed actions",
		edits: alone("workflows/action.go", "gnomonv1.Status_FAILED:  \"failed\",\n", ""),
	},
	{
		name: "heartbeat-timeout-retried", requirement: "M-21", tests: runs,
		why:   "the server retries a lost attempt at its own pace and nobody counts it",
		edits: alone("workflows/perform.go", `"TemporalTimeout:Heartbeat", `, ""),
	},
	{
		name: "close-timeout-retried", requirement: "M-21", tests: runs,
		why:   "the server retries a lost attempt at its own pace and nobody counts it",
		edits: alone("workflows/perform.go", `"TemporalTimeout:StartToClose", `, ""),
	},
	{
		name: "server-attempts-unlimited", requirement: "M-23", tests: runs,
		why:   "attempts that cannot report are retried without end",
		edits: alone("workflows/perform.go", "MaximumAttempts:    left,", "MaximumAttempts:    left - left,"),
	},
	{
		name: "server-attempts-per-execution", requirement: "M-26", tests: runs,
		why:   "after a lost worker attempts that cannot report have the whole budget again",
		edits: alone("workflows/perform.go", "uint32(attempts)-1))", "uint32(attempts)-1)) + int32(in.GetOccurrence().GetAttempts())"),
	},
	{
		name: "no-margin-around-the-performer", requirement: "M-37", tests: runs,
		why:   "a slow action counts as a lost worker",
		edits: alone("workflows/perform.go", "action.PerformTimeout(in.GetSpec().GetAction()) + performMargin,", "action.PerformTimeout(in.GetSpec().GetAction()) + 0*performMargin,"),
	},
	{
		name: "lost-attempt-taken-for-the-one-before", requirement: "M-38", tests: runs,
		why:   "an attempt whose worker was lost after one that failed is made again under its number and not counted",
		edits: alone("workflows/perform.go", "; ok && !lost {", "; ok && (lost || !lost) {"),
	},
	{
		name: "interruption-forgets-heartbeats", requirement: "M-55", tests: runs,
		why:   "failures before a lost worker are forgotten",
		edits: alone("workflows/perform.go", "\t\t\tleft = details\n", "\t\t\tleft = nil\n"),
	},
	{
		name: "settled-attempt-counted-twice", requirement: "M-38", tests: runs,
		why:   "an attempt whose report was lost counts as failed and as interrupted",
		edits: alone("workflows/perform.go", "if left.GetSettled() && ", "if left.GetSettled() && left == nil && "),
	},
	{
		name: "handover-forgets-pause", requirement: "M-34", tests: runs,
		why:   "a paused action starts by itself after some thousand events",
		edits: alone("workflows/action.go", "\treturn workflow.NewContinueAsNewError(", "\ta.state.Paused = false\n\treturn workflow.NewContinueAsNewError("),
	},
	{
		name: "handover-forgets-commands", requirement: "M-34", tests: runs,
		why:   "a command that comes again after continue-as-new is applied again",
		edits: alone("workflows/action.go", "\treturn workflow.NewContinueAsNewError(", "\ta.state.AppliedCommands = nil\n\treturn workflow.NewContinueAsNewError("),
	},
	{
		name: "handover-forgets-trigger", requirement: "M-34", tests: runs,
		why:   "a trigger is lost by continue-as-new",
		edits: alone("workflows/action.go", "\treturn workflow.NewContinueAsNewError(", "\ta.state.Triggered = false\n\treturn workflow.NewContinueAsNewError("),
	},
	{
		name: "handover-forgets-counters", requirement: "M-36", tests: runs,
		why:   "counters begin anew after some thousand events",
		edits: alone("workflows/action.go", "\treturn workflow.NewContinueAsNewError(", "\ta.state.Status.SuccessfulAttemptsCounter = 0\n\treturn workflow.NewContinueAsNewError("),
	},
	{
		name: "handover-forgets-sequence", requirement: "M-61", tests: runs,
		why:   "after continue-as-new every row is refused as old",
		edits: alone("workflows/action.go", "\treturn workflow.NewContinueAsNewError(", "\ta.state.Sequence = 0\n\treturn workflow.NewContinueAsNewError("),
	},
	{
		name: "handover-is-a-new-incarnation", requirement: "M-61", tests: runs,
		why:   "the facade's late row of the first run looks like another action's",
		edits: alone("workflows/action.go", "\tif a.state.GetIncarnation() == nil {", "\tif a.state != nil {"),
	},
	{
		name: "never-continued", requirement: "M-34", tests: runs,
		why:   "a periodic action dies of its history's length",
		edits: alone("workflows/action.go", "if a.idle() && workflow.GetInfo(a.ctx).GetContinueAsNewSuggested() {", "if a.idle() && workflow.GetInfo(a.ctx).GetContinueAsNewSuggested() && a.revived {"),
	},
}
