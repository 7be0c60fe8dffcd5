package entity

import (
	"time"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Step is what is to be done now.
type Step struct {
	// Ask is a question to be put to stages; Answered is to be called with its answer.
	Ask *workflowv1.AskInput
	// Visits are to be scheduled, each on its stage's queue; Visited is to be called with
	// its result, or CalledBack.
	Visits []*workflowv1.PendingVisit
	// CallBack are visits on their way that should not wait in the background any more:
	// they are to be cancelled, and Visited or CalledBack to be called with how they end.
	CallBack []*workflowv1.PendingVisit
	// Until is when to call Next again if nothing happens; zero: never.
	Until time.Time
	// Idle says that nothing is left: the workflow may end.
	Idle bool
}

// Next fires the timers that are due and says what is to be done. What it hands out is
// on its way from then on.
func Next(p Policy, s *workflowv1.EntityState, now time.Time) Step {
	p = p.WithDefaults()
	fire(s, now)
	step := Step{Ask: question(s, now)}
	step.Visits, step.Until = due(p, s, now)
	step.Until = earlier(step.Until, nextTimer(s))
	if deferred := s.GetDeferredUntil().AsTime(); now.Before(deferred) {
		step.Until = earlier(step.Until, deferred)
	}
	for _, entry := range s.GetPending() {
		if entry.GetUpgraded() {
			entry.Upgraded = false
			step.CallBack = append(step.CallBack, entry)
		}
	}
	step.Idle = Idle(s)
	return step
}
