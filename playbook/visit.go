package playbook

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Defaults of the settings of clusters.
const (
	DefaultInterval     = 10 * time.Second
	DefaultSlowInterval = 10 * time.Minute
	DefaultNodeTimeout  = 10 * time.Second
	// maxErrors bounds a cycle's report.
	maxErrors = 100
	maxError  = 300
)

// Settings returns the settings with defaults for what is not set.
func Settings(s *workflowv1.ClusterSettings) *workflowv1.ClusterSettings {
	s = proto.CloneOf(s)
	if s == nil {
		s = &workflowv1.ClusterSettings{}
	}
	set := func(d **durationpb.Duration, otherwise time.Duration) {
		if (*d).AsDuration() <= 0 {
			*d = durationpb.New(otherwise)
		}
	}
	set(&s.Interval, DefaultInterval)
	set(&s.SlowInterval, DefaultSlowInterval)
	set(&s.NodeTimeout, DefaultNodeTimeout)
	return s
}

// NextCycle says when the next cycle is to begin: now, if it is wanted or a node has
// news; while actions are unfinished, an interval after the last; else at the slow round
// . A node that did not answer is asked again when its time has come.
func NextCycle(s *workflowv1.ClusterState, now time.Time) time.Time {
	set := Settings(s.GetSettings())
	if s.GetWanted() || s.GetWantedAll() || slices.ContainsFunc(s.GetNodes(), (*workflowv1.NodeRecord).GetNews) {
		return now
	}
	next := s.GetLastRound().AsTime().Add(set.GetSlowInterval().AsDuration())
	if len(s.GetUnfinished()) > 0 || len(s.GetSettled()) > 0 {
		last := s.GetLastCycle().GetStartTime().AsTime()
		if soon := last.Add(set.GetInterval().AsDuration()); soon.Before(next) {
			next = soon
		}
	}
	for _, n := range s.GetNodes() {
		if again := n.GetNotBefore().AsTime(); n.GetFailures() > 0 && again.Before(next) {
			next = again
		}
	}
	if len(s.GetNodes()) == 0 && len(s.GetUnfinished()) == 0 && len(s.GetSettled()) == 0 {
		return time.Time{}
	}
	if next.Before(now) {
		return now
	}
	return next
}

// BeginCycle begins a cycle and returns the nodes it visits, by name: those with news or
// unfinished actions, and all on a nudge and on the slow round. A node that did not answer
// is left out for a while, so that its silence does not slow every cycle, and asked again
// then; news ends that.
func BeginCycle(s *workflowv1.ClusterState, now time.Time) []string {
	set := Settings(s.GetSettings())
	all := s.GetWantedAll() || !now.Before(s.GetLastRound().AsTime().Add(set.GetSlowInterval().AsDuration()))
	if all {
		s.LastRound = timestamppb.New(now)
	}
	s.Wanted, s.WantedAll = false, false
	s.LastCycle = &gnomonv1.Cycle{Number: s.GetLastCycle().GetNumber() + 1, StartTime: timestamppb.New(now)}
	busy := map[string]bool{}
	for _, r := range s.GetUnfinished() {
		busy[r.GetAction().GetNode()] = true
	}
	var visited []string
	for _, n := range s.GetNodes() {
		name := n.GetNode().GetName()
		if all || n.GetNews() || (busy[name] || n.GetFailures() > 0) && !now.Before(n.GetNotBefore().AsTime()) {
			n.News = false
			visited = append(visited, name)
		}
	}
	s.LastCycle.Visited = uint32(len(visited))
	return visited
}

// EndCycle ends it.
func EndCycle(s *workflowv1.ClusterState, now time.Time) {
	s.LastCycle.Duration = durationpb.New(now.Sub(s.GetLastCycle().GetStartTime().AsTime()))
}

// SyncInput is what to ask a node's agent.
func SyncInput(s *workflowv1.ClusterState, name string) *workflowv1.AgentSyncInput {
	n := node(s, name)
	in := &workflowv1.AgentSyncInput{Incarnation: n.GetIncarnation(), Cursor: n.GetCursor()}
	for _, r := range Of(s, name) {
		if r.GetPushAttempted() || accepted(r.GetAction()) {
			in.Ask = append(in.Ask, r.GetAction().GetId())
		}
	}
	return in
}

// Synced takes an agent's report and decides, from just that, what to push and to cancel
// . What it returns to be pushed counts as given from now on.
func Synced(s *workflowv1.ClusterState, name string, report *workflowv1.AgentSyncResult, now time.Time) (changed []*gnomonv1.NodeAction, d Decision) {
	n := node(s, name)
	if n == nil {
		return nil, Decision{} // removed meanwhile
	}
	n.Incarnation, n.Cursor = report.GetIncarnation(), report.GetCursor()
	n.Failures, n.NotBefore = 0, nil
	n.News = n.GetNews() || report.GetMore()
	n.Node.LastSeen, n.Node.Reason = timestamppb.New(now), report.GetReason()
	n.Node.Health = gnomonv1.Node_DOWN
	if report.GetUp() {
		n.Node.Health = gnomonv1.Node_UP
	}
	m := Merge(s.GetCluster(), name, Of(s, name), report, now)
	Replace(s, name, m.Unfinished)
	set := s.GetSettings()
	d = Decide(Policy{UnfinishedPerAgent: int(set.GetUnfinishedPerAgent()), BusyNodes: int(set.GetBusyNodes())},
		View{BusyNodes: busyBeside(s, name)}, n.GetNode().GetHealth(), m.Unfinished)
	for _, r := range d.Push {
		r.PushAttempted = true
	}
	s.LastCycle.Changed += uint32(len(m.Changed))
	return m.Changed, d
}

// busyBeside counts the other nodes that have actions, or may.
func busyBeside(s *workflowv1.ClusterState, name string) int {
	busy := map[string]bool{}
	for _, r := range s.GetUnfinished() {
		if a := r.GetAction(); a.GetNode() != name && (r.GetPushAttempted() || accepted(a)) {
			busy[a.GetNode()] = true
		}
	}
	return len(busy)
}

// Pushed takes the agent's answer to a push. What it took stays PENDING_SCHEDULE until a
// later cycle has seen it there; what it refused has ended.
func Pushed(s *workflowv1.ClusterState, ids []string, r *workflowv1.AgentPushResult, now time.Time) []*gnomonv1.NodeAction {
	refused := map[string]*workflowv1.AgentPushResult_Refused{}
	for _, one := range r.GetRefused() {
		refused[one.GetId()] = one
	}
	var changed []*gnomonv1.NodeAction
	for _, id := range ids {
		rec := Find(s, id)
		if rec == nil {
			continue
		}
		if no := refused[id]; no != nil {
			conclude(rec.GetAction(), no.GetState(), no.GetReason(), now)
		} else {
			rec.Action.PushTime = timestamppb.New(now)
			s.LastCycle.Pushed++
		}
		changed = append(changed, rec.GetAction())
	}
	drop(s)
	return changed
}

// Failed takes that a step on a node went wrong. It holds up no other node and is
// tried again by a later cycle.
func Failed(s *workflowv1.ClusterState, name string, err error, now time.Time) {
	text := err.Error()
	if len(text) > maxError {
		// A cut letter would be no UTF-8, which no payload takes.
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	if len(s.GetLastCycle().GetErrors()) < maxErrors {
		s.LastCycle.Errors = append(s.GetLastCycle().GetErrors(), &gnomonv1.Cycle_NodeError{Node: name, Message: text})
	}
	n := node(s, name)
	if n == nil {
		return
	}
	set := Settings(s.GetSettings())
	n.Node.Health, n.Node.Reason = gnomonv1.Node_UNREACHABLE, text
	n.Failures++
	wait := set.GetInterval().AsDuration() << min(n.GetFailures()-1, 10)
	n.NotBefore = timestamppb.New(now.Add(min(wait, set.GetSlowInterval().AsDuration())))
}

// Cluster is what clients see of a cluster.
func Cluster(s *workflowv1.ClusterState) *gnomonv1.Cluster {
	c := &gnomonv1.Cluster{Id: s.GetCluster(), LastCycle: proto.CloneOf(s.GetLastCycle()), UnfinishedActions: uint32(len(s.GetUnfinished()))}
	unfinished := map[string]uint32{}
	for _, r := range s.GetUnfinished() {
		unfinished[r.GetAction().GetNode()]++
	}
	for _, n := range s.GetNodes() {
		seen := proto.CloneOf(n.GetNode())
		seen.UnfinishedActions = unfinished[n.GetNode().GetName()]
		c.Nodes = append(c.Nodes, seen)
	}
	return c
}
