package main

import "slices"

// goal is how often a fault must be injected for a full run to say something.
type goal struct {
	fault, what string
	want        int
}

// goals are those of issue 3; a full run that injected less is not all zeros.
var goals = []goal{
	{"F1", "worker kills", 100},
	{"F2", "Temporal kills", 50},
	{"F3", "facade kills between commit and reply", 100},
	{"F4", "lost answers", 10_000},
	{"F10", "racing histories", 1000},
}

// injected counts a fault's injections. Answers are lost in several scenarios.
func injected(all []played, fault string) int {
	n := 0
	for _, p := range all {
		if p.verdict != nil && (fault == "F4" || slices.Contains(p.scenario.Faults, fault)) {
			n += p.verdict.Injections[fault]
		}
	}
	return n
}

// short are the goals that a run did not reach.
func short(all []played) []goal {
	var missed []goal
	for _, g := range goals {
		if injected(all, g.fault) < g.want {
			missed = append(missed, g)
		}
	}
	return missed
}
