package playbook

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Reasons that gnomon itself gives for a state.
const (
	ReasonLost      = "the agent no longer has it and nobody saw how it ended"
	ReasonOverwrote = "the agent had another action of this id, which stands"
)

// Merged is what a report made of the core's records of one node.
type Merged struct {
	// Unfinished are the node's actions that have not finished, by create_time and id.
	Unfinished []*workflowv1.NodeActionRecord
	// Changed are the actions whose record changed, finished or not, in the order of the
	// report; those that were lost come last. Each is to be stored.
	Changed []*gnomonv1.NodeAction
}

// Merge makes the core's unfinished actions of a node agree with what its agent
// reported in the same cycle. Only a report of the agent moves an action that the
// agent may have.
//
//   - What the agent has replaces what the core has, whole; that the contents
//     differ is noted by overwrite_time.
//   - What the core does not have is adopted.
//   - What the agent does not have, but had or accepted, is LOST and never pushed
//     again; what it never accepted stays as it is and may be pushed again.
//
// Records are not changed in place. An action of the report for another node is left
// out, since only its own agent may speak of it.
func Merge(cluster, node string, core []*workflowv1.NodeActionRecord, report *workflowv1.AgentSyncResult, now time.Time) Merged {
	known := make(map[string]*workflowv1.NodeActionRecord, len(core))
	var ids []string
	for _, r := range core {
		known[r.GetAction().GetId()] = r
		ids = append(ids, r.GetAction().GetId())
	}
	var m Merged
	for _, reported := range report.GetRecords() {
		id := reported.GetId()
		before := known[id]
		after := agentWins(cluster, node, before, reported, now)
		if before != nil && proto.Equal(before.GetAction(), after.GetAction()) {
			continue
		}
		m.Changed = append(m.Changed, after.GetAction())
		if known[id] = after; before == nil {
			ids = append(ids, id)
		}
	}
	for _, id := range report.GetAbsent() {
		r := known[id]
		if r == nil || !accepted(r.GetAction()) || Finished(r.GetAction().GetState()) {
			continue
		}
		lost := proto.CloneOf(r)
		setState(lost.GetAction(), gnomonv1.NodeAction_LOST, ReasonLost)
		lost.Action.FinishTime = timestamppb.New(now)
		lost.Action.CancelRequested = false
		m.Changed = append(m.Changed, lost.GetAction())
		known[id] = lost
	}
	for _, id := range ids {
		if r := known[id]; !Finished(r.GetAction().GetState()) {
			m.Unfinished = append(m.Unfinished, r)
		}
	}
	slices.SortFunc(m.Unfinished, byCreation)
	return m
}

// accepted says whether the agent is known to have had the action.
func accepted(a *gnomonv1.NodeAction) bool { return OnAgent(a.GetState()) || a.GetPushTime() != nil }

// agentWins is the core's record after the agent's word. What only the core knows is
// kept as long as it is the same action: who asked and decided, the playbook that waits
// for this id, and that a cancellation is wanted.
func agentWins(cluster, node string, before *workflowv1.NodeActionRecord, reported *gnomonv1.NodeAction, now time.Time) *workflowv1.NodeActionRecord {
	after := &workflowv1.NodeActionRecord{Action: proto.CloneOf(reported), PushAttempted: true}
	a := after.GetAction()
	a.Cluster, a.Node, a.Class = cluster, node, Class(a.GetState())
	a.Approve, a.DecidedBy, a.PushTime, a.OverwriteTime, a.CancelRequested = false, "", nil, nil, false
	if before == nil {
		return after
	}
	was := before.GetAction()
	// A playbook that waits for this id sees what the agent made of it.
	a.Playbook, a.Stage = was.GetPlaybook(), was.GetStage()
	a.PushTime = was.GetPushTime()
	after.RequestId, after.Digest = before.GetRequestId(), before.GetDigest()
	if SameWork(was, reported) {
		a.Origin, a.RequestedBy, a.DecidedBy = was.GetOrigin(), was.GetRequestedBy(), was.GetDecidedBy()
		a.Approve, a.CreateTime, a.OverwriteTime = was.GetApprove(), was.GetCreateTime(), was.GetOverwriteTime()
		if !Finished(a.GetState()) {
			a.CancelRequested, after.CancelReason = was.GetCancelRequested(), before.GetCancelReason()
		}
		return after
	}
	a.OverwriteTime = timestamppb.New(now)
	a.Reason = cmp.Or(a.GetReason(), ReasonOverwrote)
	return after
}

// SameWork says whether two records of one id are the same action: the same work on
// the same node, whatever became of it.
func SameWork(a, b *gnomonv1.NodeAction) bool {
	return proto.Equal(
		&gnomonv1.NodeAction{Id: a.GetId(), Action: a.GetAction()},
		&gnomonv1.NodeAction{Id: b.GetId(), Action: b.GetAction()},
	)
}

// byCreation is the order of execution: by create_time, then id, so that it is the
// same for core and agent.
func byCreation(a, b *workflowv1.NodeActionRecord) int {
	return ByCreation(a.GetAction(), b.GetAction())
}

// ByCreation compares two actions by the order of execution.
func ByCreation(a, b *gnomonv1.NodeAction) int {
	return cmp.Or(
		a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime()),
		cmp.Compare(a.GetId(), b.GetId()),
	)
}
