package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/outbound"
	"gnomon/store"
)

// leaseMargin is how much longer a change's turn is than the context of its application,
// and that than the kind's own time limit.
const leaseMargin = time.Second

// ProcessBatch is the activity: one attempt to process a batch. It takes the turn, loads
// the batch (V-06), waits until no earlier attempt can be applying a change any more
// (V-14), validates what is not finished (V-07, V-16) and applies it, one change after
// another, each recorded before the next begins (V-12, V-13). Its heartbeats are hints for
// people: the store says what is done.
func (b *Batches) ProcessBatch(ctx context.Context, in *workflowv1.ProcessBatchInput) (*workflowv1.ProcessBatchResult, error) {
	info := activity.GetInfo(ctx)
	p := &processing{
		Batches: b, in: in, now: b.clock(info),
		fence: store.FenceOf(in.GetHead().GetStatus().GetRound(), uint32(info.Attempt)),
	}
	p.progress.Store(&workflowv1.BatchProgress{Doing: "takes its turn"})
	quiet := p.beat(ctx, info)
	defer quiet()
	result, err := p.run(ctx)
	if err == nil || ctx.Err() != nil {
		return result, err
	}
	if errors.Is(err, store.ErrStale) {
		// Whoever has the turn goes on; this attempt has nothing more to say.
		return nil, temporal.NewApplicationErrorWithOptions(err.Error(), "Stale", temporal.ApplicationErrorOptions{Cause: err})
	}
	after, _ := changes.RetryAfter(err)
	return nil, temporal.NewApplicationErrorWithOptions(shorten(err.Error()), "Unprocessed", temporal.ApplicationErrorOptions{
		Category: temporal.ApplicationErrorCategoryBenign, NextRetryDelay: after,
	})
}

// processing is one attempt under way.
type processing struct {
	*Batches

	in    *workflowv1.ProcessBatchInput
	now   func() time.Time
	fence store.Fence

	row  store.BatchRow
	kind changes.Batch
	// progress is what heartbeats carry; a new one each time.
	progress atomic.Pointer[workflowv1.BatchProgress]
	// told is how many finished changes the workflow was told of, at first those of
	// attempts before.
	told atomic.Uint32
}

func (p *processing) run(ctx context.Context) (*workflowv1.ProcessBatchResult, error) {
	var err error
	p.row, err = p.Store.TakeTurn(ctx, store.BatchTurn{Head: p.in.GetHead(), Fence: p.fence, At: p.now()})
	switch {
	case err != nil:
		return nil, err
	case p.row.Revision == p.in.GetLastRevision():
		return ended(p.row), nil // an attempt before ended the round, and its report was lost
	case p.row.Revision > p.in.GetLastRevision():
		return nil, store.ErrStale
	}
	p.kind = changes.Batch{
		ID: p.row.Batch.GetId(), UID: p.row.Batch.GetUid(), ScheduledAt: p.row.Batch.GetScheduledAt().AsTime(), Labels: p.row.Batch.GetLabels(),
	}
	p.told.Store(uint32(len(p.row.Batch.GetChanges()) - len(batch.Unfinished(p.row.Batch.GetChanges()))))
	if err := p.outwait(ctx); err != nil {
		return nil, err
	}
	p.show("validates", 0)
	problems, err := p.Kinds.Validate(ctx, p.kind, p.subjects())
	if err != nil {
		return nil, fmt.Errorf("validation: %w", err)
	}
	if len(problems) > 0 { // V-09
		return p.end(ctx, store.BatchWrite{Head: batch.Review(p.in, len(problems), p.now()), Problems: problems})
	}
	for _, index := range batch.Unfinished(p.row.Batch.GetChanges()) {
		if err := p.apply(ctx, index); err != nil {
			return nil, err
		}
	}
	// Only this attempt could have changed them since, and each was stored.
	return p.end(ctx, store.BatchWrite{Head: batch.Conclude(p.in, p.row.Batch.GetChanges(), p.now())})
}

// end writes the head that ends the round.
func (p *processing) end(ctx context.Context, w store.BatchWrite) (*workflowv1.ProcessBatchResult, error) {
	w.Fence = p.fence
	row, err := p.Store.PutBatch(ctx, w)
	if err != nil {
		return nil, err
	}
	return ended(row), nil
}

// outwait waits until the leases of earlier attempts have run out: until then a worker
// that was lost to the server may still be applying a change.
func (p *processing) outwait(ctx context.Context) error {
	for _, lease := range p.row.Leases {
		wait := lease.Expires.Sub(p.now())
		if wait <= 0 {
			continue
		}
		p.show("waits until the attempt before cannot be applying any more", lease.Index)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			timer.Stop()
			return errStopping
		}
	}
	return nil
}

// subjects are the changes that are not finished.
func (p *processing) subjects() []changes.Subject {
	var all []changes.Subject
	for _, index := range batch.Unfinished(p.row.Batch.GetChanges()) {
		all = append(all, p.subject(index))
	}
	return all
}

func (p *processing) subject(index int) changes.Subject {
	c := p.row.Batch.GetChanges()[index]
	return changes.Subject{Index: index, Change: c, InDoubt: batch.InDoubt(c)}
}

// apply applies one change and records how that ended.
func (p *processing) apply(ctx context.Context, index int) error {
	if err := p.mayGoOn(ctx); err != nil {
		return err
	}
	p.show("applies", index)
	subject := p.subject(index)
	limit := p.Kinds.TimeLimit(subject.Change) + leaseMargin
	here, begun := time.Now(), p.now()
	st, err := p.Store.BeginChange(ctx, store.ChangeBegin{
		ID: p.kind.ID, UID: p.kind.UID, Index: index, Fence: p.fence, Worker: p.Worker,
		At: begun, Expires: begun.Add(limit + leaseMargin),
	})
	if err != nil {
		return err
	}
	subject.Change.Status = st
	bounded, cancel := context.WithDeadline(ctx, here.Add(limit))
	defer cancel()
	applied := p.applyGuarded(bounded, subject, changes.Turn{
		Key: st.GetIdempotencyKey(), Attempt: st.GetAttempts(), Resumed: subject.InDoubt,
		Begun: here, Expires: here.Add(limit + leaseMargin),
	})
	end := store.ChangeEnd{ID: p.kind.ID, UID: p.kind.UID, Index: index, Fence: p.fence, At: p.now()}
	switch {
	case applied == nil:
	case changes.IsRejected(applied): // V-12
		end.Rejection = shorten(applied.Error())
	default:
		end.Doubt = shorten(applied.Error())
	}
	// What was applied is recorded even if nobody waits for this attempt any more; the
	// store refuses it where a later one has the turn.
	record, done := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer done()
	st, err = p.Store.RecordChange(record, end)
	if end.Doubt != "" {
		if err != nil {
			p.Log.Warn("The lease of a change that had no answer could not be given up.", "batch", p.kind.ID, "change", index, "error", err)
		}
		return fmt.Errorf("change %d: %w", index, applied)
	}
	if err != nil {
		return err
	}
	subject.Change.Status = st
	return nil
}

// recordTimeout bounds the recording of one change.
const recordTimeout = 10 * time.Second

// applyGuarded makes a panic of a kind one more way of not answering.
func (p *processing) applyGuarded(ctx context.Context, s changes.Subject, t changes.Turn) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			p.Log.Error("A kind of change panicked.", "batch", p.kind.ID, "change", s.Index, "panic", fmt.Sprintf("%T", cause))
			err = errors.New("the kind of change panicked; the log of the worker tells where")
		}
	}()
	if err := t.Check(); err != nil {
		return err
	}
	return p.Kinds.Apply(ctx, p.kind, s, t)
}

// mayGoOn is asked before each change: an attempt that was cancelled, or whose worker
// stops, begins no more.
func (p *processing) mayGoOn(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-activity.GetWorkerStopChannel(ctx):
		return errStopping
	default:
		return nil
	}
}

// show tells people where the attempt is.
func (p *processing) show(doing string, index int) {
	now := &workflowv1.BatchProgress{Doing: doing, ChangeIndex: uint32(index), Round: p.in.GetHead().GetStatus().GetRound()}
	for _, c := range p.row.Batch.GetChanges() {
		switch {
		case !batch.Finished(c):
			now.PendingChanges++
		case c.GetStatus().GetState() == gnomonv1.ChangeStatus_COMPLETE:
			now.CompleteChanges++
		default:
			now.FailedChanges++
		}
	}
	p.progress.Store(now)
}

// beat keeps the attempt alive with the server until the function it returns is called.
// Until then it also tells the workflow of its progress.
func (p *processing) beat(ctx context.Context, info activity.Info) (quiet func()) {
	every := max(info.HeartbeatTimeout/4, 100*time.Millisecond)
	activity.RecordHeartbeat(ctx, p.progress.Load())
	ctx, stop := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { p.tell(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID) })
	beats.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx, proto.CloneOf(p.progress.Load()))
			}
		}
	})
	return func() {
		stop()
		beats.Wait()
	}
}

func shorten(text string) string { return outbound.Shorten(text, batch.MaxTextLength) }
