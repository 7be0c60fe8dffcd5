package playbook

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Step is what a playbook wants done. The workflow does it and comes back with what
// was learnt.
type Step struct {
	// Resolve asks for the nodes of the current stage: StageNodes is to be called.
	Resolve bool
	// Schedule are actions that begin to exist with this step.
	Schedule []*gnomonv1.NodeAction
	// Cancel are ids of unfinished actions that are to be cancelled.
	Cancel []string
	// Until is when the stage times out; zero if it never does.
	Until time.Time
	// Ended says that the playbook has ended.
	Ended bool
}

// Ended says whether a playbook's state is an end.
func Ended(s gnomonv1.PlaybookStatus_State) bool {
	switch s {
	case gnomonv1.PlaybookStatus_DONE, gnomonv1.PlaybookStatus_FAILED, gnomonv1.PlaybookStatus_CANCELLED:
		return true
	default:
		return false
	}
}

// Start is the state of a new playbook. It must have passed Validate.
func Start(p *gnomonv1.Playbook, now time.Time) *workflowv1.PlaybookState {
	status := &gnomonv1.PlaybookStatus{State: gnomonv1.PlaybookStatus_RUNNING}
	if p.GetApprove() {
		status.State = gnomonv1.PlaybookStatus_PENDING_APPROVE
	}
	for _, stage := range p.GetStages() {
		status.Stages = append(status.Stages, &gnomonv1.PlaybookStatus_StageStatus{
			Name: stage.GetName(), State: gnomonv1.PlaybookStatus_WAITING,
		})
	}
	p.Status = status
	p.CreateTime, p.UpdateTime = timestamppb.New(now), timestamppb.New(now)
	return &workflowv1.PlaybookState{Playbook: p, Version: Version}
}

// Next moves the playbook as far as it goes without learning anything new, and says
// what is to be done. It may be called any number of times.
func Next(s *workflowv1.PlaybookState, now time.Time) Step {
	status := s.GetPlaybook().GetStatus()
	for status.GetState() == gnomonv1.PlaybookStatus_RUNNING {
		stage := s.GetPlaybook().GetStages()[s.GetStage()]
		is := status.GetStages()[s.GetStage()]
		if is.GetState() == gnomonv1.PlaybookStatus_WAITING {
			if s.GetCancelling() {
				end(s, gnomonv1.PlaybookStatus_CANCELLED, status.GetReason(), now)
				break
			}
			is.State, is.StartTime = gnomonv1.PlaybookStatus_ACTIVE, timestamppb.New(now)
			if status.GetStartTime() == nil {
				status.StartTime = timestamppb.New(now)
			}
		}
		if !s.GetNodesKnown() && !s.GetCancelling() {
			return Step{Resolve: true}
		}
		step := within(s, stage, is, now)
		if len(is.GetActions()) > finished(is) {
			return step
		}
		leave(s, stage, is, now)
	}
	return Step{Ended: Ended(status.GetState())}
}

// StageNodes tells which nodes the current stage works on. They are fixed from then on
// and taken in the order of their names.
//
// With more than the playbook can hold the stage is UNSUCCESSFUL and begins nothing: one
// that names its nodes was refused before, but how many have a label shows only now.
func StageNodes(s *workflowv1.PlaybookState, nodes []string) {
	p, stage := s.GetPlaybook(), s.GetPlaybook().GetStages()[s.GetStage()]
	is := p.GetStatus().GetStages()[s.GetStage()]
	s.NodesKnown, s.Waiting = true, slices.Compact(slices.Sorted(slices.Values(nodes)))
	size := statusBytes(p.GetId(), int(s.GetStage()), s.GetWaiting())
	for i, before := range p.GetStatus().GetStages()[:s.GetStage()] {
		for _, a := range before.GetActions() {
			size += statusBytes(p.GetId(), i, []string{a.GetNode()})
		}
	}
	if n := len(s.GetWaiting()); n > MaxNodes || size > MaxStatusBytes {
		p.Status.Reason = fmt.Sprintf("stage %s: %d nodes are more than the playbook can hold", stage.GetName(), n)
		is.Failures = stage.GetAllowedFailures() + 1
		s.NeverBegun, s.Waiting = is.GetFailures(), nil
	}
	is.Waiting = uint32(len(s.GetWaiting()))
}

// Choose returns the names of the cluster's nodes that a stage works on. Nodes it names
// are taken whether the cluster has them or not: the action on a missing one is refused
// there, and counts as a failure.
func Choose(stage *gnomonv1.PlaybookStage, nodes []*gnomonv1.Node) []string {
	if len(stage.GetNodes()) > 0 {
		return stage.GetNodes()
	}
	var names []string
	for _, n := range nodes {
		if stage.GetAllNodes() || hasLabels(n.GetLabels(), stage.GetNodeLabels()) {
			names = append(names, n.GetName())
		}
	}
	return names
}

func hasLabels(have, want map[string]string) bool {
	for _, name := range sorted(want) {
		if got, ok := have[name]; !ok || got != want[name] {
			return false
		}
	}
	return len(want) > 0
}

// within is what the active stage wants.
func within(s *workflowv1.PlaybookState, stage *gnomonv1.PlaybookStage, is *gnomonv1.PlaybookStatus_StageStatus, now time.Time) Step {
	var step Step
	if limit := stage.GetTimeout().AsDuration(); limit > 0 && !s.GetTimedOut() && !s.GetCancelling() {
		step.Until = is.GetStartTime().AsTime().Add(limit)
		if !now.Before(step.Until) {
			s.TimedOut = true
			s.NeverBegun = uint32(len(s.GetWaiting())) // they did not succeed
			is.Failures = failures(s, is)
			step.Until = time.Time{}
		}
	}
	if s.GetCancelling() || s.GetTimedOut() || stopped(stage, is) {
		s.Waiting = nil
	}
	if s.GetCancelling() || s.GetTimedOut() {
		for _, a := range is.GetActions() {
			if !Finished(a.GetState()) {
				step.Cancel = append(step.Cancel, a.GetId())
			}
		}
	}
	room := len(s.GetWaiting())
	if limit := int(stage.GetParallel()); limit > 0 {
		room = max(0, min(room, limit-(len(is.GetActions())-finished(is))))
	}
	for _, node := range s.GetWaiting()[:room] {
		a := materialise(s.GetPlaybook(), int(s.GetStage()), node, now)
		step.Schedule = append(step.Schedule, a)
		is.Actions = append(is.Actions, &gnomonv1.PlaybookStatus_StageAction{Id: a.GetId(), Node: node, State: a.GetState()})
	}
	s.Waiting = s.GetWaiting()[room:]
	is.Waiting = uint32(len(s.GetWaiting()))
	return step
}

// stopped says whether the stage begins no further action.
func stopped(stage *gnomonv1.PlaybookStage, is *gnomonv1.PlaybookStatus_StageStatus) bool {
	return stage.GetOnFailure() != gnomonv1.PlaybookStage_CONTINUE && is.GetFailures() > stage.GetAllowedFailures()
}

func finished(is *gnomonv1.PlaybookStatus_StageStatus) int {
	n := 0
	for _, a := range is.GetActions() {
		if Finished(a.GetState()) {
			n++
		}
	}
	return n
}

// leave closes a stage whose actions have all finished, and goes on or ends.
func leave(s *workflowv1.PlaybookState, stage *gnomonv1.PlaybookStage, is *gnomonv1.PlaybookStatus_StageStatus, now time.Time) {
	status := s.GetPlaybook().GetStatus()
	is.FinishTime = timestamppb.New(now)
	is.State = gnomonv1.PlaybookStatus_SUCCEEDED
	if len(is.GetActions()) == 0 && !s.GetCancelling() && !s.GetTimedOut() && is.GetFailures() == 0 {
		// Success without having done anything would hide a wrong label.
		is.Failures = stage.GetAllowedFailures() + 1
		status.Reason = fmt.Sprintf("stage %s: no node of the cluster has its labels", stage.GetName())
	}
	if is.GetFailures() > stage.GetAllowedFailures() {
		is.State = gnomonv1.PlaybookStatus_UNSUCCESSFUL
	}
	switch {
	case s.GetCancelling():
		end(s, gnomonv1.PlaybookStatus_CANCELLED, status.GetReason(), now)
	case stopped(stage, is):
		if status.GetReason() == "" {
			status.Reason = failureReason(stage, is, s.GetTimedOut())
		}
		end(s, gnomonv1.PlaybookStatus_FAILED, status.GetReason(), now)
	case int(s.GetStage()) == len(s.GetPlaybook().GetStages())-1:
		end(s, gnomonv1.PlaybookStatus_DONE, "", now)
	default:
		s.Stage++
		s.NodesKnown, s.Waiting, s.TimedOut, s.NeverBegun = false, nil, false, 0
		status.Reason = ""
	}
}

func failureReason(stage *gnomonv1.PlaybookStage, is *gnomonv1.PlaybookStatus_StageStatus, timedOut bool) string {
	reason := fmt.Sprintf("stage %s: %d actions did not succeed, %d are allowed", stage.GetName(), is.GetFailures(), stage.GetAllowedFailures())
	if timedOut {
		reason += fmt.Sprintf("; it ran longer than %s", stage.GetTimeout().AsDuration())
	}
	return reason
}

// end ends the playbook; the stages whose turn did not come are skipped.
func end(s *workflowv1.PlaybookState, state gnomonv1.PlaybookStatus_State, reason string, now time.Time) {
	status := s.GetPlaybook().GetStatus()
	status.State, status.Reason, status.FinishTime = state, reason, timestamppb.New(now)
	for _, is := range status.GetStages() {
		if is.GetState() == gnomonv1.PlaybookStatus_WAITING {
			is.State = gnomonv1.PlaybookStatus_SKIPPED
		}
	}
	s.Waiting = nil
}

// Progress takes what the cluster tells of the playbook's actions and says whether it
// changed anything. It may come any number of times, late, and for actions of stages
// that are over. What has finished stays as it is, unless the agent's
// action of that id replaced it while its stage is still active.
func Progress(s *workflowv1.PlaybookState, p *workflowv1.PlaybookProgress) bool {
	status := s.GetPlaybook().GetStatus()
	if status.GetState() != gnomonv1.PlaybookStatus_RUNNING {
		return false
	}
	is := status.GetStages()[s.GetStage()]
	changed := false
	for _, told := range p.GetActions() {
		i := slices.IndexFunc(is.GetActions(), func(a *gnomonv1.PlaybookStatus_StageAction) bool { return a.GetId() == told.GetId() })
		if i < 0 || is.GetActions()[i].GetState() == told.GetState() {
			continue
		}
		is.Actions[i].State = told.GetState()
		changed = true
	}
	if changed {
		is.Failures = failures(s, is)
	}
	return changed
}

// failures counts the actions of the active stage that ended otherwise than DONE.
func failures(s *workflowv1.PlaybookState, is *gnomonv1.PlaybookStatus_StageStatus) uint32 {
	n := s.GetNeverBegun()
	for _, a := range is.GetActions() {
		if Finished(a.GetState()) && a.GetState() != gnomonv1.NodeAction_DONE {
			n++
		}
	}
	return n
}

// Unfinished are the ids of the active stage's actions that have not finished, as far as
// the playbook was told: a nudge asks about them again, which does no harm.
func Unfinished(s *workflowv1.PlaybookState) []string {
	var ids []string
	stages := s.GetPlaybook().GetStatus().GetStages()
	if int(s.GetStage()) >= len(stages) {
		return nil
	}
	for _, a := range stages[s.GetStage()].GetActions() {
		if !Finished(a.GetState()) {
			ids = append(ids, a.GetId())
		}
	}
	return ids
}
