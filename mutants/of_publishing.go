package main

var (
	publishing = []target{{pkg: "./publish", run: "^(TestOnSaved|TestMulti|TestKafkaRecords)$"}}
	calling    = []target{{pkg: "./stages", run: "^(TestAnAnswerIsNeeded|TestStagesOfTheProgramGetACopy)$"}}
)

// ofPublishing are bugs of what is told of saved entities, and of calls of stages.
var ofPublishing = []mutant{
	{
		name: "state-is-published-to-all", requirement: "G-13", tests: publishing,
		why:   "who reads the topic reads what a stage keeps for itself",
		edits: alone("publish/private.go", "	r.State = nil", "	r.State = r.GetState()"),
	},
	{
		name: "state-is-told-to-other-stages", requirement: "G-13", tests: publishing,
		why:   "a stage is told what another keeps for itself",
		edits: alone("publish/private.go", "if r.GetStage() == stage {", "if r.GetStage() != \"\" {"),
	},
	{
		name: "records-of-an-entity-in-many-partitions", requirement: "G-12", tests: publishing,
		why:   "readers see an entity's records out of order",
		edits: alone("publish/kafka.go", "Key: []byte(keyOf(r))", "Key: []byte(r.GetCommitId())"),
	},
	{
		name: "published-again-to-all", requirement: "G-12", tests: publishing,
		why:   "a stage that is down for a day fills the topic",
		edits: alone("publish/multi.go", "			if err == nil {\n				had[i] = true", "			if err != nil {\n				had[i] = true"),
	},
	{
		name: "no-answer-is-a-no", requirement: "G-14", tests: calling,
		why:   "a change is not seen by a stage that did not say that it need not",
		edits: alone("stages/guard.go", "if r.GetAnswer() == nil {", "if r == nil {"),
	},
	{
		name: "stages-share-what-they-are-asked-about", requirement: "G-10", tests: calling,
		why:   "what a stage does to its copy is seen by the others, or saved",
		edits: alone("stages/guard.go", "		r = proto.CloneOf(r)", "		_ = proto.CloneOf(r)"),
	},
}
