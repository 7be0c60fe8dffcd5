package main

// ofCommands are bugs in what a command does: action/life/command.go.
var ofCommands = []mutant{
	{
		name: "etag-ignored", requirement: "M-07", tests: lives,
		why:   "a change that was not seen is overwritten",
		edits: alone("action/life/command.go", `c.GetEtag() != "" && c.GetEtag() != s.GetMeta().GetGuid()`, `c.GetEtag() != "" && s.GetMeta().GetGuid() == ""`),
	},
	{
		name: "command-applied-twice", requirement: "design, The workflow", tests: lives,
		why:   "an update left as a signal after a lost answer is applied again",
		edits: alone("action/life/command.go", `strings.Cut(entry, " "); was == id {`, `strings.Cut(entry, " "); was == id && s == nil {`),
	},
	{
		name: "command-without-id-once", requirement: "design, The workflow", tests: lives,
		why: "of several signals sent by hand only the first counts",
		edits: []edit{
			{"action/life/command.go", "\tif id == \"\" {\n\t\treturn \"\", false\n\t}\n", ""},
			{"action/life/command.go", "\tif c.GetId() != \"\" {\n\t\ts.AppliedCommands", "\tif c != nil {\n\t\ts.AppliedCommands"},
		},
	},
	{
		name: "reused-request-passes", requirement: "issue 2, request_id", tests: lives,
		why:   "an update that changed nothing is reported as applied",
		edits: alone("action/life/command.go", "digest != c.GetDigest() {", "digest == c.GetDigest() {"),
	},
	{
		name: "newest-command-forgotten", requirement: "design, The workflow", tests: lives,
		why:   "once 256 were applied every further one is applied twice",
		edits: alone("action/life/command.go", "slices.Delete(s.GetAppliedCommands(), 0, over)", "s.GetAppliedCommands()[:rememberedCommands]"),
	},
	{
		name: "commands-remembered-for-ever", requirement: "M-34", tests: lives,
		why:   "the state of an action that lives for years outgrows Temporal's limit",
		edits: alone("action/life/command.go", "over > 0 {", "over > rememberedCommands {"),
	},
	{
		name: "applied-commands-lost-by-revival", requirement: "design, The workflow", tests: lives,
		why:   "the create that revived an action is applied again by its signal",
		edits: alone("action/life/command.go", "next.AppliedCommands = s.GetAppliedCommands()", "next.AppliedCommands = nil"),
	},
	{
		name: "update-keeps-counters", requirement: "M-42", tests: lives,
		why: "the new spec's budget is spent before it begins",
		edits: alone("action/life/command.go", "s.Meta, s.Spec, s.Status = next.GetMeta(), next.GetSpec(), next.GetStatus()",
			"s.Meta, s.Spec = next.GetMeta(), next.GetSpec()\n\ts.Status.ScheduledAt, s.Status.State = next.GetStatus().GetScheduledAt(), next.GetStatus().GetState()"),
	},
	{
		name: "update-keeps-occurrence", requirement: "M-43", tests: lives,
		why:   "the new spec goes on with the old one's retries",
		edits: alone("action/life/command.go", "s.Occurrence, s.Triggered, s.Performing = nil, false, 0", "s.Triggered, s.Performing = false, 0"),
	},
	{
		name: "update-keeps-trigger", requirement: "M-42", tests: lives,
		why:   "a trigger of the old spec performs the new one",
		edits: alone("action/life/command.go", "s.Occurrence, s.Triggered, s.Performing = nil, false, 0", "s.Occurrence, s.Performing = nil, 0"),
	},
	{
		name: "update-keeps-guid", requirement: "M-07", tests: lives,
		why:   "attempts of the old spec pass for the new one's",
		edits: alone("action/life/command.go", "merged.Meta.Guid = guid\n", "merged.Meta.Guid = s.GetMeta().GetGuid()\n"),
	},
	{
		name: "update-ignores-facades-guid", requirement: "M-07", tests: lives,
		why:   "the reply's Guid, which is the next etag, is not the workflow's",
		edits: alone("action/life/command.go", `GetGuid(); g != "" {`, `GetGuid(); g != "" && g == guid {`),
	},
	{
		name: "update-does-not-supersede", requirement: "M-43", tests: lives,
		why:   "the old spec's attempts go on",
		edits: alone("action/life/command.go", "\tOwe(s)\n\treturn Effect{Supersede: true}\n", "\tOwe(s)\n\treturn Effect{}\n"),
	},
	{
		name: "cancel-does-not-supersede", requirement: "M-43", tests: lives,
		why:   "a deleted action is attempted again",
		edits: alone("action/life/command.go", "finish(s, gnomonv1.Status_DELETED)\n\t\treturn Effect{Supersede: true}, nil", "finish(s, gnomonv1.Status_DELETED)\n\t\treturn Effect{}, nil"),
	},
	{
		name: "update-unpauses", requirement: "design, The workflow", tests: lives,
		why:   "a change of an action that was stopped for a reason starts it",
		edits: alone("action/life/command.go", "\tif s.GetPaused() {\n\t\ts.Status.State = gnomonv1.Status_PAUSED\n\t}", "\ts.Paused = false"),
	},
	{
		name: "update-forgets-create-time", requirement: "design, The action", tests: lives,
		why:   "every update seems a creation",
		edits: alone("action/life/command.go", "next.Meta.CreateTime = s.GetMeta().GetCreateTime()", "next.Meta.CreateTime = next.GetMeta().GetUpdateTime()"),
	},
	{
		name: "labels-begin-anew", requirement: "M-42", tests: lives,
		why:   "a change of labels performs a periodic action at once and forgets its counters",
		edits: alone("action/life/command.go", "if !ended && !replacesSpec(s, c) {", "if ended && !replacesSpec(s, c) {"),
	},
	{
		name: "labels-keep-guid", requirement: "M-07", tests: lives,
		why:   "of two changes of labels at once one is lost, as both etags fit",
		edits: alone("action/life/command.go", "s.Meta.Labels, s.Meta.Guid, s.Meta.UpdateTime = m.GetLabels(), m.GetGuid(), Stamp(now)", "s.Meta.Labels, s.Meta.UpdateTime = m.GetLabels(), Stamp(now)"),
	},
	{
		name: "spec-update-drops-labels", requirement: "design, The action", tests: lives,
		why:   "an update of the spec alone removes the labels",
		edits: alone("action/life/command.go", `if all && want.GetMeta() != nil || slices.Contains(c.GetPaths(), "meta.labels") {`, `if all || want.GetMeta() != nil {`),
	},
	{
		name: "ended-action-updated", requirement: "M-25", tests: lives,
		why:   "an update brings a deleted action back to life",
		edits: alone("action/life/command.go", "case ended && !c.GetRevive():", "case ended && !c.GetRevive() && c.GetCreateOnly():"),
	},
	{
		name: "create-over-a-live-action", requirement: "M-08", tests: lives,
		why:   "a create replaces the action that has the id",
		edits: alone("action/life/command.go", "case !ended && c.GetCreateOnly():", "case !ended && c.GetCreateOnly() && c.GetRevive() && c.GetAction() == nil:"),
	},
	{
		name: "revival-not-after-the-old", requirement: "M-61", tests: lives,
		why:   "by a clock that stands still the new incarnation's rows are refused as old",
		edits: alone("action/life/command.go", "at = old.Add(time.Microsecond)", "at = old"),
	},
	{
		name: "accept-time-ignored", requirement: "M-11", tests: lives,
		why:   "an update accepted while no worker ran is dropped as too old",
		edits: alone("action/life/command.go", "now = c.GetAcceptTime().AsTime()", "now = now.Add(0)"),
	},
	{
		name: "invalid-update-applied", requirement: "F22", tests: lives,
		why:   "a signal sent by hand makes a spec that no rule has seen",
		edits: alone("action/life/command.go", "len(bad) > 0 {", "len(bad) > 1000 {"),
	},
	{
		name: "resume-catches-up", requirement: "design, The workflow", tests: lives,
		why:   "a periodic action performs at once the tick it missed while paused",
		edits: alone("action/life/command.go", "\ts.Status.ScheduledAt = nextAfter(s, now)", "\t_ = nextAfter"),
	},
	{
		name: "resume-keeps-the-periodic-retry", requirement: "design, The workflow", tests: lives,
		why:   "a periodic action goes on with a retry of a tick long past",
		edits: alone("action/life/command.go", "\ts.Occurrence = nil\n", ""),
	},
	{
		name: "resume-stays-paused", requirement: "design, The workflow", tests: lives,
		why:   "resume only looks as if it worked",
		edits: alone("action/life/command.go", "\ts.Paused = false\n", ""),
	},
	{
		name: "pause-does-not-show", requirement: "design, The workflow", tests: lives,
		why:   "a paused action looks scheduled",
		edits: alone("action/life/command.go", "\ts.Paused = true\n\ts.Status.State = gnomonv1.Status_PAUSED", "\ts.Paused = true"),
	},
	{
		name: "trigger-lost-while-performing", requirement: "design, The workflow", tests: lives,
		why:   "a trigger during an attempt of a periodic action is for nothing",
		edits: alone("action/life/command.go", "case action.Periodic(s.GetSpec()) || s.GetOccurrence() == nil:", "case s.GetOccurrence() == nil:"),
	},
	{
		name: "trigger-does-not-hurry-a-retry", requirement: "design, The workflow", tests: lives,
		why:   "a trigger of a once-action that waits for its retry is for nothing",
		edits: alone("action/life/command.go", "\t\ts.Occurrence.NotBefore = Stamp(now)", "\t\t_ = now"),
	},
	{
		name: "trigger-doubles-a-once-action", requirement: "M-23", tests: lives,
		why:   "a trigger during an attempt has a once-action performed again",
		edits: alone("action/life/command.go", "case action.Periodic(s.GetSpec()) || s.GetOccurrence() == nil:", "case action.Periodic(s.GetSpec()) || s.GetOccurrence() != nil || now.IsZero():"),
	},
	{
		name: "paused-action-triggered", requirement: "design, The workflow", tests: lives,
		why:   "a trigger waits for the resume, which nobody expects",
		edits: alone("action/life/command.go", "case name == workflowv1.CommandTrigger && s.GetPaused():", "case name == workflowv1.CommandTrigger && s.GetPaused() && ended:"),
	},
	{
		name: "malformed-signal-not-counted", requirement: "F22", tests: lives,
		why:   "nobody sees that signals are dropped",
		edits: alone("action/life/command.go", "\ts.MalformedSignals++\n", ""),
	},
	{
		name: "malformed-signal-not-stored", requirement: "F22", tests: lives,
		why:   "Status says so only when asked fresh",
		edits: alone("action/life/command.go", "LastTransitionTime: Stamp(now),\n\t})\n\tOwe(s)", "LastTransitionTime: Stamp(now),\n\t})"),
	},
}
