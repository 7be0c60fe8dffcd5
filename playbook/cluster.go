package playbook

import (
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// What a command to a cluster is refused for, beside ErrNotPending and ErrFinished.
var (
	// ErrNoNode: the cluster has no such node.
	ErrNoNode = errors.New("the cluster has no such node")
	// ErrNotFound: the cluster has no unfinished action of this id.
	ErrNotFound = errors.New("the cluster has no unfinished action of this id")
	// ErrExists: the id is taken.
	ErrExists = errors.New("the cluster has an action of this id")
	// ErrReused: the request_id was used for something else.
	ErrReused = errors.New("the request_id was used for another request")
	// ErrUnfinished: the node has unfinished actions.
	ErrUnfinished = errors.New("the node has unfinished actions")
	// ErrFull: one cluster cannot hold so many nodes, or so much that is unfinished.
	ErrFull = errors.New("the cluster has as many nodes or unfinished actions as it can hold")
	// ErrMalformed: the command says nothing that is known.
	ErrMalformed = errors.New("the command is malformed")
)

const (
	// MaxUnfinishedBytes bounds the unfinished actions in the state of a cluster, which
	// Temporal carries as one payload of at most 2 MiB.
	MaxUnfinishedBytes = 512 << 10
	// MaxNodesBytes is the nodes' part.
	MaxNodesBytes = 512 << 10
	// nodeBytes is what is known of a node, beside its name and labels.
	nodeBytes = 200
	// remembered is how many commands' ids are kept.
	remembered = 100
)

const (
	reasonNoNode      = "the cluster has no such node"
	reasonNodeRemoved = "the node was removed"
)

// Apply applies a command to a cluster and says what became of it and which actions
// changed, for their rows and playbooks. A command whose id was applied before changes
// nothing.
func Apply(s *workflowv1.ClusterState, c *workflowv1.ClusterCommand, now time.Time) (*workflowv1.ClusterResult, []*gnomonv1.NodeAction, error) {
	seen := c.GetId() != "" && slices.Contains(s.GetAppliedCommands(), c.GetId())
	r := &workflowv1.ClusterResult{Cycle: s.GetLastCycle().GetNumber() + 1}
	var changed []*gnomonv1.NodeAction
	var err error
	switch command := c.GetCommand().(type) {
	case *workflowv1.ClusterCommand_Schedule_:
		r.Action, changed, err = schedule(s, command.Schedule, seen, now)
	case *workflowv1.ClusterCommand_Approve:
		r.Action, changed, err = decide(s, command.Approve, seen, approveAction)
	case *workflowv1.ClusterCommand_Reject:
		r.Action, changed, err = decide(s, command.Reject, seen, func(rec *workflowv1.NodeActionRecord, d *workflowv1.ClusterCommand_Decision) error {
			return rejectAction(rec, d, now)
		})
	case *workflowv1.ClusterCommand_Cancel:
		r.Action, changed, err = decide(s, command.Cancel, seen, func(rec *workflowv1.NodeActionRecord, d *workflowv1.ClusterCommand_Decision) error {
			cancelAction(rec, orElse(d.GetReason(), reasonCancelled), now)
			return nil
		})
	case *workflowv1.ClusterCommand_Nudge_:
		s.WantedAll = true // whose cycle tells all playbooks again
	case *workflowv1.ClusterCommand_Register:
		r.Node, err = Register(s, command.Register)
	case *workflowv1.ClusterCommand_Remove:
		changed, err = remove(s, command.Remove, now)
	default:
		err = ErrMalformed
	}
	if err != nil {
		return nil, nil, err
	}
	if !seen && c.GetId() != "" {
		s.AppliedCommands = append(s.GetAppliedCommands(), c.GetId())
		if more := len(s.GetAppliedCommands()) - remembered; more > 0 {
			s.AppliedCommands = slices.Delete(s.GetAppliedCommands(), 0, more)
		}
	}
	if len(changed) > 0 {
		s.Wanted = true
		Settle(s, changed)
	}
	return r, changed, nil
}

// schedule records actions. Those of a playbook come any number of times; the action on
// a node that the cluster does not have ends at once, so that the stage goes on.
func schedule(s *workflowv1.ClusterState, c *workflowv1.ClusterCommand_Schedule, seen bool, now time.Time) (*gnomonv1.NodeAction, []*gnomonv1.NodeAction, error) {
	if len(c.GetActions()) == 0 {
		return nil, nil, ErrMalformed
	}
	if size := unfinishedBytes(s) + proto.Size(c); size > MaxUnfinishedBytes {
		return nil, nil, ErrFull
	}
	for _, wanted := range c.GetActions() {
		have := Find(s, wanted.GetId()).GetAction()
		if have != nil && wanted.GetPlaybook() != "" && have.GetPlaybook() != wanted.GetPlaybook() {
			return nil, nil, ErrExists // somebody else's; the playbook tries again when it has ended
		}
	}
	forgetStages(s, c.GetActions())
	var first *gnomonv1.NodeAction
	var changed []*gnomonv1.NodeAction
	for _, wanted := range c.GetActions() {
		have := Find(s, wanted.GetId())
		ofPlaybook := wanted.GetOrigin() == gnomonv1.NodeAction_PLAYBOOK
		switch {
		case ofPlaybook && (have != nil || settled(s, wanted.GetId())):
			continue
		case have != nil && c.GetRequestId() != "" && have.GetRequestId() == c.GetRequestId():
			if have.GetDigest() != c.GetDigest() {
				return nil, nil, ErrReused
			}
			return have.GetAction(), nil, nil
		case have != nil:
			return nil, nil, ErrExists
		case seen:
			continue
		case node(s, wanted.GetNode()) == nil && !ofPlaybook:
			return nil, nil, ErrNoNode
		}
		a := proto.CloneOf(wanted)
		a.Cluster = s.GetCluster()
		if a.GetCreateTime() == nil {
			a.CreateTime = timestamppb.New(now)
		}
		setState(a, gnomonv1.NodeAction_PENDING_SCHEDULE, "")
		if a.GetApprove() {
			setState(a, gnomonv1.NodeAction_PENDING_APPROVE, "")
		}
		changed = append(changed, a)
		if first == nil {
			first = a
		}
		if node(s, a.GetNode()) == nil {
			conclude(a, gnomonv1.NodeAction_CANCELLED, reasonNoNode, now)
			continue
		}
		s.Unfinished = append(s.GetUnfinished(), &workflowv1.NodeActionRecord{Action: a, RequestId: c.GetRequestId(), Digest: c.GetDigest()})
	}
	slices.SortStableFunc(s.GetUnfinished(), byCreation)
	return first, changed, nil
}

// decide finds the action that a decision is about and applies it.
func decide(s *workflowv1.ClusterState, d *workflowv1.ClusterCommand_Decision, seen bool, apply func(*workflowv1.NodeActionRecord, *workflowv1.ClusterCommand_Decision) error) (*gnomonv1.NodeAction, []*gnomonv1.NodeAction, error) {
	r := Find(s, d.GetAction())
	if r == nil {
		return nil, nil, ErrNotFound
	}
	if seen {
		return r.GetAction(), nil, nil
	}
	if err := apply(r, d); err != nil {
		return nil, nil, err
	}
	drop(s)
	return r.GetAction(), []*gnomonv1.NodeAction{r.GetAction()}, nil
}

func approveAction(r *workflowv1.NodeActionRecord, d *workflowv1.ClusterCommand_Decision) error {
	if r.GetAction().GetState() != gnomonv1.NodeAction_PENDING_APPROVE {
		return ErrNotPending
	}
	r.Action.DecidedBy = d.GetBy()
	setState(r.GetAction(), gnomonv1.NodeAction_PENDING_SCHEDULE, "")
	return nil
}

// rejectAction: R-07 says nothing of a rejection; it cancels.
func rejectAction(r *workflowv1.NodeActionRecord, d *workflowv1.ClusterCommand_Decision, now time.Time) error {
	if r.GetAction().GetState() != gnomonv1.NodeAction_PENDING_APPROVE {
		return ErrNotPending
	}
	r.Action.DecidedBy = d.GetBy()
	conclude(r.GetAction(), gnomonv1.NodeAction_CANCELLED, orElse(d.GetReason(), reasonRejected), now)
	return nil
}

// cancelAction ends an action that the agent cannot have, and marks any other for the
// next cycle, which tells the agent.
func cancelAction(r *workflowv1.NodeActionRecord, reason string, now time.Time) {
	if !r.GetPushAttempted() && !accepted(r.GetAction()) {
		conclude(r.GetAction(), gnomonv1.NodeAction_CANCELLED, reason, now)
		return
	}
	if !r.GetAction().GetCancelRequested() {
		r.Action.CancelRequested, r.CancelReason = true, reason
	}
}

// conclude ends an action.
func conclude(a *gnomonv1.NodeAction, state gnomonv1.NodeAction_State, reason string, now time.Time) {
	setState(a, state, reason)
	a.FinishTime, a.CancelRequested = timestamppb.New(now), false
}

// Register makes a node known or replaces its labels. What is known of its agent stays.
// It fails with ErrFull if the cluster cannot hold that.
func Register(s *workflowv1.ClusterState, n *gnomonv1.Node) (*gnomonv1.Node, error) {
	have := node(s, n.GetName())
	if !fits(s, have, n) {
		return nil, ErrFull
	}
	s.Wanted = true
	if have != nil {
		have.Node.Labels, have.News = n.GetLabels(), true
		return have.GetNode(), nil
	}
	added := &workflowv1.NodeRecord{Node: &gnomonv1.Node{Name: n.GetName(), Labels: n.GetLabels()}, News: true}
	s.Nodes = append(s.GetNodes(), added)
	slices.SortFunc(s.GetNodes(), func(a, b *workflowv1.NodeRecord) int {
		return compareNames(a.GetNode().GetName(), b.GetNode().GetName())
	})
	return added.GetNode(), nil
}

// fits says whether the cluster can hold a node in the place of the one it has, if any.
func fits(s *workflowv1.ClusterState, have *workflowv1.NodeRecord, n *gnomonv1.Node) bool {
	known := func(n *gnomonv1.Node) int {
		return nodeBytes + proto.Size(&gnomonv1.Node{Name: n.GetName(), Labels: n.GetLabels()})
	}
	size, count := known(n), 1
	for _, other := range s.GetNodes() {
		if other != have {
			size, count = size+known(other.GetNode()), count+1
		}
	}
	return count <= MaxNodes && size <= MaxNodesBytes
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// remove forgets a node. By force its unfinished actions end: LOST where the agent may
// have them, CANCELLED where it cannot.
func remove(s *workflowv1.ClusterState, c *workflowv1.ClusterCommand_RemoveNode, now time.Time) ([]*gnomonv1.NodeAction, error) {
	if node(s, c.GetNode()) == nil {
		return nil, ErrNoNode
	}
	mine := Of(s, c.GetNode())
	if len(mine) > 0 && !c.GetForce() {
		return nil, ErrUnfinished
	}
	var changed []*gnomonv1.NodeAction
	for _, r := range mine {
		state := gnomonv1.NodeAction_CANCELLED
		if r.GetPushAttempted() || accepted(r.GetAction()) {
			state = gnomonv1.NodeAction_LOST
		}
		conclude(r.GetAction(), state, reasonNodeRemoved, now)
		changed = append(changed, r.GetAction())
	}
	drop(s)
	s.Nodes = slices.DeleteFunc(s.GetNodes(), func(n *workflowv1.NodeRecord) bool { return n.GetNode().GetName() == c.GetNode() })
	return changed, nil
}

// Find is an unfinished action's record, or nil.
func Find(s *workflowv1.ClusterState, id string) *workflowv1.NodeActionRecord {
	for _, r := range s.GetUnfinished() {
		if r.GetAction().GetId() == id {
			return r
		}
	}
	return nil
}

// Of are the unfinished actions of a node, in the order of execution.
func Of(s *workflowv1.ClusterState, node string) []*workflowv1.NodeActionRecord {
	var mine []*workflowv1.NodeActionRecord
	for _, r := range s.GetUnfinished() {
		if r.GetAction().GetNode() == node {
			mine = append(mine, r)
		}
	}
	return mine
}

// Replace puts a node's unfinished actions in the place of those it had.
func Replace(s *workflowv1.ClusterState, node string, with []*workflowv1.NodeActionRecord) {
	s.Unfinished = slices.DeleteFunc(s.GetUnfinished(), func(r *workflowv1.NodeActionRecord) bool { return r.GetAction().GetNode() == node })
	s.Unfinished = append(s.GetUnfinished(), with...)
	slices.SortStableFunc(s.GetUnfinished(), byCreation)
}

// drop forgets what has finished.
func drop(s *workflowv1.ClusterState) {
	s.Unfinished = slices.DeleteFunc(s.GetUnfinished(), func(r *workflowv1.NodeActionRecord) bool { return Finished(r.GetAction().GetState()) })
}

func node(s *workflowv1.ClusterState, name string) *workflowv1.NodeRecord {
	for _, n := range s.GetNodes() {
		if n.GetNode().GetName() == name {
			return n
		}
	}
	return nil
}

func settled(s *workflowv1.ClusterState, id string) bool {
	return slices.ContainsFunc(s.GetSettled(), func(t *workflowv1.Settled) bool { return t.GetAction().GetId() == id })
}

func unfinishedBytes(s *workflowv1.ClusterState) int {
	size := 0
	for _, r := range s.GetUnfinished() {
		size += proto.Size(r)
	}
	return size
}
