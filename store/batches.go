package store

import (
	"context"
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

var (
	// ErrBatchExists says that another batch of this id stands.
	ErrBatchExists = errors.New("another batch of this id stands")
	// ErrStale says that the batch is no longer this attempt's: a later one has it, or
	// the change was not begun by it.
	ErrStale = errors.New("a later attempt has the batch")
)

// Batches is where scheduled batches live. Of their contents and of what became of each
// change the store is the truth, not a mirror (V-06, V-12); when a batch is processed is
// Temporal's. All methods are safe for concurrent use and bounded by their context. Each
// is one transaction, and may be called again after an error whose outcome is not known.
type Batches interface {
	// StageBatch stores the contents of a batch that nobody sees before AcceptBatch. B
	// has its uid; its statuses are ignored. A uid that is known, staged or accepted,
	// is left as it is: the same uid always has the same contents.
	StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error

	// AcceptBatch makes staged contents the batch of their id, PENDING (V-04). Accepting
	// again gives the batch as it stands, without its changes. ErrBatchExists if another
	// batch has the id, ErrNotFound if nothing of this uid is staged.
	AcceptBatch(ctx context.Context, id, uid string) (BatchRow, error)

	// GetBatch returns a batch with all its changes and leases, as one moment saw them,
	// or ErrNotFound.
	GetBatch(ctx context.Context, id string) (BatchRow, error)

	// GetBatchHead returns a batch without its changes, or ErrNotFound.
	GetBatchHead(ctx context.Context, id string) (BatchRow, error)

	// ListBatches returns up to q.Limit batches in order, those after q.After, without
	// their changes.
	ListBatches(ctx context.Context, q BatchQuery) ([]BatchRow, error)

	// PutBatch writes a head whose revision is newer than what stands, and returns the
	// batch as it stands then, without its changes. ErrNotFound if no batch of this id
	// and uid stands, ErrStale if w.Fence is not the one that has the turn.
	PutBatch(ctx context.Context, w BatchWrite) (BatchRow, error)

	// TakeTurn gives the batch to an attempt: from then on every earlier one is refused.
	// It returns the batch with its changes and the leases that may still run. ErrStale
	// if a later attempt has it; ErrNotFound as PutBatch. If a newer head than t.Head
	// stands, the round is over: nothing is changed, and the row's revision says so.
	TakeTurn(ctx context.Context, t BatchTurn) (BatchRow, error)

	// BeginChange notes that an attempt is about to apply a change, and until when it
	// may. The status it returns is the change's. ErrStale if the batch is not this
	// attempt's, or the change is finished.
	BeginChange(ctx context.Context, b ChangeBegin) (*gnomonv1.ChangeStatus, error)

	// RecordChange notes how the application of a change ended. ErrStale if the batch is
	// not this attempt's any more, or the attempt did not begin the change.
	RecordChange(ctx context.Context, e ChangeEnd) (*gnomonv1.ChangeStatus, error)

	// PurgeStaged removes up to limit contents that were staged before a time and never
	// accepted, and says how many.
	PurgeStaged(ctx context.Context, before time.Time, limit int) (int, error)
}

// BatchRow is a batch as the store has it.
type BatchRow struct {
	// Batch is what clients see, its problems in its status and in those of its
	// changes.
	Batch *gnomonv1.Batch
	// Revision orders the writes of the head.
	Revision uint64
	// Fence is that of the attempt which has the turn.
	Fence Fence
	// CreateRequestID is the request_id it was created by.
	CreateRequestID string
	// Leases are those of changes that were begun and are not finished.
	Leases []Lease
}

// Fence orders the attempts to process a batch: later ones have greater fences.
type Fence uint64

// FenceOf is the fence of an attempt, which counts from 1 within its round. Attempt 0
// comes before all of the round.
func FenceOf(round, attempt uint32) Fence { return Fence(uint64(round)<<32 | uint64(attempt)) }

// Round and Attempt are what the fence was made of.
func (f Fence) Round() uint32 { return uint32(f >> 32) }

// Attempt is the second part.
func (f Fence) Attempt() uint32 { return uint32(f) }

// Lease says that an attempt may be applying a change until a time, by Temporal's clock.
type Lease struct {
	Index   int
	Fence   Fence
	Expires time.Time
}

// BatchWrite is a head and the conditions of its write.
type BatchWrite struct {
	Head *workflowv1.BatchHead
	// Fence must have the turn. 0: whoever has it.
	Fence Fence
	// Raise refuses all attempts before this fence from now on. 0: nobody.
	Raise Fence
	// Problems replace those that stand. They are kept in MANUAL_REVIEW only.
	Problems []*gnomonv1.Problem
}

// BatchTurn is an attempt that begins.
type BatchTurn struct {
	// Head is the one of the round, which is written where it is newer.
	Head  *workflowv1.BatchHead
	Fence Fence
	// At is now, by Temporal's clock.
	At time.Time
}

// ChangeBegin is the beginning of one application.
type ChangeBegin struct {
	ID, UID string
	Index   int
	Fence   Fence
	// At is now and Expires the end of the lease, by Temporal's clock.
	At, Expires time.Time
	// Worker names the process.
	Worker string
}

// ChangeEnd is the end of one application. If neither Rejection nor Doubt is set, the
// change was applied.
type ChangeEnd struct {
	ID, UID string
	Index   int
	Fence   Fence
	At      time.Time
	// Rejection is why the change was rejected.
	Rejection string
	// Doubt is why nothing is known: something did not answer. The attempt has ended all
	// the same and sends nothing more, so that its lease ends with it.
	Doubt string
}

// BatchQuery selects and orders batches. Zero fields do not restrict.
type BatchQuery struct {
	// States lists only batches in one of these.
	States []gnomonv1.BatchStatus_State
	// Labels lists only batches that have all of these labels with these values.
	Labels map[string]string
	// ID lists only this id; IDPrefix only ids that begin with this.
	ID, IDPrefix string
	// DueFrom (inclusive) and DueBefore (exclusive) bound scheduled_at.
	DueFrom, DueBefore time.Time
	// Order is the order of the rows; ties are broken by id in the same direction.
	Order ActionOrder
	// Descending turns the order round.
	Descending bool
	// After is the position of the last row of the page before, or nil.
	After *ActionPosition
	// Limit is the greatest number of rows, at least 1.
	Limit int
}
