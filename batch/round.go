package batch

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// CodeRetriesExhausted is the code of the problem of a batch whose processing was begun
// as often as it may be within one round (V-19).
const CodeRetriesExhausted = "RETRIES_EXHAUSTED"

// Begin takes a batch up: PROCESSING, in a new round. From here on nobody but a review may
// change it (V-20). It says what the round's activities are told; one that began before is
// gone on with.
func Begin(s *workflowv1.BatchState, now time.Time) *workflowv1.ProcessBatchInput {
	if st := s.GetHead().GetStatus(); st.GetState() != gnomonv1.BatchStatus_PROCESSING {
		st.State, st.Message = gnomonv1.BatchStatus_PROCESSING, ""
		st.Round++
		touch(s, now)
	}
	return &workflowv1.ProcessBatchInput{Head: proto.CloneOf(s.GetHead()), LastRevision: s.GetHead().GetRevision() + 1}
}

// Conclude is the head that ends a round whose changes are all finished.
func Conclude(in *workflowv1.ProcessBatchInput, changes []*gnomonv1.Change, now time.Time) *workflowv1.BatchHead {
	h := ending(in, now)
	h.Status.State = Outcome(changes)
	h.Status.FinishTime = Stamp(now)
	return h
}

// Review is the head that ends a round in which problems were found (V-09).
func Review(in *workflowv1.ProcessBatchInput, problems int, now time.Time) *workflowv1.BatchHead {
	h := ending(in, now)
	h.Status.State = gnomonv1.BatchStatus_MANUAL_REVIEW
	h.Status.Message = fmt.Sprintf("validation found %d problems; nothing was applied since", problems)
	if problems == 1 {
		h.Status.Message = "validation found a problem; nothing was applied since"
	}
	if problems > MaxProblems {
		h.Status.Message += fmt.Sprintf("; the first %d are kept", MaxProblems)
	}
	return h
}

// Abandon is the head that ends a round whose attempts are spent, and its problem (V-19).
func Abandon(in *workflowv1.ProcessBatchInput, now time.Time) (*workflowv1.BatchHead, []*gnomonv1.Problem) {
	h := ending(in, now)
	h.Status.State = gnomonv1.BatchStatus_MANUAL_REVIEW
	h.Status.Message = "it could not be processed: " + in.GetReason()
	return h, []*gnomonv1.Problem{{
		Severity: gnomonv1.Problem_HARD, Code: CodeRetriesExhausted, Message: in.GetReason(),
	}}
}

func ending(in *workflowv1.ProcessBatchInput, now time.Time) *workflowv1.BatchHead {
	h := proto.CloneOf(in.GetHead())
	h.Revision, h.UpdateTime = in.GetLastRevision(), Stamp(now)
	return h
}

// Adopt takes over the head that ended a round. It is stored already, but for conditions
// that came up meanwhile.
func Adopt(s *workflowv1.BatchState, r *workflowv1.ProcessBatchResult, now time.Time) {
	conditions := s.GetHead().GetStatus().GetConditions()
	s.Head = proto.CloneOf(r.GetHead())
	s.Owed, s.NoticeOwed = false, true
	if !slices.EqualFunc(conditions, s.GetHead().GetStatus().GetConditions(), func(a, b *gnomonv1.Condition) bool { return proto.Equal(a, b) }) {
		s.Head.Status.Conditions = conditions
		touch(s, now)
	}
}
