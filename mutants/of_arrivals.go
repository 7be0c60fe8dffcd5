package main

// ofArrivals are bugs in how commands reach the workflow: workflows/commands.go,
// order.go, payload.go.
var ofArrivals = []mutant{
	{
		name: "signals-backwards", requirement: "design, The workflow", tests: runs,
		why: "a pause and the resume after it are applied the other way round",
		edits: alone("workflows/order.go", "o.arrivals.signals = append(o.arrivals.signals, arrival{in.SignalName, ctx.Err() != nil})",
			"o.arrivals.signals = append([]arrival{{in.SignalName, ctx.Err() != nil}}, o.arrivals.signals...)"),
	},
	{
		name: "signals-by-name", requirement: "design, The workflow", tests: runs,
		why: "signals are applied in the order of the alphabet",
		edits: []edit{
			{
				"workflows/order.go", "o.arrivals.signals = append(o.arrivals.signals, arrival{in.SignalName, ctx.Err() != nil})",
				"o.arrivals.signals = append(o.arrivals.signals, arrival{in.SignalName, ctx.Err() != nil})\n\t\tslices.SortStableFunc(o.arrivals.signals, func(a, b arrival) int { return strings.Compare(a.name, b.name) })",
			},
			{"workflows/order.go", "import (\n", "import (\n\t\"slices\"\n"},
		},
	},
	{
		name: "cancel-swallows-what-came-after", requirement: "M-60", tests: runs,
		why:   "an upsert that was accepted after a deletion is deleted by it",
		edits: alone("workflows/order.go", "arrival{in.SignalName, ctx.Err() != nil}", "arrival{in.SignalName, ctx == nil}"),
	},
	{
		name: "cancel-ignored", requirement: "design, The workflow", tests: runs,
		why:   "the Web UI's cancel does nothing",
		edits: alone("workflows/commands.go", "\tif !a.cancelPending() {\n\t\treturn", "\tif a.cancelled = a.cancelled || a.cancelPending(); a.cancelled {\n\t\treturn"),
	},
	{
		name: "signals-dropped-at-handover", requirement: "M-34", tests: runs,
		why: "a signal that meets continue-as-new is lost",
		edits: []edit{
			{"workflows/action.go", "\t\ta.drain()\n\t\tif a.revived", "\t\tif workflow.GetInfo(a.ctx).GetContinueAsNewSuggested() {\n\t\t\ta.arrivals.signals = nil\n\t\t}\n\t\ta.drain()\n\t\tif a.revived"},
		},
	},
	{
		name: "signals-dropped-at-close", requirement: "design, The workflow", tests: runs,
		why: "a revival that meets the close is lost",
		edits: []edit{
			{"workflows/action.go", "\t\ta.drain()\n\t\tif a.revived", "\t\tif life.Ended(a.state.GetStatus()) {\n\t\t\ta.arrivals.signals = nil\n\t\t}\n\t\ta.drain()\n\t\tif a.revived"},
		},
	},
	{
		name: "update-before-earlier-signals", requirement: "design, The workflow", tests: runs,
		why:   "a signal accepted before an update is applied after it",
		edits: alone("workflows/commands.go", "\t\t\ta.drain() // what was accepted before it comes first\n", ""),
	},
	{
		name: "validator-refuses-by-old-state", requirement: "P-02", tests: runs,
		why:   "a resume is refused although the pause before it waits to be applied",
		edits: alone("workflows/commands.go", "if len(a.arrivals.signals) > 0 || a.cancelPending() {", "if len(a.arrivals.signals) > 1000 {"),
	},
	{
		name: "malformed-signal-fails-the-task", requirement: "F22", tests: runs,
		why: "one signal sent by hand stops the action",
		edits: alone("workflows/commands.go", "\tif err != nil {\n\t\ta.malformed(name, err)\n\t\treturn\n\t}\n\terr = a.apply(name, c)",
			"\tif err != nil {\n\t\tpanic(err)\n\t}\n\terr = a.apply(name, c)"),
	},
	{
		name: "malformed-signal-not-recorded", requirement: "F22", tests: runs,
		why: "nobody sees that a signal was dropped",
		edits: alone("workflows/commands.go", "\tif err != nil {\n\t\ta.malformed(name, err)\n\t\treturn\n\t}\n\terr = a.apply(name, c)",
			"\tif err != nil {\n\t\treturn\n\t}\n\terr = a.apply(name, c)"),
	},
	{
		name: "misspelt-field-ignored", requirement: "F22", tests: runs,
		why:   "an update by hand with a misspelt spec replaces the spec by nothing",
		edits: alone("workflows/payload.go", "protojson.Unmarshal(p.GetData(), c)", "(protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(p.GetData(), c)"),
	},
	{
		name: "guid-by-hand-repeats", requirement: "M-07", tests: runs,
		why:   "two updates sent by hand give one Guid",
		edits: alone("workflows/commands.go", `RunID+"/"+a.state.GetMeta().GetGuid())`, `RunID+"/")`),
	},
	{
		name: "standing-without-pause", requirement: "design, The workflow", tests: runs,
		why:   "the server's retries go on while the action is paused",
		edits: alone("workflows/commands.go", "Paused:   a.state.GetPaused(),", "Paused:   a.state.GetPaused() && a.perform == nil,"),
	},
	{
		name: "refusal-without-its-name", requirement: "P-02", tests: runs,
		why:   "a wrong etag is told as a broken command",
		edits: alone("workflows/commands.go", "\t{life.ErrEtag, workflowv1.RefusedEtag},\n", ""),
	},
}
