package life

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Step is what an action that performs nothing at the moment does next.
type Step int

// Steps.
const (
	// Wait until Decision.Until, for ever if that is zero.
	Wait Step = iota
	// Perform an occurrence, or go on with the one that has begun.
	Perform
	// Expire: the deadline ends the action.
	Expire
	// End: nothing is left to do, as it has ended or nothing will ever be due.
	End
)

// Decision is a Step with its time.
type Decision struct {
	Step  Step
	Until time.Time
}

// Next decides. An attempt may begin when now <= deadline (M-15): one whose time
// lies beyond the deadline is not attempted, and the action stays until the
// deadline, since an update may still move it.
func Next(s *workflowv1.ActionState, now time.Time) Decision {
	if Ended(s.GetStatus()) {
		return Decision{Step: End}
	}
	deadline, bounded := action.Deadline(s.GetSpec())
	if bounded && now.After(deadline) {
		return Decision{Step: Expire}
	}
	due, awaited := wake(s, now)
	if awaited && !due.After(now) {
		return Decision{Step: Perform}
	}
	switch {
	case bounded && !now.Before(deadline):
		return Decision{Step: Expire}
	case bounded && (!awaited || deadline.Before(due)):
		return Decision{Step: Wait, Until: deadline}
	case awaited:
		return Decision{Step: Wait, Until: due}
	case s.GetPaused():
		return Decision{Step: Wait}
	default:
		return Decision{Step: End}
	}
}

// wake is when the next attempt is due, if one is.
func wake(s *workflowv1.ActionState, now time.Time) (time.Time, bool) {
	switch {
	case s.GetPaused():
		return time.Time{}, false
	case s.GetOccurrence() != nil:
		return s.GetOccurrence().GetNotBefore().AsTime(), true
	case s.GetTriggered():
		return now, true
	case s.GetStatus().GetScheduledAt() != nil:
		return s.GetStatus().GetScheduledAt().AsTime(), true
	default:
		return time.Time{}, false
	}
}

// Begin makes the occurrence that is due at now the running one, unless one has
// begun already, and hands out the sequence of its rows. A trigger is used up.
func Begin(s *workflowv1.ActionState, now time.Time) *workflowv1.PerformInput {
	if s.GetOccurrence() == nil {
		s.Occurrence, s.Triggered = occurrence(s, now), false
	}
	s.Status.State = gnomonv1.Status_RUNNING
	s.Sequence++
	s.Performing = s.GetSequence()
	// The attempts write newer rows than any that is owed.
	s.MirrorOwed = false
	return &workflowv1.PerformInput{
		Meta:        proto.CloneOf(s.GetMeta()),
		Spec:        proto.CloneOf(s.GetSpec()),
		Status:      proto.CloneOf(s.GetStatus()),
		Occurrence:  proto.CloneOf(s.GetOccurrence()),
		Incarnation: s.GetIncarnation(),
		Sequence:    s.GetSequence(),
	}
}

// occurrence is the one that begins at now. A trigger performs a once-action now
// instead of at its time, and a periodic one in addition to the tick that waits.
func occurrence(s *workflowv1.ActionState, now time.Time) *workflowv1.Occurrence {
	o := &workflowv1.Occurrence{Due: s.GetStatus().GetScheduledAt(), Guid: s.GetMeta().GetGuid()}
	switch periodic := action.Periodic(s.GetSpec()); {
	case periodic && s.GetTriggered():
		o.WaitingTick, o.Due = o.GetDue(), distinct(s, now)
	case !periodic && (o.GetDue() == nil || o.GetDue().AsTime().After(now)):
		o.Due = Stamp(now)
	}
	return o
}

// distinct is the due time of a triggered occurrence: now, in whole microseconds. It
// names the occurrence and is in its idempotency key, so it comes after the occurrence
// before and is not that of the tick that waits.
func distinct(s *workflowv1.ActionState, now time.Time) *timestamppb.Timestamp {
	due := now.Truncate(time.Microsecond)
	if before := s.GetStatus().GetLastAttemptStatus().GetOccurrence(); before != nil && !before.AsTime().Before(due) {
		due = before.AsTime().Add(time.Microsecond)
	}
	if tick := s.GetStatus().GetScheduledAt(); tick != nil && tick.AsTime().Equal(due) {
		due = due.Add(time.Microsecond)
	}
	return timestamppb.New(due)
}

// EndByDeadline ends the action as expired.
func EndByDeadline(s *workflowv1.ActionState) { finish(s, gnomonv1.Status_EXPIRED) }

// EndForGood ends a periodic action that nothing will ever be due for.
func EndForGood(s *workflowv1.ActionState) {
	if !Ended(s.GetStatus()) {
		finish(s, gnomonv1.Status_SUCCEEDED)
	}
}

func finish(s *workflowv1.ActionState, end gnomonv1.Status_State) {
	s.Status.State = end
	s.Status.ScheduledAt = nil
	s.Status.CurrentAttemptStatus = nil
	s.Occurrence, s.Triggered, s.Performing = nil, false, 0
	Owe(s)
}

// Owe hands out the sequence of a row that the workflow has to have stored.
func Owe(s *workflowv1.ActionState) {
	s.Sequence++
	s.MirrorOwed = true
}
