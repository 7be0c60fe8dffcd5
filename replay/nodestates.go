package replay

import (
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
)

// Cluster and Playbook begin the names of the recordings of clusters and of playbooks.
const (
	Cluster  = "cluster"
	Playbook = "playbook"
)

const (
	told    = enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED
	untold  = enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED
	settled = enumspb.EVENT_TYPE_MARKER_RECORDED
)

// ClusterStates are those of clusters that every version of the rules has a recording of.
func ClusterStates() []State {
	return slices.Concat(clusterCycleStates, clusterActionStates, clusterPlaybookStates, clusterContinuedStates)
}

var clusterCycleStates = []State{
	{"cluster-empty", Open, events(updated, settled)},
	{"cluster-quiet", Open, events(signalled, settled, completed, sleeps)},
	{"cluster-slow-rounds", Open, events(completed, sleeps, wakes)},
	{"cluster-nudged", Open, events(updated, completed, disarmed)},
	{"cluster-silent-node", Open, events(updated, timedOut, sleeps)},
	{"cluster-failing-node", Open, events(failed, sleeps)},
	{"cluster-node-back", Open, events(updated, timedOut, completed)},
	{"cluster-node-removed", Open, events(updated, completed)},
	{"cluster-settings-changed", Open, events(settled, sleeps)},
	{"cluster-malformed-signals", Open, events(signalled, completed)},
	{"cluster-commands-by-signal", Open, events(signalled, completed)},
	{"cluster-refusals", Open, events(updated)},
}

var clusterActionStates = []State{
	{"cluster-pending-approve", Open, events(updated, completed)},
	{"cluster-rejected", Open, events(updated, completed)},
	{"cluster-withdrawn", Open, events(updated, completed)},
	{"cluster-node-not-up", Open, events(updated, completed, sleeps, wakes)},
	{"cluster-pushed", Open, events(updated, completed)},
	{"cluster-new", Open, events(updated, completed)},
	{"cluster-running", Open, events(updated, completed)},
	{"cluster-queue", Open, events(updated, completed)},
	{"cluster-done", Open, events(updated, completed)},
	{"cluster-approved-and-done", Open, events(updated, completed)},
	{"cluster-failed", Open, events(updated, completed)},
	{"cluster-not-permitted", Open, events(updated, completed)},
	{"cluster-cancelled-running", Open, events(updated, completed)},
	{"cluster-cancelled-unheard", Open, events(updated, timedOut)},
	{"cluster-interrupted", Open, events(updated, completed)},
	{"cluster-adopted", Open, events(signalled, completed)},
	{"cluster-agent-wins", Open, events(updated, completed)},
	{"cluster-lost", Open, events(updated, completed)},
	{"cluster-lost-by-force", Open, events(updated, completed)},
	{"cluster-store-down", Open, events(updated, scheduled)},
}

var clusterPlaybookStates = []State{
	{"cluster-of-playbook", Open, events(updated, told)},
	{"cluster-of-playbook-ended", Open, events(updated, told, untold)},
	{"cluster-of-playbook-without-node", Open, events(updated, told)},
}

var clusterContinuedStates = []State{
	{"cluster-continued", Continued, events(signalled, completed)},
	{"cluster-continued-next", Open, events(settled, updated, completed)},
	{"cluster-continued-store-down", Continued, events(signalled, scheduled)},
	{"cluster-continued-store-down-next", Open, events(settled, completed)},
}

// PlaybookStates are those of playbooks that every version of the rules has a recording of.
func PlaybookStates() []State {
	return slices.Concat(playbookStageStates, playbookCommandStates, playbookContinuedStates)
}

var playbookStageStates = []State{
	{"playbook-first-stage", Open, events(scheduled, completed, signalled)},
	{"playbook-second-stage", Open, events(scheduled, completed, signalled)},
	{"playbook-parallel", Open, events(scheduled, completed, signalled)},
	{"playbook-done", "DONE", events(completed, signalled)},
	{"playbook-done-by-labels", "DONE", events(completed, signalled)},
	{"playbook-stopped", "FAILED", events(completed, signalled)},
	{"playbook-stopped-in-parallel", "FAILED", events(completed, signalled)},
	{"playbook-failures-allowed", "DONE", events(completed, signalled)},
	{"playbook-continued-on-failure", "DONE", events(completed, signalled)},
	{"playbook-without-nodes", "FAILED", events(completed)},
	{"playbook-unknown-node", "FAILED", events(completed, signalled)},
	{"playbook-timed-out", "FAILED", events(sleeps, wakes, completed, signalled)},
	{"playbook-in-time", "DONE", events(sleeps, disarmed, completed, signalled)},
	{"playbook-store-down", Open, events(scheduled, signalled)},
	{"playbook-stage-approval", Open, events(completed, signalled)},
	{"playbook-without-cluster", "FAILED", events(completed)},
}

var playbookCommandStates = []State{
	{"playbook-pending-approve", Open, events(completed)},
	{"playbook-approved", "DONE", events(updated, completed, signalled)},
	{"playbook-approved-by-signal", "DONE", events(signalled, completed)},
	{"playbook-rejected", "CANCELLED", events(updated, completed)},
	{"playbook-withdrawn", "CANCELLED", events(updated, completed)},
	{"playbook-cancelled", "CANCELLED", events(updated, completed, signalled)},
	{"playbook-cancelling", Open, events(updated, completed, signalled)},
	{"playbook-cancelled-by-temporal", "CANCELLED", events(cancelAsked, completed, signalled)},
	{"playbook-nudged", Open, events(updated, completed, signalled)},
	{"playbook-refusals", Open, events(updated, completed)},
	{"playbook-malformed-signals", "DONE", events(signalled, completed)},
}

var playbookContinuedStates = []State{
	{"playbook-continued", Continued, events(signalled, completed)},
	{"playbook-continued-next", "DONE", events(signalled, completed)},
	{"playbook-continued-pending", Continued, events(signalled, completed)},
	{"playbook-continued-pending-next", "DONE", events(updated, completed)},
}
