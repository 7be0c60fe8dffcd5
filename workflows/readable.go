package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"gnomon/action"
	"gnomon/action/life"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// describe shows the state in the Web UI, as its current details. It costs no
// event: the Web UI asks for it.
func (a *actionRun) describe() {
	workflow.SetCurrentDetails(a.ctx, life.Details(a.state))
}

func attemptSummary(in *workflowv1.PerformInput) string {
	due := in.GetOccurrence().GetDue().AsTime()
	return fmt.Sprintf("attempt of %s, due %s", due.Format("15:04:05"), due.Format(time.RFC3339))
}

func timerSummary(s *workflowv1.ActionState, until time.Time) string {
	if d, ok := action.Deadline(s.GetSpec()); ok && d.Equal(until) {
		return "deadline " + until.UTC().Format(time.RFC3339)
	}
	if s.GetOccurrence() != nil {
		return "retry due " + until.UTC().Format(time.RFC3339)
	}
	return "due " + until.UTC().Format(time.RFC3339)
}
