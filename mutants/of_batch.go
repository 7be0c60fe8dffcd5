package main

// Tests of the rules of batches, and of whole batches in skipped time, with the real
// activities.
var (
	batchRules = in("batch")
	batchRuns  = in("batch", "workflows")
)

// ofBatch are bugs of scheduled batches: their rules, workflow and activities.
var ofBatch = []mutant{
	{
		name: "batch-early", requirement: "V-01", tests: batchRuns,
		why:   "a batch is applied before its time",
		edits: alone("batch/next.go", "due.After(now)", "due.After(now.Add(time.Second))"),
	},
	{
		name: "batch-some-are-all", requirement: "V-10", tests: batchRules,
		why:   "a batch of which some was rejected shows as complete",
		edits: alone("batch/outcome.go", "\tcase failed == 0:\n", "\tcase complete > 0:\n"),
	},
	{
		name: "batch-rejection-not-final", requirement: "V-12", tests: batchRules,
		why:   "what the other side rejected is sent to it again and again",
		edits: alone("batch/outcome.go", "return state == gnomonv1.ChangeStatus_COMPLETE || state == gnomonv1.ChangeStatus_FAILED", "return state == gnomonv1.ChangeStatus_COMPLETE"),
	},
	{
		name: "batch-doubt-forgotten", requirement: "V-16", tests: batchRules,
		why:   "what a lost worker has done itself sends the batch to review",
		edits: alone("batch/outcome.go", "c.GetStatus().GetAttempts() > 0", "c.GetStatus().GetAttempts() > 1"),
	},
	{
		name: "batch-changed-while-processing", requirement: "V-20", tests: batchRuns,
		why:   "a batch is cancelled while its changes are made",
		edits: alone("batch/command.go", "state != Allowed(name) {", "state != Allowed(name) && state != gnomonv1.BatchStatus_PROCESSING {"),
	},
	{
		name: "batch-reviewed-before-its-time", requirement: "V-18", tests: batchRules,
		why:   "a retry applies a batch that waits for its time",
		edits: alone("batch/command.go", "state != Allowed(name) {", "state != Allowed(name) && name != workflowv1.CommandReview {"),
	},
	{
		name: "batch-command-twice", requirement: "P-02", tests: batchRules,
		why:   "a command that comes as an update and as a signal is applied twice",
		edits: alone("batch/command.go", "\tremember(s, c)\n", ""),
	},
	{
		name: "batch-rounds-not-counted", requirement: "V-17", tests: batchRules,
		why:   "the second round has the fences and the notice of the first",
		edits: alone("batch/round.go", "\t\tst.Round++\n", ""),
	},
	{
		name: "batch-review-untold", requirement: "V-17", tests: batchRuns,
		why:   "nobody knows that a batch waits for a person",
		edits: alone("batch/round.go", "s.Owed, s.NoticeOwed = false, true", "s.Owed, s.NoticeOwed = false, false"),
	},
	{
		name: "batch-progress-of-the-past", requirement: "issue 5, current details", tests: batchRules,
		why:   "a worker that was given up turns the progress back",
		edits: alone("batch/progress.go", "finishedBy(heard) < finishedBy(known)", "finishedBy(heard) > finishedBy(known)"),
	},
	{
		name: "batch-not-accepted-by-workflow", requirement: "V-04", tests: batchRuns,
		why:   "a batch whose facade was lost after the start is never seen",
		edits: alone("workflows/batch_process.go", "\tif b.state.GetAccepted() {\n", "\tif b.state != nil {\n"),
	},
	{
		name: "batch-timer-before-commands", requirement: "V-20", tests: batchRuns,
		why:   "what was cancelled while no worker ran is applied",
		edits: alone("workflows/batch.go", "\t\tb.drain()\n\t\tb.step()\n", "\t\tb.step()\n\t\tb.drain()\n"),
	},
	{
		name: "batch-cancellation-unheard", requirement: "V-20", tests: batchRuns,
		why:   "Temporal's own cancellation waits for the batch's time",
		edits: alone("workflows/batch.go", "len(b.arrivals.signals) > 0 || b.cancelPending() ||", "len(b.arrivals.signals) > 0 ||"),
	},
	{
		name: "batch-handed-over-in-a-round", requirement: "V-13", tests: batchRuns,
		why:   "the next run begins a round that still runs",
		edits: alone("workflows/batch.go", "return b.process == nil && b.write == nil", "return b.write == nil"),
	},
	{
		name: "batch-closes-unstored", requirement: "V-06", tests: batchRuns,
		why: "a batch that was cancelled stands as pending for ever",
		edits: []edit{
			{"workflows/batch.go", "!b.state.GetOwed() && !b.state.GetNoticeOwed() && b.idle()", "b.idle()"},
			{"workflows/batch.go", "b.process == nil && b.write == nil && b.notice == nil", "b.process == nil"},
		},
	},
	{
		name: "batch-closes-untold", requirement: "V-17", tests: batchRuns,
		why:   "a notice that has to be tried again ends with its run",
		edits: alone("workflows/batch.go", "b.write == nil && b.notice == nil", "b.write == nil"),
	},
	{
		name: "batch-told-before-stored", requirement: "V-17", tests: batchRuns,
		why:   "who is told reads another state than he was told",
		edits: alone("workflows/batch_process.go", "if !b.state.GetNoticeOwed() || b.state.GetOwed() {", "if !b.state.GetNoticeOwed() {"),
	},
	{
		name: "batch-told-twice", requirement: "V-17", tests: batchRuns,
		why:   "an on-call engineer is woken twice for one review",
		edits: alone("workflows/batch_process.go", "\tb.state.NoticeOwed = false\n", "\tb.state.NoticeOwed = b.stopNotice == nil\n"),
	},
	{
		name: "batch-stored-once", requirement: "V-06", tests: batchRuns,
		why:   "a change made while a head is being stored is never stored",
		edits: alone("workflows/batch_process.go", "if b.writing == b.state.GetHead().GetRevision() {", "if b.writing <= b.state.GetHead().GetRevision() {"),
	},
	{
		name: "batch-among-actions", requirement: "V-15", tests: batchRuns,
		why:   "a worker process takes many batches at once",
		edits: alone("workflows/batch_process.go", "\t\tTaskQueue:           workflowv1.BatchTaskQueue(workflow.GetInfo(b.ctx).TaskQueueName),\n", ""),
	},
	{
		name: "batch-tried-for-ever", requirement: "V-19", tests: batchRuns,
		why:   "a batch that cannot be processed never comes to a person",
		edits: alone("workflows/batch_process.go", "\t\t\tMaximumAttempts: b.options.BatchAttempts,\n", ""),
	},
	{
		name: "batch-outcome-not-marked", requirement: "issue 5, search", tests: batchRuns,
		why:   "nobody can search for the batches that wait for him",
		edits: alone("workflows/batch.go", "case gnomonv1.BatchStatus_MANUAL_REVIEW, gnomonv1.BatchStatus_PARTIAL_FAILURE,", "case gnomonv1.BatchStatus_PARTIAL_FAILURE,"),
	},
	{
		name: "batch-problem-ignored", requirement: "V-09", tests: batchRuns,
		why:   "a batch that is no longer valid is applied",
		edits: alone("activities/process.go", "if len(problems) > 0 { // V-09", "if len(problems) > 1 { // V-09"),
	},
	{
		name: "batch-all-validated-again", requirement: "V-16", tests: batchRuns,
		why:   "what a batch has done itself stands against it",
		edits: alone("activities/process.go", "\tfor _, index := range batch.Unfinished(p.row.Batch.GetChanges()) {\n\t\tall = append", "\tfor index := range p.row.Batch.GetChanges() {\n\t\tall = append"),
	},
	{
		name: "batch-doubt-is-done", requirement: "V-12", tests: batchRuns,
		why:   "a change whose answer was lost counts as applied",
		edits: alone("activities/process.go", "\t\tend.Doubt = shorten(applied.Error())\n", ""),
	},
	{
		name: "batch-rejection-stops-it", requirement: "V-10", tests: batchRuns,
		why:   "one rejected change keeps those after it from being applied",
		edits: alone("activities/process.go", "\t\tend.Rejection = shorten(applied.Error())\n", "\t\tend.Doubt = shorten(applied.Error())\n"),
	},
	{
		name: "batch-attempt-not-fenced", requirement: "V-14", tests: batchRuns,
		why:   "attempts of one round cannot be told apart: the first shuts out those after it",
		edits: alone("activities/process.go", "uint32(info.Attempt))", "uint32(info.Attempt-info.Attempt))"),
	},
	{
		name: "batch-notice-of-another-state", requirement: "V-17", tests: batchRuns,
		why:   "people are called to a review that is over",
		edits: alone("activities/notify.go", "st.GetState() != in.GetState() || st.GetRound() != in.GetRound()", "st.GetRound() != in.GetRound()"),
	},
}
