package playbook

import (
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Policy bounds what a cycle gives to agents (R-14; the seed leaves it to a guide
// that is not part of it).
type Policy struct {
	// UnfinishedPerAgent is how many actions that have not finished an agent may have or
	// be given, at least 1. Default 1: short queues, and what waits in the core can
	// still be cancelled without asking anybody.
	UnfinishedPerAgent int
	// BusyNodes is how many nodes of a cluster may have such actions at a time. 0 (the
	// default): all.
	BusyNodes int
}

// WithDefaults returns the policy with its zero fields filled in.
func (p Policy) WithDefaults() Policy {
	if p.UnfinishedPerAgent < 1 {
		p.UnfinishedPerAgent = 1
	}
	return p
}

// View is the cluster beside the node that is decided about: what this cycle has
// fetched of the nodes it has visited, and the last that was known of the others.
type View struct {
	// BusyNodes are the other nodes that have actions or were given some.
	BusyNodes int
}

// Decision is what a cycle does for one node after its report.
type Decision struct {
	// Push are the actions to give to the agent now, in the order of execution.
	Push []*workflowv1.NodeActionRecord
	// Cancel are those to stop on the agent.
	Cancel []*workflowv1.NodeActionRecord
	// Waits says, for people, why PENDING_SCHEDULE actions were left, or nothing.
	Waits string
}

// Decide chooses what to push to a node and what to cancel on it, from the records as
// Merge left them in the same cycle. Nothing is pushed to a node that is not UP
// and nothing that the agent has accepted is pushed again.
func Decide(p Policy, v View, health gnomonv1.Node_Health, unfinished []*workflowv1.NodeActionRecord) Decision {
	p = p.WithDefaults()
	var d Decision
	room, waiting := p.UnfinishedPerAgent, 0
	for _, r := range unfinished {
		a := r.GetAction()
		if a.GetCancelRequested() {
			d.Cancel = append(d.Cancel, r)
		}
		if accepted(a) {
			room--
		}
	}
	idle := room == p.UnfinishedPerAgent
	for _, r := range unfinished {
		a := r.GetAction()
		switch {
		case a.GetState() != gnomonv1.NodeAction_PENDING_SCHEDULE, a.GetCancelRequested(), accepted(a):
		case health != gnomonv1.Node_UP:
			waiting++
			d.Waits = "the node is not UP"
		case idle && p.BusyNodes > 0 && v.BusyNodes >= p.BusyNodes:
			waiting++
			d.Waits = fmt.Sprintf("%d nodes of the cluster are busy, and no more may be", v.BusyNodes)
		case room <= 0:
			waiting++
			d.Waits = fmt.Sprintf("the agent has %d unfinished actions, and no more may wait there", p.UnfinishedPerAgent-room)
		default:
			d.Push = append(d.Push, r)
			room--
		}
	}
	if waiting > 0 {
		d.Waits = fmt.Sprintf("%d wait: %s", waiting, d.Waits)
	}
	return d
}

// Busy says whether a node counts as busy for Policy.BusyNodes.
func Busy(unfinished []*workflowv1.NodeActionRecord) bool {
	for _, r := range unfinished {
		if accepted(r.GetAction()) {
			return true
		}
	}
	return false
}
