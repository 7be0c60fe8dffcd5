package main

// facade are the tests of the facade before a Temporal that is made up.
var facade = in("starter")

// ofFacade are bugs of the facade: starter.
var ofFacade = []mutant{
	{
		name: "mock-allowed-everywhere", requirement: "M-03", tests: facade,
		why:   "a production installation takes actions that panic and hang",
		edits: alone("starter/create.go", "AllowMock: s.AllowMockActions}", "AllowMock: true}"),
	},
	{
		name: "request-id-ignored-by-create", requirement: "F3", tests: facade,
		why:   "a create whose answer was lost is told that the action exists",
		edits: alone("starter/create.go", "temporalID := requestID\n", "temporalID := requestID[:0]\n"),
	},
	{
		name: "request-id-takes-any-spec", requirement: "F9", tests: facade,
		why:   "another action is reported as created",
		edits: alone("starter/create.go", "\tif !same {", "\tif !same && first == nil {"),
	},
	{
		name: "request-id-ignored-by-verbs", requirement: "F4", tests: facade,
		why:   "a trigger whose answer was lost is performed twice",
		edits: alone("starter/create.go", "\tif requestID != \"\" {\n\t\treturn requestID\n\t}\n", "\t_ = requestID\n"),
	},
	{
		name: "create-joins-an-open-run", requirement: "M-08", tests: facade,
		why:   "of two creates of one id both seem to have won",
		edits: alone("starter/start.go", "enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,", "enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,"),
	},
	{
		name: "builds-not-told-at-the-start", requirement: "issue 8", tests: facade,
		why:   "Temporal writes its lists once more for each action",
		edits: alone("starter/start.go", "\t\tencoded[buildIDs] = took\n", "\t\t_ = took\n"),
	},
	{
		name: "development-told-as-a-build", requirement: "issue 8", tests: facade,
		why:   "actions are listed under a build that took no part",
		edits: alone("starter/start.go", "build := workflowv1.BuildID(s.Build); build", "build := s.Build; build"),
	},
	{
		name: "create-updates-an-open-run", requirement: "M-08", tests: facade,
		why:   "a create replaces the action that has the id",
		edits: alone("starter/create.go", "Revive: true, CreateOnly: true,", "Revive: true,"),
	},
	{
		name: "create-does-not-wait-for-the-close", requirement: "M-60", tests: facade,
		why:   "a create right after a delete is refused",
		edits: alone("starter/create.go", "return nil, s.closing(ctx, id, chain), alreadyExists(id)", "return nil, false, alreadyExists(id)"),
	},
	{
		name: "mirrored-condition-missing", requirement: "F5", tests: facade,
		why:   "a creator looks for his action in the list and does not know why it is missing",
		edits: alone("starter/mirrored.go", `s.condition(a, life.ConditionMirrored, "STORE_UNAVAILABLE", "the store does not show this yet; it will")`, ""),
	},
	{
		name: "row-of-create-not-tried-again", requirement: "F5", tests: facade,
		why:   "an action created while the store was down is in no list until it runs",
		edits: alone("starter/mirrored.go", "\t\t\ts.late.add(write, row)\n", ""),
	},
	{
		name: "row-of-create-not-asked-for", requirement: "F5", tests: facade,
		why:   "a facade that stops takes rows along that the store did not take",
		edits: alone("starter/laterows.go", "\tfor _, late := range left {", "\tfor _, late := range left[:0] {"),
	},
	{
		name: "new-search-attributes-refused", requirement: "P-04", tests: facade,
		why:   "the first creates of a new installation are refused",
		edits: alone("starter/searchattributes.go", "if err == nil || !unknown(err) ||", "if err == nil || unknown(err) ||"),
	},
	{
		name: "late-row-of-a-closed-run", requirement: "M-61", tests: facade,
		why:   "a row that comes late shows an action that has ended",
		edits: alone("starter/mirrored.go", "return seen.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil", "return seen.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, nil"),
	},
	{
		name: "late-rows-burden-temporal", requirement: "F5", tests: facade,
		why:   "a store that is down costs Temporal a signal and an activity for each action, and all are late",
		edits: alone("starter/laterows.go", "if l.closed || len(l.waiting) >= lateKept {", "if l.closed || len(l.waiting) >= 0 {"),
	},
	{
		name: "row-of-command-out-of-order", requirement: "M-61", tests: facade,
		why:   "the facade's row of a command hides a newer one, or is refused",
		edits: alone("starter/mirrored.go", "Sequence:    r.GetRevision().GetSequence(),\n", ""),
	},
	{
		name: "etag-not-passed-on", requirement: "M-07", tests: facade,
		why:   "a change that was not seen is overwritten",
		edits: alone("starter/updateaction.go", "Etag: etag, Action: a,", "Etag: etag[:0], Action: a,"),
	},
	{
		name: "etag-not-passed-on-by-verbs", requirement: "M-07", tests: facade,
		why:   "a change that was not seen is deleted",
		edits: alone("starter/verbs.go", ", Etag: req.GetEtag()}", "}"),
	},
	{
		name: "etag-ignored-without-a-worker", requirement: "M-07", tests: facade,
		why:   "the caller hears that his command stands, and it will be dropped",
		edits: alone("starter/command.go", "!row.Tombstone && row.Action.GetMeta().GetGuid() != etag {", "row.Tombstone && row.Action.GetMeta().GetGuid() != etag {"),
	},
	{
		name: "etag-lost-by-cancellation", requirement: "M-07", tests: facade,
		why:   "a deletion with an etag that no longer fits deletes all the same",
		edits: alone("starter/command.go", `name != workflowv1.CommandCancel || c.GetEtag() != "" {`, `name != workflowv1.CommandCancel {`),
	},
	{
		name: "applied-condition-missing", requirement: "design, The workflow", tests: facade,
		why:   "a deletion that nobody has applied yet looks done",
		edits: alone("starter/command.go", "\ts.condition(reply, life.ConditionApplied,", "\ts.condition(&gnomonv1.ScheduledAction{}, life.ConditionApplied,"),
	},
	{
		name: "command-not-left", requirement: "design, The workflow", tests: facade,
		why:   "what was accepted while no worker ran is lost",
		edits: alone("starter/command.go", "err := s.Client.SignalWorkflow(ctx, workflowv1.WorkflowID(id), \"\", name, c)", "var err error"),
	},
	{
		name: "refused-command-left", requirement: "P-02", tests: facade,
		why:   "a command that was refused is applied later",
		edits: alone("starter/command.go", "\tif !errors.Is(err, errNoWorker) {\n\t\treturn nil, false, s.refusal(id, err)\n\t}\n", ""),
	},
	{
		name: "allow-missing-ignored-by-update", requirement: "M-08", tests: facade,
		why:   "an upsert of a new action is NOT_FOUND",
		edits: alone("starter/updateaction.go", "\tcase req.GetAllowMissing():\n", "\tcase req.GetAllowMissing() && a == nil:\n"),
	},
	{
		name: "allow-missing-ignored-by-delete", requirement: "M-60", tests: facade,
		why:   "a deletion that is repeated fails",
		edits: alone("starter/verbs.go", "\tif req.GetAllowMissing() {", "\tif req.GetAllowMissing() && reply != nil {"),
	},
	{
		name: "update-revives-the-ended", requirement: "M-25", tests: facade,
		why:   "an update of a finished action begins it anew",
		edits: alone("starter/updateaction.go", "Revive: req.GetAllowMissing(),", "Revive: true,"),
	},
	{
		name: "upsert-applied-by-its-own-run", requirement: "design, The workflow", tests: facade,
		why:   "the run that an upsert starts begins anew at once, with a second Guid",
		edits: alone("starter/updateaction.go", "\tst.AppliedCommands = []string{life.AppliedEntry(c)}\n", ""),
	},
	{
		name: "guid-not-minted", requirement: "M-07", tests: facade,
		why:   "the Guid that the caller saw stands for the new spec too",
		edits: alone("starter/mint.go", "return uuid.NewString()", "return uuid.Nil.String()"),
	},
	{
		name: "guid-of-another-request", requirement: "F4", tests: facade,
		why:   "the reply to a repeated update names a Guid that never stood",
		edits: alone("starter/mint.go", "if requestID == \"\" {", "if requestID != \"\" {"),
	},
	{
		name: "deleted-action-shown", requirement: "design, The mirror row", tests: facade,
		why:   "what was deleted is still found",
		edits: alone("starter/get.go", "row.Tombstone && row.Action.GetStatus().GetState() == gnomonv1.Status_DELETED:", "row.Tombstone && row.Action.GetStatus() == nil:"),
	},
	{
		name: "validate-only-starts", requirement: "issue 2, AIP-163", tests: facade,
		why:   "a dry run schedules",
		edits: alone("starter/create.go", "\tif req.GetValidateOnly() {", "\tif req.GetValidateOnly() && st == nil {"),
	},
}
