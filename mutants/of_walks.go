package main

// Tests of a walk's rules, of its workflow in skipped time, and of its activities in a
// bubble of time.
var (
	walkRules = []target{{pkg: "./entity", run: "Walk"}}
	walkRuns  = []target{{pkg: "./workflows", run: "^TestRewalk"}}
	walksMade = []target{{pkg: "./activities", run: "^TestA.*Page|Walk"}}
	walksKept = []target{{pkg: "./replay", run: "Rewalk"}}
	walksHeld = []target{{pkg: "./starter", run: "Walk"}}
)

// ofWalks are bugs of walks of a stage through all entities of its type.
var ofWalks = []mutant{
	{
		name: "walk-from-the-start", requirement: "G-30", tests: walkRules,
		why:   "every page begins at the first entity, and a walk never ends",
		edits: alone("entity/rewalk.go", "After: s.GetWalk().GetPosition(),", ""),
	},
	{
		name: "walk-asks-though-unconditional", requirement: "G-30", tests: walkRules,
		why:   "an unconditional walk asks, and leaves out who says no",
		edits: alone("entity/rewalk.go", "Rate: s.GetRate(), Unconditional: s.GetUnconditional(),", "Rate: s.GetRate(),"),
	},
	{
		name: "walk-goes-back", requirement: "G-30", tests: walkRules,
		why:   "after a page that was given up at once a walk begins again",
		edits: alone("entity/rewalk.go", "max(s.GetWalk().GetPosition(), r.GetPosition())", "r.GetPosition()"),
	},
	{
		name: "walk-done-is-cancelled", requirement: "G-30", tests: walkRules,
		why:   "a walk that was done is told as cancelled to who came too late",
		edits: alone("entity/rewalk.go", "if s.GetWalk().GetState() == gnomonv1.Rewalk_RUNNING {", "if s != nil {"),
	},
	{
		name: "walk-page-unbounded", requirement: "G-30", tests: walkRules,
		why:   "a page at a high rate outlives its timeout",
		edits: alone("entity/rewalk.go", "max(1, min(limit, maxWalkPage))", "max(1, limit)"),
	},
	{
		name: "walk-asks-a-crowd", requirement: "G-30", tests: walkRules,
		why:   "a fast walk puts thousands of questions to its stage at once",
		edits: alone("entity/rewalk.go", "max(1, min(rate/5, maxChunk))", "max(1, rate/5)"),
	},
	{
		name: "walk-counts-again", requirement: "G-30", tests: walkRuns,
		why:   "the next run begins the walk anew: its start moves and its progress jumps",
		edits: alone("workflows/rewalk.go", "if r.state.GetIncarnation() != nil {", "if r.state.GetIncarnation() != nil && r.state.GetSequence() == 0 {"),
	},
	{
		name: "walk-grows-for-ever", requirement: "issue 7, continue as new", tests: walkRuns,
		why:   "a walk of millions fills its history to the server's limit",
		edits: alone("workflows/rewalk.go", "GetContinueAsNewSuggested() && !r.told()", "GetContinueAsNewSuggested() && r.told()"),
	},
	{
		name: "walk-cancel-lost-between-runs", requirement: "G-30", tests: walkRuns,
		why:   "a cancellation that meets a full history is lost with the run",
		edits: alone("workflows/rewalk.go", "GetContinueAsNewSuggested() && !r.told()", "GetContinueAsNewSuggested()"),
	},
	{
		name: "walk-deaf-to-signals", requirement: "G-30", tests: walkRuns,
		why:   "nobody but Temporal can cancel a walk",
		edits: alone("workflows/rewalk.go", "workflowv1.SignalCancelRewalk).Len() > 0", "workflowv1.SignalCancelRewalk).Len() > 1"),
	},
	{
		name: "walk-deaf-to-temporal", requirement: "G-30", tests: walkRuns,
		why:   "a walk that is cancelled in the Web UI goes on",
		edits: alone("workflows/rewalk.go", "return r.root.Err() != nil || ", "return "),
	},
	{
		name: "walk-ends-its-page-first", requirement: "G-30", tests: walkRuns,
		why:   "a walk that is cancelled goes on to the end of a page, minutes where its stage is slow",
		edits: alone("workflows/rewalk.go", "\tif !walked.IsReady() {\n\t\tgiveUp()\n\t}\n", "\t_ = giveUp\n"),
	},
	{
		name: "walk-forgets-what-it-passed", requirement: "G-30", tests: walksKept,
		why:   "what was passed before a cancellation is not counted",
		edits: alone("workflows/rewalk.go", "WaitForCancellation: true,", "WaitForCancellation: false,"),
	},
	{
		name: "walk-rows-of-one-number", requirement: "G-30", tests: walkRuns,
		why:   "the store keeps the first row of a walk and takes no other",
		edits: alone("workflows/rewalk.go", "r.state.Sequence++", "r.state.Sequence = 1"),
	},
	{
		name: "walk-starts-over", requirement: "G-30", tests: walksMade,
		why:   "an attempt after a lost worker goes through its page again and counts twice",
		edits: alone("activities/rewalk.go", "if activity.HasHeartbeatDetails(ctx) {", "if !activity.HasHeartbeatDetails(ctx) {"),
	},
	{
		name: "walk-passes-failures", requirement: "G-30", tests: walksMade,
		why:   "entities whose visit could not be told are left out",
		edits: alone("activities/rewalk.go", "if err := errors.Join(errs...); err != nil {", "if err := errors.Join(errs...); err != nil && len(errs) == 0 {"),
	},
	{
		name: "walk-floods-its-stage", requirement: "G-30", tests: walksMade,
		why:   "a walk fills the queue of its stage without bound",
		edits: alone("activities/rewalk.go", "\t\t\tp.room--\n", ""),
	},
	{
		name: "walk-waits-for-ever", requirement: "G-30", tests: walksMade,
		why:   "a page that waits for its stage never says how far it came, and times out",
		edits: alone("activities/rewalk.go", "time.Now().After(p.ends) || ", ""),
	},
	{
		name: "walk-in-front", requirement: "G-31", tests: walksMade,
		why:   "real changes wait behind a walk",
		edits: alone("activities/rewalk.go", "Background: true, ", ""),
	},
	{
		name: "walk-without-rate", requirement: "G-30", tests: walksMade,
		why:   "a walk loads its stage as fast as it can",
		edits: alone("activities/rewalk.go", "time.Until(began.Add(pace.After(passed)))", "time.Until(began.Add(0*pace.After(passed)))"),
	},
	{
		name: "walk-deaf-while-it-waits", requirement: "G-30", tests: walksMade,
		why:   "a page does not hear that it is given up until its time has passed",
		edits: alone("activities/rewalk.go", "\t\tcase <-ctx.Done():\n\t\t\treturn false\n", ""),
	},
	{
		name: "walk-holds-its-worker", requirement: "G-30", tests: walksMade,
		why:   "a worker that is stopped waits for its walk, and loses the page",
		edits: alone("activities/rewalk.go", "\t\tcase <-activity.GetWorkerStopChannel(ctx):\n\t\t\treturn false\n", ""),
	},
	{
		name: "walk-ends-early", requirement: "G-30", tests: walksMade,
		why:   "a page that ends with a full read is taken for the last",
		edits: alone("activities/rewalk.go", "if len(some) < limit {", "if len(some) <= limit {"),
	},
	{
		name: "walk-stumbles-over-gaps", requirement: "G-30", tests: walksMade,
		why:   "an entity that is deleted while it is asked about stops the walk",
		edits: alone("activities/rewalk.go", "if errors.Is(err, store.ErrNotFound) {", "if errors.Is(err, store.ErrVersion) {"),
	},
	{
		name: "walk-timer-is-a-visit", requirement: "G-15", tests: walksMade,
		why:   "a stage that names a moment is called at once",
		edits: alone("activities/rewalk.go", "wanted.Timer = answer.GetTimer()", "_ = answer.GetTimer()"),
	},
	{
		name: "walk-cancel-answers-at-once", requirement: "G-30", tests: walksHeld,
		why:   "who cancels a walk is told that it runs",
		edits: alone("starter/rewalks.go", "err = s.Client.GetWorkflow(wait, id, \"\").Get(wait, ended)", "_ = wait\n\tended, err = s.walk(ctx, stage.Name)"),
	},
}
