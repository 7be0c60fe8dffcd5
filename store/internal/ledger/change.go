package ledger

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/store"
)

// Change is one change and who may be applying it.
type Change struct {
	Index  int
	Change *gnomonv1.Change // with its status
	// Fence began it last, and may apply it until Expires. 0: it was never begun.
	Fence   store.Fence
	Expires time.Time
}

// NewChanges are those of a batch that was just staged.
func NewChanges(b *gnomonv1.Batch) []*Change {
	all := make([]*Change, len(b.GetChanges()))
	for i, c := range b.GetChanges() {
		all[i] = &Change{Index: i, Change: &gnomonv1.Change{
			Change: c.GetChange(), Status: &gnomonv1.ChangeStatus{State: gnomonv1.ChangeStatus_PENDING},
		}}
	}
	return all
}

// Begin changes a change as BeginChange says. A call that comes again, since its answer
// was lost, changes nothing.
func (c *Change) Begin(h *Head, b store.ChangeBegin) error {
	switch {
	case !h.is(b.ID, b.UID) || c == nil:
		return store.ErrNotFound
	case h.Fence != b.Fence || batch.Finished(c.Change):
		return store.ErrStale
	case c.Fence == b.Fence && c.Expires.Equal(batch.Stamp(b.Expires).AsTime()):
		return nil
	}
	st := c.Change.GetStatus()
	st.Attempts++
	if st.GetStartTime() == nil {
		st.StartTime = batch.Stamp(b.At)
	}
	st.Worker = b.Worker
	st.IdempotencyKey = batch.IdempotencyKey(b.ID, b.UID, b.Index)
	c.Fence, c.Expires = b.Fence, batch.Stamp(b.Expires).AsTime()
	return nil
}

// Record changes a change and its head as RecordChange says. A call that comes again
// changes nothing.
func (c *Change) Record(h *Head, e store.ChangeEnd) error {
	switch {
	case !h.is(e.ID, e.UID) || c == nil:
		return store.ErrNotFound
	case h.Fence != e.Fence || c.Fence != e.Fence:
		return store.ErrStale
	case batch.Finished(c.Change):
		return nil
	}
	st, counts := c.Change.GetStatus(), h.Batch.GetStatus()
	if e.Doubt != "" {
		st.Error = e.Doubt
		c.Expires = batch.Stamp(e.At).AsTime()
		return nil
	}
	st.State, st.Error = gnomonv1.ChangeStatus_COMPLETE, ""
	if e.Rejection != "" {
		st.State, st.Error = gnomonv1.ChangeStatus_FAILED, e.Rejection
	}
	st.FinishTime = batch.Stamp(e.At)
	counts.PendingChanges--
	if e.Rejection != "" {
		counts.FailedChanges++
	} else {
		counts.CompleteChanges++
	}
	return nil
}

// Assemble puts a batch together from its head and all its changes in order.
func Assemble(h *Head, changes []*Change) store.BatchRow {
	row := h.Row()
	for _, c := range changes {
		c.Change.Status.Problems = problemsOf(h.Problems, c.Index)
		row.Batch.Changes = append(row.Batch.Changes, c.Change)
		if c.Fence != 0 && !batch.Finished(c.Change) {
			row.Leases = append(row.Leases, store.Lease{Index: c.Index, Fence: c.Fence, Expires: c.Expires})
		}
	}
	return row
}
