package main

// Tests of the rules of node actions and playbooks, and of whole clusters and playbooks
// in skipped time.
var (
	nodeRules = in("playbook")
	nodeRuns  = append(in("playbook"), target{pkg: "./workflows", run: "Cluster|Playbook|UnknownRules"})
)

// ofNodeActions are bugs of the core's side of node actions: what is merged, decided, told.
var ofNodeActions = []mutant{
	{
		name: "node-pushed-is-new", requirement: "R-05", tests: nodeRules,
		why:   "an action counts as the agent's before any report has shown it there",
		edits: alone("playbook/visit.go", "\t\t\trec.Action.PushTime = timestamppb.New(now)\n", "\t\t\trec.Action.PushTime = timestamppb.New(now)\n\t\t\tsetState(rec.GetAction(), gnomonv1.NodeAction_NEW, \"\")\n"),
	},
	{
		name: "node-lost-again-pushed", requirement: "R-28", tests: nodeRules,
		why:   "what an agent accepted is given to it again, and may run twice",
		edits: alone("playbook/decide.go", "a.GetCancelRequested(), accepted(a):\n", "a.GetCancelRequested():\n"),
	},
	{
		name: "node-never-lost", requirement: "R-28", tests: nodeRules,
		why:   "an action that the agent purged is awaited for ever",
		edits: alone("playbook/merge.go", "r == nil || !accepted(r.GetAction()) ||", "r == nil || accepted(r.GetAction()) ||"),
	},
	{
		name: "node-unsent-is-lost", requirement: "R-28", tests: nodeRules,
		why:   "an action whose push never arrived is given up as LOST",
		edits: alone("playbook/merge.go", "|| !accepted(r.GetAction()) || Finished", "|| Finished"),
	},
	{
		name: "node-core-wins", requirement: "R-16", tests: nodeRules,
		why:   "the record of the core stands although the agent has other work under its id",
		edits: alone("playbook/merge.go", "\ta.OverwriteTime = timestamppb.New(now)\n", ""),
	},
	{
		name: "node-agents-own-unknown", requirement: "R-17", tests: nodeRules,
		why:   "what was scheduled on an agent is never seen in the core",
		edits: alone("playbook/merge.go", "\tfor _, reported := range report.GetRecords() {\n\t\tid := reported.GetId()\n", "\tfor _, reported := range report.GetRecords() {\n\t\tid := reported.GetId()\n\t\tif known[id] == nil {\n\t\t\tcontinue\n\t\t}\n"),
	},
	{
		name: "node-cancellation-forgotten", requirement: "R-07", tests: nodeRules,
		why:   "a cancellation is forgotten when the agent reports what it still does",
		edits: alone("playbook/merge.go", "a.CancelRequested, after.CancelReason = was.GetCancelRequested(), before.GetCancelReason()", "after.CancelReason = before.GetCancelReason()"),
	},
	{
		name: "node-given-while-down", requirement: "R-12", tests: nodeRules,
		why:   "work is given to a node whose service is down",
		edits: alone("playbook/decide.go", "\t\tcase health != gnomonv1.Node_UP:\n", "\t\tcase health == gnomonv1.Node_UNREACHABLE:\n"),
	},
	{
		name: "node-queue-without-end", requirement: "R-14", tests: nodeRules,
		why:   "all actions are given to an agent at once and cannot be withdrawn there",
		edits: alone("playbook/decide.go", "\t\tcase room <= 0:\n", "\t\tcase room < -1000:\n"),
	},
	{
		name: "node-all-busy", requirement: "R-14", tests: nodeRules,
		why:   "more nodes of a cluster work at a time than may",
		edits: alone("playbook/decide.go", "idle && p.BusyNodes > 0 && v.BusyNodes >= p.BusyNodes", "idle && p.BusyNodes > 0 && v.BusyNodes > p.BusyNodes"),
	},
	{
		name: "node-late-comers-first", requirement: "R-11", tests: nodeRules,
		why:   "who asks last is served first",
		edits: alone("playbook/merge.go", "a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime())", "b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime())"),
	},
	{
		name: "node-cancelled-unasked", requirement: "R-18", tests: nodeRules,
		why:   "an action that an agent runs shows as CANCELLED while it runs on",
		edits: alone("playbook/cluster.go", "if !r.GetPushAttempted() && !accepted(r.GetAction()) {", "if true {"),
	},
	{
		name: "node-approved-twice", requirement: "R-07", tests: nodeRuns,
		why:   "an action that was rejected or runs is approved",
		edits: alone("playbook/cluster.go", "\tif r.GetAction().GetState() != gnomonv1.NodeAction_PENDING_APPROVE {\n\t\treturn ErrNotPending\n\t}\n\tr.Action.DecidedBy = d.GetBy()\n\tsetState", "\tr.Action.DecidedBy = d.GetBy()\n\tsetState"),
	},
	{
		name: "node-approval-skipped", requirement: "R-07", tests: nodeRuns,
		why:   "an action that was to be approved runs at once",
		edits: alone("playbook/cluster.go", "\t\tif a.GetApprove() {\n\t\t\tsetState", "\t\tif false {\n\t\t\tsetState"),
	},
	{
		name: "node-command-twice", requirement: "P-02", tests: nodeRules,
		why:   "an action that has finished runs again when its request is repeated",
		edits: alone("playbook/cluster.go", "\t\tcase seen:\n\t\t\tcontinue\n", ""),
	},
	{
		name: "node-settled-runs-again", requirement: "R-15", tests: nodeRules,
		why:   "a playbook's action that has finished runs again when its stage is sent again",
		edits: alone("playbook/cluster.go", "(have != nil || settled(s, wanted.GetId())):", "have != nil:"),
	},
	{
		name: "node-others-action-is-the-playbooks", requirement: "R-15", tests: nodeRules,
		why:   "a playbook waits for ever for an id that somebody else has",
		edits: alone("playbook/cluster.go", "have != nil && wanted.GetPlaybook() != \"\" && have.GetPlaybook() != wanted.GetPlaybook()", "have != nil && false"),
	},
	{
		name: "node-full-without-end", requirement: "issue 6, limits", tests: nodeRules,
		why:   "a cluster grows beyond what Temporal carries, and stands still for good",
		edits: alone("playbook/cluster.go", "size > MaxUnfinishedBytes {", "size > 2*MaxUnfinishedBytes {"),
	},
	{
		name: "node-nodes-without-end", requirement: "issue 6, limits", tests: nodeRules,
		why:   "a cluster takes more nodes than Temporal carries",
		edits: alone("playbook/cluster.go", "return count <= MaxNodes && size <= MaxNodesBytes", "return count <= 10*MaxNodes"),
	},
	{
		name: "node-error-cut-in-a-letter", requirement: "R-09", tests: nodeRules,
		why:   "a cluster whose agent speaks of € can never continue as new",
		edits: alone("playbook/visit.go", "text = strings.ToValidUTF8(text[:maxError], \"\")", "text = strings.Clone(text[:maxError])"),
	},
	{
		name: "node-signal-without-end", requirement: "R-23", tests: nodeRules,
		why:   "what a playbook is told is larger than Temporal takes",
		edits: alone("playbook/tell.go", "t.Playbook == name && len(t.Progress.GetActions()) < toldAtOnce", "t.Playbook == name && len(t.Progress.GetActions()) < 1e9"),
	},
	{
		name: "node-settled-for-ever", requirement: "R-23", tests: nodeRules,
		why:   "a cluster keeps telling a playbook of stages that are over",
		edits: alone("playbook/tell.go", "t.GetPlaybook() == a.GetPlaybook() && t.GetStage() != a.GetStage()", "t.GetPlaybook() == a.GetPlaybook() && false"),
	},
}

// ofClusters are bugs of the workflow Cluster.
var ofClusters = []mutant{
	{
		name: "cluster-polls", requirement: "R-22", tests: nodeRuns,
		why:   "a cluster in which nothing happens fills its history",
		edits: alone("playbook/visit.go", "if len(s.GetUnfinished()) > 0 || len(s.GetSettled()) > 0 {", "if true {"),
	},
	{
		name: "cluster-no-interval", requirement: "R-10", tests: nodeRuns,
		why:   "what an agent's lost news would have told is learnt by the slow round only",
		edits: alone("playbook/visit.go", "if len(s.GetUnfinished()) > 0 || len(s.GetSettled()) > 0 {", "if false {"),
	},
	{
		name: "cluster-silent-node-always", requirement: "R-09", tests: nodeRuns,
		why:   "every cycle waits for a node that does not answer",
		edits: alone("playbook/visit.go", "(busy[name] || n.GetFailures() > 0) && !now.Before(n.GetNotBefore().AsTime())", "(busy[name] || n.GetFailures() > 0)"),
	},
	{
		name: "cluster-silent-idle-node", requirement: "R-10", tests: nodeRuns,
		why:   "a node that was slow to start shows as UNREACHABLE until the slow round",
		edits: alone("playbook/visit.go", "n.GetFailures() > 0 && again.Before(next)", "false && again.Before(next)"),
	},
	{
		name: "cluster-one-bad-node", requirement: "R-09", tests: nodeRuns,
		why:   "a node that fails ends the cycle of the others",
		edits: alone("workflows/cluster_cycle.go", "\t\t\tif err := c.visit(ctx, name); err != nil {\n", "\t\t\tif err := c.visit(ctx, name); err != nil {\n\t\t\t\tpanic(err)\n\t\t\t}\n\t\t\tif err := ctx.Err(); err != nil {\n"),
	},
	{
		name: "cluster-not-told", requirement: "R-23", tests: nodeRuns,
		why:   "a playbook that missed one signal waits for ever",
		edits: alone("workflows/cluster_cycle.go", "\tc.inform(playbook.TellAgain(c.state))\n", ""),
	},
	{
		name: "cluster-told-for-ever", requirement: "R-23", tests: nodeRuns,
		why:   "a cluster never rests after a playbook has ended",
		edits: alone("workflows/cluster.go", "\t\t\t\tplaybook.Forget(c.state, one.Playbook)\n", ""),
	},
	{
		name: "cluster-turns-round", requirement: "issue 6, limits", tests: nodeRuns,
		why: "a cluster that is to go on as a new run turns round for ever, and its task never ends",
		edits: []edit{
			{"workflows/cluster.go", "\t\t\tc.timer = nil // it must", "\t\t\t_ = c.timer // it must"},
		},
	},
	{
		name: "cluster-cycle-at-once-by-timer", requirement: "issue 6, limits", tests: nodeRuns,
		why: "as before, where the cycle that is due is waited for by a timer",
		edits: []edit{
			{"workflows/cluster.go", "\tif next.Equal(now) {\n\t\tc.changed = true\n\t\treturn\n\t}\n", ""},
			{"workflows/cluster.go", "\t\t\tc.timer = nil // it must", "\t\t\t_ = c.timer // it must"},
		},
	},
	{
		name: "cluster-waits-for-the-store", requirement: "issue 6, limits", tests: nodeRuns,
		why:   "while the store is down a cluster's history grows until Temporal ends it",
		edits: alone("workflows/cluster.go", "return c.telling == 0 && !c.waiting()", "return len(c.state.GetOwed()) == 0 && c.telling == 0 && !c.waiting()"),
	},
	{
		name: "cluster-leaves-signals", requirement: "P-02", tests: nodeRuns,
		why:   "a cluster goes on as a new run before a playbook was told",
		edits: alone("workflows/cluster.go", "return c.telling == 0 && !c.waiting()", "return !c.waiting()"),
	},
	{
		name: "cluster-carried-as-json", requirement: "issue 6, limits", tests: nodeRuns,
		why:   "what a full cluster hands over is larger than Temporal takes",
		edits: alone("workflows/cluster.go", "converter.NewNilPayloadConverter(), converter.NewProtoPayloadConverter()", "converter.NewNilPayloadConverter(), converter.NewProtoJSONPayloadConverter()"),
	},
	{
		name: "cluster-row-once", requirement: "R-18", tests: nodeRuns,
		why:   "a state that came while a row was being stored is never stored",
		edits: alone("workflows/cluster.go", "m.GetAction().GetId() == r.GetAction().GetId() && m.GetSequence() == r.GetSequence()", "m.GetAction().GetId() == r.GetAction().GetId()"),
	},
	{
		name: "cluster-request-forgotten", requirement: "R-15", tests: nodeRuns,
		why:   "a request that is repeated after its action has finished is refused",
		edits: alone("workflows/cluster.go", "\t\t\trow.RequestId, row.Digest = r.GetRequestId(), r.GetDigest()\n", ""),
	},
	{
		name: "cluster-unknown-rules", requirement: "docs/changing-workflows.md", tests: nodeRuns,
		why:   "an old worker decides by rules that it does not know",
		edits: alone("workflows/cluster.go", "if version > playbook.Version {", "if false {"),
	},
}

// ofPlaybooks are bugs of playbooks: their rules and workflow.
var ofPlaybooks = []mutant{
	{
		name: "playbook-stages-together", requirement: "R-19", tests: nodeRules,
		why:   "a stage begins while actions of the one before run",
		edits: alone("playbook/progress.go", "if len(is.GetActions()) > finished(is) {\n\t\t\treturn step", "if len(is.GetActions()) > finished(is)+1 {\n\t\t\treturn step"),
	},
	{
		name: "playbook-all-at-once", requirement: "issue 6, how many at a time", tests: nodeRules,
		why:   "all nodes are upgraded at the same time",
		edits: alone("playbook/progress.go", "limit := int(stage.GetParallel()); limit > 0", "limit := int(stage.GetParallel()); limit > 1000"),
	},
	{
		name: "playbook-goes-on-failing", requirement: "R-20", tests: nodeRules,
		why:   "an upgrade that failed everywhere goes on to the next stage",
		edits: alone("playbook/progress.go", "return stage.GetOnFailure() != gnomonv1.PlaybookStage_CONTINUE &&", "return stage.GetOnFailure() == gnomonv1.PlaybookStage_STOP && false &&"),
	},
	{
		name: "playbook-allowed-is-too-many", requirement: "R-20", tests: nodeRules,
		why:   "a failure that is allowed stops the playbook",
		edits: alone("playbook/progress.go", "is.GetFailures() > stage.GetAllowedFailures()\n}", "is.GetFailures() >= stage.GetAllowedFailures() && is.GetFailures() > 0\n}"),
	},
	{
		name: "playbook-lost-is-success", requirement: "R-20", tests: nodeRules,
		why:   "an action nobody saw the end of counts as done",
		edits: alone("playbook/progress.go", "if Finished(a.GetState()) && a.GetState() != gnomonv1.NodeAction_DONE {", "if a.GetState() == gnomonv1.NodeAction_FAILED {"),
	},
	{
		name: "playbook-nobody-is-success", requirement: "R-20", tests: nodeRules,
		why:   "a wrong label does nothing and shows as done",
		edits: alone("playbook/progress.go", "\t\tis.Failures = stage.GetAllowedFailures() + 1\n\t\tstatus.Reason", "\t\tstatus.Reason"),
	},
	{
		name: "playbook-no-timeout", requirement: "issue 6, timeout", tests: nodeRules,
		why:   "a stage that hangs is never ended",
		edits: alone("playbook/progress.go", "if !now.Before(step.Until) {", "if false {"),
	},
	{
		name: "playbook-timeout-begins-more", requirement: "issue 6, timeout", tests: nodeRules,
		why:   "a stage begins actions after its time",
		edits: alone("playbook/progress.go", "if s.GetCancelling() || s.GetTimedOut() || stopped(stage, is) {", "if s.GetCancelling() || stopped(stage, is) {"),
	},
	{
		name: "playbook-cancel-leaves-actions", requirement: "issue 6, cancel", tests: nodeRuns,
		why:   "a cancelled playbook's actions run on",
		edits: alone("playbook/progress.go", "\t\t\tif !Finished(a.GetState()) {\n\t\t\t\tstep.Cancel", "\t\t\tif Finished(a.GetState()) {\n\t\t\t\tstep.Cancel"),
	},
	{
		name: "playbook-cancelled-before-scheduled", requirement: "issue 6, cancel", tests: nodeRuns,
		why:   "an action that the cluster had no room for yet runs after its playbook was cancelled",
		edits: alone("workflows/playbook.go", "if p.stopping[id] || p.scheduling[id] {", "if p.stopping[id] {"),
	},
	{
		name: "playbook-too-many-nodes", requirement: "issue 6, limits", tests: nodeRules,
		why:   "a stage on very many nodes is larger than Temporal takes",
		edits: alone("playbook/progress.go", "n > MaxNodes || size > MaxStatusBytes {", "n > 1000*MaxNodes {"),
	},
	{
		name: "playbook-stages-add-up", requirement: "issue 6, limits", tests: nodeRules,
		why:   "stages that each fit do not fit together",
		edits: alone("playbook/progress.go", "\t\t\tsize += statusBytes(p.GetId(), i, []string{a.GetNode()})\n", "\t\t\t_ = i\n\t\t\t_ = a\n"),
	},
	{
		name: "playbook-named-too-many", requirement: "R-21", tests: nodeRules,
		why:   "a playbook that cannot be run to its end is begun",
		edits: alone("playbook/validate.go", "if size > MaxStatusBytes {", "if size > 1000*MaxStatusBytes {"),
	},
	{
		name: "playbook-in-one-command", requirement: "issue 6, limits", tests: nodeRuns,
		why:   "a stage on many nodes is one command that no cluster can take",
		edits: alone("workflows/playbook.go", "size+proto.Size(all[n]) <= scheduleBytes", "true"),
	},
	{
		name: "playbook-one-problem", requirement: "R-21", tests: nodeRules,
		why:   "who writes a playbook hears of one mistake at a time",
		edits: alone("playbook/validate.go", "\tfor i, stage := range p.GetStages() {\n\t\tfield", "\tfor i, stage := range p.GetStages()[:min(1, len(p.GetStages()))] {\n\t\tfield"),
	},
	{
		name: "playbook-values-again", requirement: "R-21", tests: nodeRules,
		why:   "what a variable holds is expanded again",
		edits: alone("playbook/materialise.go", "\t\texec.Argv[i] = expand(word)\n", "\t\texec.Argv[i] = expand(expand(word))\n"),
	},
	{
		name: "playbook-rejected-runs", requirement: "R-07", tests: nodeRuns,
		why:   "a playbook that was to be approved begins at once",
		edits: alone("playbook/progress.go", "\tif p.GetApprove() {\n", "\tif false {\n"),
	},
	{
		name: "playbook-nudge-does-nothing", requirement: "R-24", tests: nodeRuns,
		why:   "the way out for a playbook that is stuck leads nowhere",
		edits: alone("workflows/playbook.go", "if p.status().GetState() == gnomonv1.PlaybookStatus_RUNNING {\n\t\tp.send(\"nudge\"", "if false {\n\t\tp.send(\"nudge\""),
	},
	{
		name: "playbook-closes-unstored", requirement: "R-21", tests: nodeRuns,
		why:   "a playbook that has ended shows as running for ever",
		edits: alone("workflows/playbook.go", "return p.mirror == nil && !p.state.GetMirrorOwed() && p.nodes == nil", "return p.nodes == nil"),
	},
	{
		name: "playbook-cancellation-unheard", requirement: "issue 6, cancel", tests: nodeRuns,
		why:   "Temporal's own cancellation does nothing",
		edits: alone("workflows/playbook.go", "p.root.Err() != nil && !p.cancelled ||", "p.root.Err() != nil && false ||"),
	},
}
