package playbook

import gnomonv1 "gnomon/api/gnomon/v1"

// classes are the legend of seed 002 as R-27 reads it.
var classes = map[gnomonv1.NodeAction_State]gnomonv1.NodeAction_Class{
	gnomonv1.NodeAction_PENDING_APPROVE:  gnomonv1.NodeAction_CORE_INTERMEDIATE,
	gnomonv1.NodeAction_PENDING_SCHEDULE: gnomonv1.NodeAction_CORE_INTERMEDIATE,
	gnomonv1.NodeAction_NEW:              gnomonv1.NodeAction_AGENT_INTERMEDIATE,
	gnomonv1.NodeAction_RUNNING:          gnomonv1.NodeAction_AGENT_INTERMEDIATE,
	gnomonv1.NodeAction_DONE:             gnomonv1.NodeAction_SUCCESS,
	gnomonv1.NodeAction_CANCELLED:        gnomonv1.NodeAction_NOT_EXECUTED,
	gnomonv1.NodeAction_FAILED:           gnomonv1.NodeAction_UNSUCCESSFUL,
	gnomonv1.NodeAction_LOST:             gnomonv1.NodeAction_UNSUCCESSFUL,
}

// Class is the class of a state.
func Class(s gnomonv1.NodeAction_State) gnomonv1.NodeAction_Class { return classes[s] }

// Finished says whether a state is an end: DONE, FAILED, CANCELLED, LOST. A
// finished action changes only if its agent has another one of its id.
func Finished(s gnomonv1.NodeAction_State) bool {
	switch Class(s) {
	case gnomonv1.NodeAction_SUCCESS, gnomonv1.NodeAction_NOT_EXECUTED, gnomonv1.NodeAction_UNSUCCESSFUL:
		return true
	default:
		return false
	}
}

// OnAgent says whether a state is one that only an agent reports.
func OnAgent(s gnomonv1.NodeAction_State) bool {
	return Class(s) == gnomonv1.NodeAction_AGENT_INTERMEDIATE
}

// Starting says whether an action may begin in this state: through the core in a
// PENDING_* state, on an agent in NEW.
func Starting(s gnomonv1.NodeAction_State) bool {
	return Class(s) == gnomonv1.NodeAction_CORE_INTERMEDIATE || s == gnomonv1.NodeAction_NEW
}

// setState puts an action into a state, and its class with it.
func setState(a *gnomonv1.NodeAction, s gnomonv1.NodeAction_State, reason string) {
	a.State, a.Class, a.Reason = s, Class(s), reason
}
