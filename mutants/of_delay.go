package main

// rules are the tests of package action, the cheapest.
var rules = in("action")

// ofDelay are bugs in what follows a failure: action/delay.go, action/retry.go.
var ofDelay = []mutant{
	{
		name: "delay-without-minimum", requirement: "M-17", tests: rules,
		why:   "retries come sooner than MinRestartPeriod",
		edits: alone("action/delay.go", "return least + min(most-least, product(", "return min(most-least, product("),
	},
	{
		name: "delay-above-maximum", requirement: "M-17", tests: rules,
		why:   "a wide scale delays beyond MaxRestartPeriod",
		edits: alone("action/delay.go", "return min(most, least+scale)", "return least + scale"),
	},
	{
		name: "delay-zero-to-the-zero", requirement: "M-18", tests: rules,
		why:   "with BackOff 0 the first delay lacks the scale, as 0^0 is 1",
		edits: alone("action/delay.go", "case c == 0 || backOff == 1:", "case c == 0 && backOff > 0 || backOff == 1:"),
	},
	{
		name: "delay-power-plus-one", requirement: "M-24", tests: rules,
		why:   "the exponent counts the failure that is being retried",
		edits: alone("action/delay.go", "product(scale, backOff, c, most-least)", "product(scale, backOff, c+1, most-least)"),
	},
	{
		name: "delay-truncated", requirement: "M-17", tests: rules,
		why:   "delays are cut to the nanosecond instead of rounded, and are early by one",
		edits: alone("action/delay.go", "big.NewFloat(0.5)", "big.NewFloat(0)"),
	},
	{
		name: "default-policy-retries", requirement: "M-19", tests: rules,
		why:   "an action without a retry policy is performed twice",
		edits: alone("action/retry.go", "RestartPeriodScale: durationpb.New(0),", "RestartPeriodScale: durationpb.New(0), MaxRetries: 1,"),
	},
	{
		name: "max-attempts-is-max-retries", requirement: "M-23", tests: rules,
		why:   "the last retry is never made, and MaxRetries 0 becomes Temporal's unlimited",
		edits: alone("action/retry.go", "min(p.GetMaxRetries(), math.MaxInt32-1) + 1", "min(p.GetMaxRetries(), math.MaxInt32-1)"),
	},
	{
		name: "max-attempts-wraps", requirement: "M-21", tests: rules,
		why:   "the greatest uint32 plus one is 0: no attempt by the rules, unlimited by Temporal",
		edits: alone("action/retry.go", "min(p.GetMaxRetries(), math.MaxInt32-1) + 1", "min(p.GetMaxRetries(), math.MaxUint32) + 1"),
	},
	{
		name: "native-coefficient-below-one", requirement: "M-22", tests: rules,
		why:   "Temporal refuses the retry policy, and the workflow task fails for ever",
		edits: alone("action/retry.go", "if math.IsNaN(coefficient) || coefficient < 1 {", "if math.IsNaN(coefficient) || coefficient < 0 {"),
	},
	{
		name: "native-maximum-below-initial", requirement: "M-22", tests: rules,
		why:   "Temporal refuses the retry policy, and the workflow task fails for ever",
		edits: alone("action/retry.go", "maximum = max(maximum, initial)", "maximum = min(maximum, initial)/2"),
	},
}
