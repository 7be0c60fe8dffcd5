package main

// ofSpecs are bugs in what is accepted and how it is kept: validation, defaults,
// keys and time limits of package action.
var ofSpecs = []mutant{
	{
		name: "start-ten-minutes-ago-refused", requirement: "M-11", tests: rules,
		why: "the bound itself is legal",
		edits: alone("action/validate_schedule.go",
			"at.AsTime().Truncate(time.Microsecond).Before(now.Add(-MaxPast).Truncate(time.Microsecond))",
			"!at.AsTime().Truncate(time.Microsecond).After(now.Add(-MaxPast).Truncate(time.Microsecond))"),
	},
	{
		name: "start-long-ago-accepted", requirement: "M-11", tests: rules,
		why:   "a start_at of last year is performed at once",
		edits: alone("action/limits.go", "MaxPast = 10 * time.Minute", "MaxPast = 11 * time.Minute"),
	},
	{
		name: "back-off-nan-accepted", requirement: "M-18", tests: rules,
		why:   "NaN passes every comparison",
		edits: alone("action/validate_schedule.go", "case math.IsNaN(b) || math.IsInf(b, 0):", "case math.IsInf(b, 0):"),
	},
	{
		name: "back-off-negative-accepted", requirement: "M-18", tests: rules,
		why:   "delays alternate around the minimum",
		edits: alone("action/validate_schedule.go", "case b < 0:", "case b < -1:"),
	},
	{
		name: "minimum-below-a-second-accepted", requirement: "M-20", tests: rules,
		why:   "the server rounds such delays up, and an unset field counts as given",
		edits: alone("action/validate_schedule.go", "p.GetMinRestartPeriod(), MinRestartPeriod, MaxDuration)", "p.GetMinRestartPeriod(), 0, MaxDuration)"),
	},
	{
		name: "maximum-below-minimum-accepted", requirement: "M-20", tests: rules,
		why: "the formula's bounds contradict each other",
		edits: alone("action/validate_schedule.go",
			"p.GetMaxRestartPeriod().AsDuration() < p.GetMinRestartPeriod().AsDuration()",
			"p.GetMaxRestartPeriod().AsDuration() < 0"),
	},
	{
		name: "period-of-nothing-accepted", requirement: "M-28", tests: rules,
		why:   "an action without rest fills its history",
		edits: alone("action/validate_schedule.go", "p.GetPeriod(), MinPeriod, MaxDuration)", "p.GetPeriod(), 0, MaxDuration)"),
	},
	{
		name: "send-policy-unset-accepted", requirement: "M-12", tests: rules,
		why:   "neither once nor periodic: the action's life is anyone's guess",
		edits: alone("action/validate_schedule.go", `v.add(field, RuleRequired, "one of send_once_policy`, `(&violations{}).add(field, RuleRequired, "one of send_once_policy`),
	},
	{
		name: "action-unset-accepted", requirement: "M-02", tests: rules,
		why:   "nothing would be performed at its time",
		edits: alone("action/validate_action.go", `v.add(field, RuleRequired, "one of mock_action`, `(&violations{}).add(field, RuleRequired, "one of mock_action`),
	},
	{
		name: "mock-always-allowed", requirement: "M-03", tests: rules,
		why:   "anybody can make a worker panic and hang",
		edits: alone("action/validate_action.go", "if !o.AllowMock {", "if !o.AllowMock && m == nil {"),
	},
	{
		name: "id-with-slash-accepted", requirement: "M-06", tests: rules,
		why:   "ids of different kinds collide, and idempotency keys become ambiguous",
		edits: alone("rule/identity.go", `strings.ContainsRune("-_.:~", r) }):`, `strings.ContainsRune("-_.:~/", r) }):`),
	},
	{
		name: "normalise-drops-labels", requirement: "M-05", tests: rules,
		why:   "lists by label find nothing",
		edits: alone("action/normalise.go", "Labels: proto.CloneOf(m).GetLabels()", "Labels: nil"),
	},
	{
		name: "normalise-drops-retry-policy", requirement: "M-19", tests: rules,
		why:   "what is stored says nothing of the retries that will happen",
		edits: alone("action/normalise.go", "once.RetryPolicy = r", "once.RetryPolicy = nil"),
	},
	{
		name: "normalise-drops-deadline", requirement: "M-13", tests: rules,
		why:   "the action never ends",
		edits: alone("action/normalise.go", "\ttruncateTimestamp(s.GetSendPolicy().GetDeadline())", "\tif p := s.GetSendPolicy(); p != nil {\n\t\tp.Deadline = nil\n\t}"),
	},
	{
		name: "normalise-keeps-guid", requirement: "M-07", tests: rules,
		why:   "a client chooses its Guid, and an old spec passes for the new one",
		edits: alone("action/normalise.go", "&gnomonv1.Meta{Id: m.GetId(),", "&gnomonv1.Meta{Id: m.GetId(), Guid: m.GetGuid(),"),
	},
	{
		name: "key-without-guid", requirement: "M-59", tests: rules,
		why:   "the new spec's occurrence is dropped by the other side as the old one's",
		edits: alone("action/identity.go", `m.GetId() + "/" + m.GetGuid() + "/"`, `m.GetId() + "/"`),
	},
	{
		name: "key-to-the-second", requirement: "M-59", tests: rules,
		why:   "two occurrences within a second have one key",
		edits: alone("action/identity.go", "time.RFC3339Nano", "time.RFC3339"),
	},
	{
		name: "sleep-outlasts-its-limit", requirement: "M-38", tests: rules,
		why:   "a mock that sleeps as told counts as too slow",
		edits: alone("action/timeout.go", "return min(max(nap, 0), MaxMockSleep) + DefaultPerformTimeout", "return min(max(nap, 0), MaxMockSleep)"),
	},
}
