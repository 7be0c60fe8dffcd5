package playbook

import (
	"slices"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Told is what one playbook is to be told.
type Told struct {
	Playbook string
	Progress *workflowv1.PlaybookProgress
}

// Settle takes that actions changed: a finished one of a playbook is told again until
// the playbook goes on.
func Settle(s *workflowv1.ClusterState, changed []*gnomonv1.NodeAction) {
	for _, a := range changed {
		if a.GetPlaybook() == "" {
			continue
		}
		s.Settled = slices.DeleteFunc(s.GetSettled(), func(t *workflowv1.Settled) bool { return t.GetAction().GetId() == a.GetId() })
		if Finished(a.GetState()) {
			s.Settled = append(s.GetSettled(), &workflowv1.Settled{Playbook: a.GetPlaybook(), Stage: a.GetStage(), Action: progressOf(a)})
		}
	}
}

// forgetStages takes that a playbook schedules actions of a stage: it has heard how those
// of the stages before ended.
func forgetStages(s *workflowv1.ClusterState, scheduled []*gnomonv1.NodeAction) {
	for _, a := range scheduled {
		s.Settled = slices.DeleteFunc(s.GetSettled(), func(t *workflowv1.Settled) bool {
			return t.GetPlaybook() == a.GetPlaybook() && t.GetStage() != a.GetStage()
		})
	}
}

// Forget takes that there is nobody to tell any more.
func Forget(s *workflowv1.ClusterState, name string) {
	s.Settled = slices.DeleteFunc(s.GetSettled(), func(t *workflowv1.Settled) bool { return t.GetPlaybook() == name })
}

// TellAgain is what all playbooks are to be told once more: how their unfinished actions
// stand, and those that have finished and that they may not have heard of. By
// playbook, in the order of their first action.
func TellAgain(s *workflowv1.ClusterState) []Told {
	var all []Told
	for _, r := range s.GetUnfinished() {
		if a := r.GetAction(); a.GetPlaybook() != "" {
			all = tell(all, a.GetPlaybook(), progressOf(a))
		}
	}
	for _, t := range s.GetSettled() {
		all = tell(all, t.GetPlaybook(), t.GetAction())
	}
	return all
}

// Tell is what playbooks are to be told of these actions.
func Tell(actions []*gnomonv1.NodeAction) []Told {
	var all []Told
	for _, a := range actions {
		if a.GetPlaybook() != "" {
			all = tell(all, a.GetPlaybook(), progressOf(a))
		}
	}
	return all
}

// toldAtOnce bounds one signal, which Temporal takes up to 2 MiB of.
const toldAtOnce = 1000

func tell(all []Told, name string, a *workflowv1.PlaybookProgress_Action) []Told {
	i := slices.IndexFunc(all, func(t Told) bool {
		return t.Playbook == name && len(t.Progress.GetActions()) < toldAtOnce
	})
	if i < 0 {
		i = len(all)
		all = append(all, Told{Playbook: name, Progress: &workflowv1.PlaybookProgress{}})
	}
	all[i].Progress.Actions = append(all[i].Progress.Actions, a)
	return all
}

func progressOf(a *gnomonv1.NodeAction) *workflowv1.PlaybookProgress_Action {
	return &workflowv1.PlaybookProgress_Action{Id: a.GetId(), Node: a.GetNode(), State: a.GetState()}
}
