package main

// Tests of the rules of entities, of their workflow in skipped time, and of a worker's
// activities on a real store.
var (
	visitRules = in("entity")
	visitRuns  = []target{{pkg: "./workflows", run: "^TestEntity[^L]"}}
	visitsMade = []target{{pkg: "./activities", run: "Visit|AskStages|PublishSaved|MirrorQueue|Parallelism|Rate|Turnstile"}}
)

// ofVisits are bugs of who visits an entity, when, and what becomes of that.
var ofVisits = []mutant{
	{
		name: "visit-event-lost", requirement: "G-05", tests: visitRules,
		why:   "a change that comes while a stage works is never seen by it",
		edits: alone("entity/visit.go", "\t\treturn\n\t}\n\ts.AskAgain = union(s.GetAskAgain(), []string{stage})\n", "\t\treturn\n\t}\n"),
	},
	{
		name: "visit-asks-itself", requirement: "G-23", tests: visitRules,
		why:   "a stage is asked about its own change",
		edits: alone("entity/ask.go", "in.Except = slices.Clone(s.GetSeen())", "in.Except = nil"),
	},
	{
		name: "visit-asks-who-waits", requirement: "G-27", tests: visitRules,
		why:   "stages that are pending are asked, those that wait for a walk are not",
		edits: alone("entity/ask.go", "if !p.GetBackground() {", "if p.GetBackground() {"),
	},
	{
		name: "visit-unknown-fields", requirement: "G-29", tests: visitRules,
		why:   "of a change whose fields nobody told only some stages hear",
		edits: alone("entity/state.go", "if len(fields) == 0 || len(s.GetChangedFields()) > MaxFields {", "if len(s.GetChangedFields()) > MaxFields {"),
	},
	{
		name: "visit-missed-more", requirement: "G-29", tests: visitRules,
		why:   "a stage that missed a version is asked by the fields of another alone",
		edits: alone("entity/ask.go", "in.Also = slices.DeleteFunc(", "_ = slices.DeleteFunc("),
	},
	{
		name: "visit-timer-kept-wrongly", requirement: "G-16", tests: visitRules,
		why:   "a timer that a stage keeps is disarmed, one that it does not is kept",
		edits: alone("entity/visit.go", "} else if !r.GetKeepTimer() {", "} else if r.GetKeepTimer() {"),
	},
	{
		name: "visit-timer-early", requirement: "G-06", tests: visitRules,
		why:   "a stage that plans itself comes before its time",
		edits: alone("entity/timer.go", "if now.Before(t.GetDueTime().AsTime()) {", "if now.Add(time.Second).Before(t.GetDueTime().AsTime()) {"),
	},
	{
		name: "visit-impatient", requirement: "G-25", tests: visitRules,
		why:   "all stages are sent at once and meet before the turn",
		edits: alone("entity/visit.go", "visits = ready[:1]", "visits = ready"),
	},
	{
		name: "visit-slow-stage-holds-up", requirement: "G-26", tests: visitRules,
		why:   "an entity in the queue of a stage that is down is visited by no other",
		edits: alone("entity/visit.go", "case now.Before(latest.Add(p.Patience)):", "case now.Before(latest.Add(1000 * p.Patience)):"),
	},
	{
		name: "visit-walk-first", requirement: "G-31", tests: visitRules,
		why:   "real changes wait behind a walk",
		edits: alone("entity/visit.go", "if a.GetBackground() {\n\t\t\treturn 1", "if a.GetBackground() {\n\t\t\treturn -1"),
	},
	{
		name: "visit-not-upgraded", requirement: "G-31", tests: visitRules,
		why:   "a real change waits where the walk has put its stage",
		edits: alone("entity/state.go", "p.Upgraded = p.GetVisit() != 0", "p.Upgraded = false"),
	},
	{
		name: "visit-cascade-unbounded", requirement: "G-28", tests: visitRules,
		why:   "stages that change in circles take all there is",
		edits: alone("entity/visit.go", "if s.GetCascade() > p.CascadeCap {", "if s.GetCascade() > 1000*p.CascadeCap {"),
	},
	{
		name: "visit-retried-at-once", requirement: "G-10", tests: visitRules,
		why:   "a stage that fails is called without a pause",
		edits: alone("entity/visit.go", "p.retryDelay(entry.GetFailures())", "0"),
	},
	{
		name: "visit-gone-not-asked", requirement: "G-27", tests: visitRules,
		why:   "an entity that was put again is not seen by whoever had found it gone",
		edits: alone("entity/visit.go", "\t\ts.AskAgain = union(s.GetAskAgain(), []string{stage})\n\t\treturn true\n", "\t\treturn true\n"),
	},
	{
		name: "visit-gone-takes-news-along", requirement: "G-27", tests: visitRules,
		why:   "nobody is asked about an entity that was put again while its absence was reported",
		edits: alone("entity/ask.go", "gone(s, in.GetVersion())", "gone(s, s.GetVersion())"),
	},
	{
		name: "visit-question-forgotten", requirement: "G-27", tests: visitRules,
		why:   "a question that a run did not wait for is put by the next about other fields",
		edits: alone("entity/ask.go", "\tnote(s, in.GetFields())\n", ""),
	},
	{
		name: "visit-walk-asks-all", requirement: "G-30", tests: visitRules,
		why:   "a walk of one stage has all stages asked about every entity",
		edits: alone("entity/visit.go", "if s.GetVersion() == 0 && !r.GetChanged() {", "if s.GetVersion() < 0 && !r.GetChanged() {"),
	},
	{
		name: "visit-null-kept", requirement: "G-16", tests: visitRules,
		why:   "a patch cannot remove a field",
		edits: alone("entity/update.go", "delete(merged, name)", "merged[name] = value"),
	},
	{
		name: "visit-patch-replaces", requirement: "G-16", tests: visitRules,
		why:   "a patch of one inner field drops its neighbours",
		edits: alone("entity/update.go", "merge(merged[name].GetStructValue(), kind.StructValue)", "kind.StructValue"),
	},
	{
		name: "visit-answer-unchecked", requirement: "G-16", tests: visitRules,
		why:   "a stage stores what no caller could, and nobody can read",
		edits: alone("entity/update.go", "broken(ValidateContent(\"content\", u.Content))", "error(nil)"),
	},
	{
		name: "entity-ends-unpublished", requirement: "G-12", tests: visitRuns,
		why:   "a record waits for its publisher with nobody who tries again",
		edits: alone("workflows/entity_owed.go", "\te.state.PublishOwed, e.publishAgain = true, true\n", "\te.state.PublishOwed, e.publishAgain = e.publish == nil && len(e.visits) > 100, true\n"),
	},
	{
		name: "entity-untold-change", requirement: "G-27", tests: visitRuns,
		why:   "a change whose facade died is published, and its stages never hear of it",
		edits: alone("workflows/entity_owed.go", "published.GetVersion(), nil", "0*published.GetVersion(), nil"),
	},
	{
		name: "entity-handed-over-in-a-visit", requirement: "G-25", tests: visitRuns,
		why:   "the next run sends a stage that still works",
		edits: alone("workflows/entity.go", "return len(e.visits) == 0 && e.question == nil && !e.waiting() && workflow", "return e.question == nil && !e.waiting() && workflow"),
	},
	{
		name: "entity-held-up-by-a-queue", requirement: "issue 7, continue as new", tests: visitRuns,
		why:   "a stage that is down keeps histories growing to the server's limit",
		edits: alone("workflows/entity.go", "\tfor _, v := range e.visits {\n\t\tv.callBack()\n\t}\n", ""),
	},
	{
		name: "entity-rows-stay", requirement: "G-34", tests: visitRuns,
		why:   "an entity that nobody waits for stays in the queue for readers",
		edits: alone("workflows/entity_owed.go", "len(in.GetEntries()) == 0 && !e.state.GetQueued()", "len(in.GetEntries()) == 0"),
	},
	{
		name: "entity-visits-of-one-name", requirement: "G-11", tests: visitRuns,
		why:   "a second visit counts as the first, which was committed, and is not made",
		edits: alone("workflows/entity_visits.go", "info.FirstRunID, v.number)", "info.FirstRunID, 1)"),
	},
	{
		name: "ask-failure-is-no", requirement: "G-14", tests: visitsMade,
		why:   "a change is lost on a stage that could not answer",
		edits: alone("activities/entities.go", "\t\treturn yes\n\t}\n\tswitch answer", "\t\treturn nil\n\t}\n\tswitch answer"),
	},
	{
		name: "ask-whom-it-concerns-not", requirement: "G-29", tests: visitsMade,
		why:   "stages are asked about fields that they declared no interest in",
		edits: alone("activities/entities.go", "return slices.ContainsFunc(in.GetFields()", "return true || slices.ContainsFunc(in.GetFields()"),
	},
	{
		name: "visit-gives-up-on-conflict", requirement: "G-22", tests: visitsMade,
		why:   "a visit that met an outside writer is not made again on fresh data",
		edits: alone("activities/visit.go", "if !errors.Is(err, store.ErrVersion) {", "if !errors.Is(err, store.ErrVersion) || true {"),
	},
	{
		name: "visit-keeps-its-slot", requirement: "G-33", tests: visitsMade,
		why:   "a visit that found the entity busy blocks its stage",
		edits: alone("activities/visit.go", "\tv.passSlot(begun)\n}\n", "\tif !turn.IsZero() {\n\t\tv.passSlot(begun)\n\t}\n}\n"),
	},
	{
		name: "visit-parallelism-ignored", requirement: "G-33", tests: visitsMade,
		why:   "workers together call a stage more often at a time than it bears",
		edits: alone("activities/visit.go", "if v.stage.Parallelism > 0 {", "if v.stage.Parallelism > 1000 {"),
	},
	{
		name: "visit-rate-exceeded", requirement: "G-32", tests: visitsMade,
		why:   "workers together call a stage more often a second than it bears",
		edits: alone("activities/stagelimits.go", "Limit: count, Span: span,", "Limit: count, Span: span / 2,"),
	},
	{
		name: "visit-works-without-its-turn", requirement: "G-25", tests: visitsMade,
		why:   "a worker that the store does not hear works on beside the next",
		edits: alone("activities/visit.go", "\t\tv.lose(store.ErrTurnLost)\n", "\t\t_ = v.lose\n"),
	},
	{
		name: "visit-walk-in-line", requirement: "G-31", tests: visitsMade,
		why:   "within a worker real changes wait behind a walk",
		edits: alone("activities/stagelimits.go", "line = 1", "line = 0"),
	},
	{
		name: "visit-row-at-each-failure", requirement: "G-26", tests: []target{{pkg: "./workflows", run: "^TestEntityFailingStage$"}},
		why:   "a stage that is down costs the others an activity and a write for each of its tries",
		edits: alone("entity/visit.go", "entry.Error, entry.Again = r.GetError(), false\n", "entry.Error, entry.Again, s.QueueOwed = r.GetError(), false, true\n"),
	},
	{
		name: "visit-of-nobody-takes-the-turn", requirement: "G-26", tests: visitsMade,
		why:   "a stage that is down takes limits and turns for calls that fail at once",
		edits: alone("activities/visit.go", "if err := stage.Absent(); err != nil && info.Attempt == 1 {", "if err := stage.Absent(); err != nil && info.Attempt == 0 {"),
	},
	{
		name: "stage-that-is-down-unknown", requirement: "G-26", tests: []target{{pkg: "./stages", run: "^TestStagesComeAndGo$"}},
		why:   "nobody knows of a server that cannot be reached without calling it",
		edits: alone("stages/remote.go", "r.conn.GetState() == connectivity.TransientFailure", "r.conn.GetState() == connectivity.Shutdown"),
	},
}
