package entity

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Arm sets a stage's timer, instead of what it was (G-06: one for each stage).
func Arm(s *workflowv1.EntityState, stage string, due *timestamppb.Timestamp) {
	disarm(s, stage)
	s.Timers = append(s.Timers, &workflowv1.StageTimer{Stage: stage, DueTime: due})
}

func disarm(s *workflowv1.EntityState, stage string) {
	s.Timers = slices.DeleteFunc(s.GetTimers(), func(t *workflowv1.StageTimer) bool { return t.GetStage() == stage })
}

// fire enqueues the stages whose time has come; a moment in the past is due now. A
// timer that waits does not keep a visit for another reason from coming at once, and
// stays armed until that visit's answer replaces it (G-36).
func fire(s *workflowv1.EntityState, now time.Time) {
	var due []string
	s.Timers = slices.DeleteFunc(s.GetTimers(), func(t *workflowv1.StageTimer) bool {
		if now.Before(t.GetDueTime().AsTime()) {
			return false
		}
		due = append(due, t.GetStage())
		return true
	})
	for _, stage := range due {
		Request(s, stage, gnomonv1.ProcessRequest_TIMER, false, now)
	}
}

// nextTimer is the earliest timer, or the zero time.
func nextTimer(s *workflowv1.EntityState) time.Time {
	var next time.Time
	for _, t := range s.GetTimers() {
		next = earlier(next, t.GetDueTime().AsTime())
	}
	return next
}

// earlier is the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
