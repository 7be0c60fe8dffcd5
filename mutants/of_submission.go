package main

// submission are the tests of the facade of batches and of the command line before
// servers that are made up.
var submission = in("batch", "starter", "cli")

// ofSubmission are bugs of how batches are submitted and followed.
var ofSubmission = []mutant{
	{
		name: "submission-world-not-asked", requirement: "V-03", tests: submission,
		why:   "a person mends what breaks the rules and is refused again for the world",
		edits: alone("starter/batchcreate.go", "\tproblems = append(problems, found...)\n", "\t_ = found\n"),
	},
	{
		name: "submission-broken-changes-asked", requirement: "V-03", tests: submission,
		why:   "a service is asked at a URL that breaks the rules",
		edits: alone("batch/objections.go", "\t\tif !broken[i] {\n", "\t\tif !broken[i+MaxChanges] {\n"),
	},
	{
		name: "submission-soft-accepted", requirement: "V-03", tests: submission,
		why:   "a batch that a person should look at first is scheduled",
		edits: alone("starter/batchcreate.go", "\tif len(problems) > 0 {\n\t\treturn nil, refusedForProblems", "\tif len(problems) > 0 && problems[0].GetSeverity() == gnomonv1.Problem_HARD {\n\t\treturn nil, refusedForProblems"),
	},
	{
		name: "submission-validation-stores", requirement: "V-03", tests: submission,
		why:   "a batch that was only to be validated is scheduled",
		edits: alone("starter/batchcreate.go", "\tif req.GetValidateOnly() {\n", "\tif req.GetValidateOnly() && len(problems) > 0 {\n"),
	},
	{
		name: "submission-index-of-another", requirement: "V-03", tests: submission,
		why:   "a person mends the wrong one of a thousand changes",
		edits: alone("batch/objections.go", "at := int32(index)\n", "at := int32(index) + 1\n"),
	},
	{
		name: "submission-silence-is-an-answer", requirement: "V-03", tests: submission,
		why:   "a batch whose changes nobody judged is scheduled",
		edits: alone("starter/batchcreate.go", "\tcase err != nil:\n\t\treturn nil, unavailable(reasonUnvalidated", "\tcase err != nil && len(problems) > 0:\n\t\treturn nil, unavailable(reasonUnvalidated"),
	},
	{
		name: "watch-review-looks-done", requirement: "V-17", tests: submission,
		why:   "a script goes on although a person must decide",
		edits: alone("cli/run.go", "\t\treturn ExitOutcome\n", "\t\treturn ExitOK\n"),
	},
}
