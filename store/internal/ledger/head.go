package ledger

import (
	"slices"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/store"
)

// Head is a batch without its changes. Its status has no problems; they stand beside it.
type Head struct {
	Batch           *gnomonv1.Batch
	Problems        []*gnomonv1.Problem
	Revision        uint64
	Fence           store.Fence
	CreateRequestID string
}

// NewHead is the head of a batch that was just staged.
func NewHead(b *gnomonv1.Batch, requestID string) *Head {
	return &Head{
		Batch: &gnomonv1.Batch{
			Id: b.GetId(), Uid: b.GetUid(), ScheduledAt: b.GetScheduledAt(), Labels: b.GetLabels(), Comment: b.GetComment(),
			CreateTime: b.GetCreateTime(), UpdateTime: b.GetCreateTime(), Etag: batch.Etag(b.GetUid(), 0),
			Status: &gnomonv1.BatchStatus{State: gnomonv1.BatchStatus_PENDING, PendingChanges: uint32(len(b.GetChanges()))},
		},
		CreateRequestID: requestID,
	}
}

// Row is what callers of a store get.
func (h *Head) Row() store.BatchRow {
	b := proto.CloneOf(h.Batch)
	b.Status.Problems = h.Problems
	return store.BatchRow{Batch: b, Revision: h.Revision, Fence: h.Fence, CreateRequestID: h.CreateRequestID}
}

// is says whether it is the batch that a caller means.
func (h *Head) is(id, uid string) bool {
	return h != nil && h.Batch.GetId() == id && h.Batch.GetUid() == uid
}

// Put changes the head as PutBatch says. It is unchanged if the answer is false.
func (h *Head) Put(w store.BatchWrite) (bool, error) {
	switch {
	case !h.is(w.Head.GetId(), w.Head.GetUid()):
		return false, store.ErrNotFound
	case w.Fence != 0 && w.Fence != h.Fence:
		return false, store.ErrStale
	case w.Head.GetRevision() <= h.Revision:
		return false, nil
	}
	if w.Problems != nil {
		h.Problems = w.Problems[:min(len(w.Problems), batch.MaxProblems)]
	}
	h.wear(w.Head)
	h.Fence = max(h.Fence, w.Raise)
	return true, nil
}

func (h *Head) wear(head *workflowv1.BatchHead) {
	batch.Wear(h.Batch, head)
	h.Revision = head.GetRevision()
	if head.GetStatus().GetState() != gnomonv1.BatchStatus_MANUAL_REVIEW {
		h.Problems = nil
	}
}

// Take changes the head as TakeTurn says.
func (h *Head) Take(t store.BatchTurn) error {
	switch {
	case !h.is(t.Head.GetId(), t.Head.GetUid()):
		return store.ErrNotFound
	case t.Head.GetRevision() < h.Revision:
		return nil // the round is over, and the caller sees it by the revision
	case t.Fence < h.Fence:
		return store.ErrStale
	case t.Head.GetRevision() > h.Revision:
		h.wear(t.Head)
	}
	h.Fence = t.Fence
	st := h.Batch.GetStatus()
	st.Attempts = t.Fence.Attempt()
	if st.GetStartTime() == nil {
		st.StartTime = batch.Stamp(t.At)
	}
	return nil
}

// problemsOf are those of one change.
func problemsOf(all []*gnomonv1.Problem, index int) []*gnomonv1.Problem {
	var own []*gnomonv1.Problem
	for _, p := range all {
		if p.ChangeIndex != nil && int(p.GetChangeIndex()) == index {
			own = append(own, p)
		}
	}
	return slices.Clip(own)
}
