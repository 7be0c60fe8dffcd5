package batch

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Step is what a batch that is not being processed does next.
type Step int

// Steps.
const (
	// Wait until Decision.Until, for ever if that is zero: a person decides.
	Wait Step = iota
	// Process: its time has come.
	Process
	// End: nothing is left to do.
	End
)

// Decision is a Step with its time.
type Decision struct {
	Step  Step
	Until time.Time
}

// Next decides. A batch is never processed before its time (V-01), and whenever its time
// has passed, however long ago, it is (V-05).
func Next(s *workflowv1.BatchState, now time.Time) Decision {
	switch state := s.GetHead().GetStatus().GetState(); {
	case Ended(state):
		return Decision{Step: End}
	case state == gnomonv1.BatchStatus_PROCESSING:
		return Decision{Step: Process}
	case state == gnomonv1.BatchStatus_MANUAL_REVIEW:
		return Decision{Step: Wait}
	}
	if due := s.GetHead().GetScheduledAt().AsTime(); due.After(now) {
		return Decision{Step: Wait, Until: due}
	}
	return Decision{Step: Process}
}
