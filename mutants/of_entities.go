package main

var (
	// entityRules are the rules of every store, on SQLite.
	entityRules = []target{{pkg: "./store/sqlite", run: "^TestConformance$/^memory$"}}
	// lostChanges are changes on YDB whose answers are lost.
	lostChanges = []target{{pkg: "./store/ydb", run: "^(TestEachFaultAtEachStatementOfEntities|TestChangesThatWereOvertaken)$/^answer_lost$"}}
)

// The rules that all stores of entities share.
const (
	ruleOfEntities = "store/internal/dossier/entity.go"
	ruleOfFields   = "store/internal/dossier/fields.go"
	ruleOfStates   = "store/internal/dossier/state.go"
	ruleOfVisits   = "store/internal/dossier/visit.go"
	ruleOfSlots    = "store/internal/dossier/slot.go"
)

// ofEntities are bugs of what may become of entities, states, turns, records and slots.
var ofEntities = []mutant{
	{
		name: "entity-version-not-checked", requirement: "G-09", tests: entityRules,
		why:   "of two callers who both read one version, one loses his change",
		edits: alone(ruleOfEntities, "case p.Version != 0 && (!had.Stands() || p.Version != had.version()):", "case p.Version != 0 && !had.Stands():"),
	},
	{
		name: "entity-equal-content-is-a-change", requirement: "G-24", tests: entityRules,
		why:   "two stages that write what stands ask each other for ever",
		edits: alone(ruleOfEntities, "if e.Stands() && len(fields) == 0 {", "if e.Stands() && len(fields) == 0 && key.Type == \"\" {"),
	},
	{
		name: "entity-request-of-another-digest", requirement: "issue 7, PutEntity", tests: entityRules,
		why:   "a put that used a request_id of another is thought to be done",
		edits: alone(ruleOfEntities, "case known != nil && known.Digest != p.Digest:", "case known != nil && known.Digest > p.Digest:"),
	},
	{
		name: "entity-request-forgotten", requirement: "issue 7, PutEntity", tests: entityRules,
		why:   "a put whose answer was lost undoes what others wrote since",
		edits: alone(ruleOfEntities, "if p.RequestID != \"\" {", "if p.RequestID != \"\" && !result.Changed {"),
	},
	{
		name: "entity-versions-begin-anew", requirement: "G-22", tests: entityRules,
		why:   "a visit of a deleted entity is committed to the one that was put again",
		edits: alone(ruleOfEntities, "Content: proto.CloneOf(content), Version: e.version() + 1,", "Content: proto.CloneOf(content), Version: e.entity().GetVersion() + 1,"),
	},
	{
		name: "entity-record-without-a-number", requirement: "G-12", tests: entityRules,
		why:   "who publishes cannot tell the order of two commits",
		edits: alone(ruleOfEntities, "\te.Sequence++\n", "\te.Sequence = max(e.Sequence, 1)\n"),
	},
	{
		name: "entity-field-removed-unseen", requirement: "G-29", tests: entityRules,
		why:   "a stage with an interest in a field is not asked when it is removed",
		edits: alone(ruleOfFields, "if _, ok := after.GetFields()[name]; !ok {", "if _, ok := after.GetFields()[name]; !ok && len(after.GetFields()) == 0 {"),
	},
	{
		name: "entity-null-is-no-field", requirement: "G-29", tests: entityRules,
		why:   "a field that was added with null is no change",
		edits: alone(ruleOfFields, "if !ok || !proto.Equal(had, value) {", "if !proto.Equal(had, value) && (ok || value.AsInterface() != nil) {"),
	},
	{
		name: "state-version-not-checked", requirement: "G-18", tests: entityRules,
		why:   "a compare-and-set overwrites what it has not seen",
		edits: alone(ruleOfStates, "if state.Shown().GetVersion() != u.Version {", "if state.Shown().GetVersion() > u.Version+1 {"),
	},
	{
		name: "state-version-of-the-next-life", requirement: "G-19", tests: entityRules,
		why:   "a compare-and-set meant for a deleted entity's state hits that of the next",
		edits: alone(ruleOfStates, "State: &gnomonv1.StageState{Version: s.State.GetVersion()}, Gone: true,", "State: &gnomonv1.StageState{}, Gone: true,"),
	},
	{
		name: "state-outlives-the-entity", requirement: "G-07", tests: entityRules,
		why:   "an entity put again has the private states of the one before",
		edits: alone(ruleOfStates, "if s == nil || s.Gone {", "if s == nil {"),
	},
	{
		name: "state-without-a-record", requirement: "G-12", tests: entityRules,
		why:   "nobody hears of a state that was set from outside",
		edits: alone(ruleOfStates, "\tchange.States = []*State{next}\n", "\tchange.States, change.Record = []*State{next}, nil\n"),
	},
	{
		name: "visit-of-a-stale-entity", requirement: "G-22", tests: entityRules,
		why:   "a commit overwrites what somebody changed during the visit",
		edits: alone(ruleOfVisits, "case had.version() != c.EntityVersion || ", "case had.version() < c.EntityVersion || "),
	},
	{
		name: "visit-of-a-stale-state", requirement: "G-19", tests: entityRules,
		why:   "a commit overwrites a state that was set from outside during the visit",
		edits: alone(ruleOfVisits, " || state.Shown().GetVersion() != c.StateVersion:", " || state.Shown().GetVersion() < c.StateVersion:"),
	},
	{
		name: "visit-without-the-turn", requirement: "G-25", tests: entityRules,
		why:   "a worker that was given up commits beside the one that works now",
		edits: alone(ruleOfVisits, "case !turn.is(c.Holder):", "case turn == nil:"),
	},
	{
		name: "visit-committed-twice", requirement: "G-11", tests: entityRules,
		why:   "a commit whose answer was lost is made again over what came since",
		edits: alone(ruleOfVisits, "if s == nil || s.Result == nil || s.VisitID != visitID {", "if s == nil || s.Result == nil || s.VisitID != visitID || s.Result.GetChanged() {"),
	},
	{
		name: "visit-keeps-the-turn", requirement: "G-26", tests: entityRules,
		why:   "after each commit the entity's other stages wait until the turn runs out",
		edits: alone(ruleOfVisits, "\tchange.EndTurn = true\n", "\tchange.EndTurn = change.Record != nil\n"),
	},
	{
		name: "visit-of-an-attempt-beside", requirement: "G-25", tests: entityRules,
		why:   "two stages work on one entity at a time",
		edits: alone(ruleOfVisits, "case turn != nil && b.At.Before(turn.Until):", "case turn != nil && b.At.Add(time.Second).Before(turn.Until):"),
	},
	{
		name: "visit-turn-made-shorter", requirement: "G-25", tests: entityRules,
		why:   "a late heartbeat gives the turn away",
		edits: alone(ruleOfVisits, "if until.Before(t.Until) {", "if until.Before(t.Until) && t.Holder == \"\" {"),
	},
	{
		name: "visit-state-in-no-record", requirement: "G-13", tests: entityRules,
		why:   "a stage is not told the state that was saved",
		edits: alone(ruleOfVisits, "\t\t\tchange.Record.State = saved.Shown()\n", "\t\t\tchange.Record.State = state.Shown()\n"),
	},
	{
		name: "visit-deletion-not-recognised", requirement: "G-11", tests: entityRules,
		why:   "a stage that deletes an entity and loses the answer deletes the one put again",
		edits: alone(ruleOfVisits, "change.States = emptied(replaced(states, saved))", "change.States = emptied(states)"),
	},
	{
		name: "slot-one-too-many", requirement: "G-33", tests: entityRules,
		why:   "one more call than the limit is made at a time",
		edits: alone(ruleOfSlots, "if others >= s.Limit {", "if others > s.Limit {"),
	},
	{
		name: "slot-own-counts-twice", requirement: "G-33", tests: entityRules,
		why:   "who keeps its slot is refused when all are taken",
		edits: alone(ruleOfSlots, "\t\t\treturn nil, nil // it keeps its own\n", "\t\t\tothers++\n"),
	},
	{
		name: "slot-of-the-dead", requirement: "G-33", tests: entityRules,
		why:   "the slots of a worker that was lost are never free again",
		edits: alone(ruleOfSlots, "\t\tcase s.At.Before(slot.Until):\n\t\t\tothers++\n", "\t\tcase !s.At.After(slot.Until):\n\t\t\tothers++\n"),
	},
	{
		name: "forgotten-entities-skipped", requirement: "G-12", tests: entityRules,
		why:   "an entity whose workflow was not told is never found, as the one before it has many records",
		edits: alone("store/internal/dossier/distinct.go", "if len(page) < limit || len(found) == limit {", "if len(page) <= limit || len(found) == limit {"),
	},
	{
		name: "queue-older-write", requirement: "G-34", tests: entityRules,
		why:   "a late write shows an entity in queues that it has left",
		edits: alone("store/sqlite/stagequeue.go", "|| stands >= revision {", "|| stands > revision {"),
	},
	{
		name: "queue-newest-first", requirement: "G-36", tests: entityRules,
		why:   "who looks at a queue does not see what waits longest",
		edits: alone("store/sqlite/statements_entities.go", "orderPeek = ` ORDER BY enqueued_at, entity_type, entity_id LIMIT @limit`", "orderPeek = ` ORDER BY enqueued_at DESC, entity_type, entity_id LIMIT @limit`"),
	},
	{
		name: "ydb-commit-not-recognised", requirement: "G-11", tests: lostChanges,
		why:   "a put whose answer was lost says that nothing changed, and no stage is asked",
		edits: alone("store/ydb/attempt.go", "if had.MadeBy(a.commitID) {", "if had.MadeBy(a.commitID) && !a.unsure {"),
	},
	{
		name: "ydb-overtaken-change-refused", requirement: "G-09", tests: lostChanges,
		why:   "a caller that was told of a conflict repeats what was done",
		edits: alone("store/ydb/attempt.go", "a.unsure && had.LastSequence() != a.saw", "a.unsure && had.LastSequence() < a.saw"),
	},
}
