package activities

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/notices"
	"gnomon/store"
)

// Batches are the activities of scheduled batches. Its fields are set once, before the
// worker starts.
type Batches struct {
	Store   store.Batches
	Kinds   changes.Set
	Notices notices.Set
	Log     *slog.Logger
	// Teller tells workflows of progress. Nil: they are told of ends only.
	Teller Teller
	// Worker names this process in the status of what it applies (M-58).
	Worker string
	// Clock gives the time by Temporal's clock during one attempt. Default: when the
	// server says the attempt started, plus what passed here since.
	Clock func(activity.Info) func() time.Time
}

func (b *Batches) clock(info activity.Info) func() time.Time {
	if b.Clock != nil {
		return b.Clock(info)
	}
	return serverClock(info)
}

// AcceptBatch is the activity: it makes what the facade staged the batch (V-04).
func (b *Batches) AcceptBatch(ctx context.Context, in *workflowv1.AcceptBatchInput) (*workflowv1.AcceptBatchResult, error) {
	_, err := b.Store.AcceptBatch(ctx, in.GetId(), in.GetUid())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &workflowv1.AcceptBatchResult{Reason: "its contents are not in the store"}, nil
	case errors.Is(err, store.ErrBatchExists):
		return &workflowv1.AcceptBatchResult{Reason: "another batch of this id stands"}, nil
	case err != nil:
		return nil, err
	}
	return &workflowv1.AcceptBatchResult{Accepted: true}, nil
}

// StoreBatch is the activity: it stores a head. It fails until the store took it.
func (b *Batches) StoreBatch(ctx context.Context, in *workflowv1.StoreBatchInput) error {
	_, err := b.Store.PutBatch(ctx, store.BatchWrite{Head: in.GetHead()})
	return err
}

// AbandonBatch is the activity: it ends a round whose attempts are spent, and shuts out
// whatever of them still runs. If the last of them has ended the round and only its report
// was lost, that stands.
func (b *Batches) AbandonBatch(ctx context.Context, in *workflowv1.ProcessBatchInput) (*workflowv1.ProcessBatchResult, error) {
	in.Reason = cmp.Or(shorten(in.GetReason()), "no attempt ended")
	head, problems := batch.Abandon(in, b.clock(activity.GetInfo(ctx))())
	row, err := b.Store.PutBatch(ctx, store.BatchWrite{
		Head: head, Problems: problems,
		Raise: store.FenceOf(head.GetStatus().GetRound()+1, 0),
	})
	if err != nil {
		return nil, err
	}
	return ended(row), nil
}

// ended is the result of a round by the row that ended it.
func ended(row store.BatchRow) *workflowv1.ProcessBatchResult {
	st := row.Batch.GetStatus()
	problems := len(st.GetProblems())
	st.Problems = nil // they stay in the store
	return &workflowv1.ProcessBatchResult{
		Problems: uint32(problems),
		Head: &workflowv1.BatchHead{
			Id: row.Batch.GetId(), Uid: row.Batch.GetUid(), ScheduledAt: row.Batch.GetScheduledAt(),
			UpdateTime: row.Batch.GetUpdateTime(), Status: st, Revision: row.Revision,
		},
	}
}
