package starter

import (
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// attempts completes a workflow's answer by what the server knows of the attempts
// under way, whose retries it drives: the workflow hears of them when they are over.
func (s *Actions) attempts(pending []*workflowpb.PendingActivityInfo, a *gnomonv1.ScheduledAction) {
	for _, p := range pending {
		if p.GetActivityType().GetName() != workflowv1.PerformActivity ||
			p.GetState() == enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED {
			continue // the latter belongs to a spec that no longer stands
		}
		progress := &workflowv1.Progress{}
		if p.GetHeartbeatDetails() != nil && s.payloads.FromPayloads(p.GetHeartbeatDetails(), progress) == nil && progress.GetStatus() != nil {
			conditions := a.GetStatus().GetConditions()
			paused := a.GetStatus().GetState() == gnomonv1.Status_PAUSED
			a.Status = progress.GetStatus()
			a.Status.Conditions = conditions
			if paused {
				a.Status.State = gnomonv1.Status_PAUSED
			}
		}
		if a.GetStatus().GetState() == gnomonv1.Status_PAUSED {
			return
		}
		a.Status.State = gnomonv1.Status_RETRYING
		if p.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED || p.GetAttempt() <= 1 {
			a.Status.State = gnomonv1.Status_RUNNING
		}
		return
	}
}
