package batch

import (
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Version is that of the rules, carried by every new batch; see life.Version for what it
// is for.
//
//	1: the first rules
const Version uint32 = 1

// New is the state of a batch accepted at now: a validated and normalised one with its
// uid minted (V-04).
func New(b *gnomonv1.Batch, now time.Time, requestID string) *workflowv1.BatchState {
	return &workflowv1.BatchState{
		Head: &workflowv1.BatchHead{
			Id: b.GetId(), Uid: b.GetUid(), ScheduledAt: b.GetScheduledAt(), UpdateTime: Stamp(now),
			Status: &gnomonv1.BatchStatus{State: gnomonv1.BatchStatus_PENDING, PendingChanges: uint32(len(b.GetChanges()))},
		},
		Changes: uint32(len(b.GetChanges())), CreateRequestId: requestID, Version: Version,
	}
}

// Fresh is the batch that a client gets who has created it, with what is gnomon's to
// write filled in.
func Fresh(b *gnomonv1.Batch, now time.Time) *gnomonv1.Batch {
	fresh := proto.CloneOf(b)
	fresh.CreateTime = Stamp(now)
	for _, c := range fresh.GetChanges() {
		c.Status = &gnomonv1.ChangeStatus{State: gnomonv1.ChangeStatus_PENDING}
	}
	Wear(fresh, New(b, now, "").GetHead())
	return fresh
}

// Wear puts a head on a batch. The counts, attempts, times and problems that the store
// keeps stay the batch's, but for problems of a review that is over.
func Wear(b *gnomonv1.Batch, h *workflowv1.BatchHead) {
	old := b.GetStatus()
	b.ScheduledAt, b.UpdateTime = h.GetScheduledAt(), h.GetUpdateTime()
	b.Etag = Etag(b.GetUid(), h.GetRevision())
	b.Status = proto.CloneOf(h.GetStatus())
	if old == nil {
		return
	}
	b.Status.PendingChanges, b.Status.CompleteChanges, b.Status.FailedChanges = old.GetPendingChanges(), old.GetCompleteChanges(), old.GetFailedChanges()
	b.Status.StartTime = old.GetStartTime()
	b.Status.Attempts = 0
	if old.GetRound() == h.GetStatus().GetRound() {
		b.Status.Attempts = old.GetAttempts()
	}
	if h.GetStatus().GetState() == gnomonv1.BatchStatus_MANUAL_REVIEW {
		b.Status.Problems = old.GetProblems()
	}
}

// Ended says whether a state is one that nothing follows.
func Ended(s gnomonv1.BatchStatus_State) bool {
	switch s {
	case gnomonv1.BatchStatus_COMPLETE, gnomonv1.BatchStatus_PARTIAL_FAILURE,
		gnomonv1.BatchStatus_FAILED, gnomonv1.BatchStatus_CANCELLED:
		return true
	default:
		return false
	}
}

// ConditionApplied is FALSE in the reply to a command that no worker has applied yet.
const ConditionApplied = "Applied"

// ConditionCommandsAccepted is FALSE once a signal had to be dropped.
const ConditionCommandsAccepted = "CommandsAccepted"

// touch makes what follows a new revision that is to be stored.
func touch(s *workflowv1.BatchState, now time.Time) {
	s.Head.Revision++
	s.Head.UpdateTime = Stamp(now)
	s.Owed = true
}
