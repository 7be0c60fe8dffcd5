package life

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Version is that of the rules, carried by every new action. A change of the rules
// that would make a recorded history decide otherwise gets a new number, and the
// old behaviour stays for states that carry an older one. It costs no event, unlike
// a marker in the history.
//
//	1: the first rules
const Version uint32 = 1

// New is the state of an action accepted at now: a validated one, with its
// defaults filled in and its Guid minted. Status.scheduled_at is the first due
// time (M-10).
func New(a *gnomonv1.ScheduledAction, now time.Time, requestID string) *workflowv1.ActionState {
	guid := a.GetMeta().GetGuid() // Normalise drops what clients may not set
	a = action.Normalise(a)
	at := Stamp(now)
	meta := &gnomonv1.Meta{
		Id: a.GetMeta().GetId(), Guid: guid, Labels: a.GetMeta().GetLabels(),
		CreateTime: at, UpdateTime: at,
	}
	s := &workflowv1.ActionState{Meta: meta, Spec: a.GetSpec(), CreateRequestId: requestID, Version: Version}
	s.Status = fresh(s.GetSpec(), meta.GetId())
	return s
}

// fresh is the Status of a new incarnation (M-42).
func fresh(spec *gnomonv1.Spec, id string) *gnomonv1.Status {
	st := &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED}
	if due, ok := action.FirstDue(spec, id); ok {
		st.ScheduledAt = Stamp(due)
	}
	return st
}

// Action is what clients see of the state, a copy.
func Action(s *workflowv1.ActionState) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta:   proto.CloneOf(s.GetMeta()),
		Spec:   proto.CloneOf(s.GetSpec()),
		Status: proto.CloneOf(s.GetStatus()),
	}
}

// Ended says whether a status is one that nothing follows.
func Ended(st *gnomonv1.Status) bool {
	switch st.GetState() {
	case gnomonv1.Status_SUCCEEDED, gnomonv1.Status_FAILED, gnomonv1.Status_EXPIRED, gnomonv1.Status_DELETED:
		return true
	default:
		return false
	}
}

// Stamp is a time as it is kept: in UTC and whole microseconds, the store's
// precision.
func Stamp(t time.Time) *timestamppb.Timestamp {
	return timestamppb.New(t.Truncate(time.Microsecond))
}

// Types of conditions in Status.conditions.
const (
	// ConditionMirrored is FALSE while the store does not show this status.
	ConditionMirrored = "Mirrored"
	// ConditionApplied is FALSE in the reply to a command that no worker has applied
	// yet; it is with Temporal and will be.
	ConditionApplied = "Applied"
	// ConditionCommandsAccepted is FALSE once a signal had to be dropped.
	ConditionCommandsAccepted = "CommandsAccepted"
)

// SetCondition sets the condition of this type, keeping its last_transition_time
// where the status does not change.
func SetCondition(st *gnomonv1.Status, c *gnomonv1.Condition) {
	for i, old := range st.GetConditions() {
		if old.GetType() != c.GetType() {
			continue
		}
		if old.GetStatus() == c.GetStatus() && old.GetLastTransitionTime() != nil {
			c.LastTransitionTime = old.GetLastTransitionTime()
		}
		st.Conditions[i] = c
		return
	}
	st.Conditions = append(st.Conditions, c)
}
