package life

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Adopt takes over what the attempts of an occurrence have come to. The workflow's
// own view stands where commands changed it meanwhile: a pause.
func Adopt(s *workflowv1.ActionState, p *workflowv1.Progress) {
	conditions := s.GetStatus().GetConditions()
	s.Status = p.GetStatus()
	s.Status.Conditions = conditions
	s.Occurrence = p.GetOccurrence()
	s.Performing = 0
	if s.GetPaused() && !Ended(s.GetStatus()) {
		s.Status.State = gnomonv1.Status_PAUSED
	}
}

// Interrupt counts an attempt whose process was lost, from the details it left
// (nil if none) or, without them, from what the workflow knew (M-38, M-55). Where
// the attempt left no word of its start, it began when it was to: as a retry at the
// occurrence's not_before, else at began, when the workflow asked for it (M-27).
func Interrupt(s *workflowv1.ActionState, in *workflowv1.PerformInput, left *workflowv1.Progress, began, detected time.Time, reason string) {
	p := left
	if p.GetStatus() == nil || p.GetOccurrence() == nil {
		p = &workflowv1.Progress{Status: in.GetStatus(), Occurrence: in.GetOccurrence()}
	}
	if p.GetAttemptStart() == nil {
		if retry := p.GetOccurrence().GetNotBefore().AsTime(); retry.After(began) {
			began = retry
		}
		p.AttemptStart = Stamp(began)
	}
	Settle(s.GetSpec(), s.GetMeta(), p, Ending{
		Outcome: gnomonv1.AttemptStatus_INTERRUPTED, At: detected, Error: reason,
	})
	Adopt(s, p)
	Owe(s)
}
