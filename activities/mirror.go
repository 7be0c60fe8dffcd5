package activities

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/metrics"
	"gnomon/store"
)

// Mirror writes rows to the store for the attempts and workflows of one worker.
// Rows of many actions go in one call; of one action only the newest waits. A row
// that could not be written is kept and tried again until it was, until a newer
// one of its action took its place or until the process ends: a store that is down
// holds nothing up (M-61).
type Mirror struct {
	store   store.Actions
	log     *slog.Logger
	metrics *metrics.Worker

	mu      sync.Mutex
	waiting map[string]*waitingRow
	order   []string                 // ids in waiting, oldest first
	writing map[*waitingRow]struct{} // what the calls under way write
	wake    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
	abort   context.CancelFunc // ends the calls of the store that are under way
	// tells is for how long calls have to fail until those are told who wait for rows.
	tells time.Duration
	// down is why the store does not take rows, once that was told and until it takes one.
	down error
}

type waitingRow struct {
	row  store.Row
	done []chan error
	// since is when the first decision was taken that the store does not show.
	since time.Time
}

const (
	// mirrorBatch is how many rows go in one call.
	mirrorBatch = 256
	// mirrorCall bounds one call of the store.
	mirrorCall = 5 * time.Second
	// mirrorWait is how long the activity waits for its row: longer than a call, and
	// less than its own limit, so that it can say when to try again.
	mirrorWait = 8 * time.Second
	// mirrorKept is how many rows are kept while the store is down; beyond it the
	// oldest are dropped, and the workflows and the reconciler see to them.
	mirrorKept = 200_000
)

var errMirrorStopped = errors.New("the worker stops")

// NewMirror starts a Mirror. Close ends it.
func NewMirror(s store.Actions, log *slog.Logger) *Mirror {
	return NewMirrorTelling(s, log, mirrorDown)
}

// NewMirrorTelling is NewMirror with another time for which calls have to fail until
// those are told who wait for rows. Zero is for the first failure: so the lives of a model
// whose clock is not this machine's do not wait.
func NewMirrorTelling(s store.Actions, log *slog.Logger, tells time.Duration) *Mirror {
	m := &Mirror{
		tells: tells,
		store: s, log: log, waiting: map[string]*waitingRow{}, writing: map[*waitingRow]struct{}{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	calls, abort := context.WithCancel(context.Background())
	m.abort = abort
	m.stopped.Go(func() { m.run(calls) })
	return m
}

// Offer has a row written some time soon.
func (m *Mirror) Offer(row store.Row) { m.put(row, time.Now()) }

// Write has a row written and waits for that as long as ctx allows. After an error
// the row still waits to be written.
func (m *Mirror) Write(ctx context.Context, row store.Row) error {
	return m.write(ctx, row, time.Now())
}

// write is Write for a decision that was taken at since.
func (m *Mirror) write(ctx context.Context, row store.Row, since time.Time) error {
	if down := m.known(); down != nil {
		// Who waited for the next call to fail would be told with all others who do, and
		// their workflows go on in the same instant: a burst twice a second that makes
		// other actions late (F5).
		m.put(row, since)
		return down
	}
	done := make(chan error, 1)
	m.put(row, since, done)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.stop:
		return errMirrorStopped
	}
}

// Mirror is the activity: it stores one row. It fails until the store took it, and says
// when to try again.
func (m *Mirror) Mirror(ctx context.Context, in *workflowv1.MirrorInput) error {
	waits, cancel := context.WithTimeout(ctx, mirrorWait)
	defer cancel()
	err := m.write(waits, store.Row{
		Action:    in.GetAction(),
		Revision:  revision(in.GetRevision()),
		Chain:     in.GetChain(),
		Tombstone: in.GetTombstone(),
		DeletedBy: in.GetDeletedBy(),
	}, scheduled(ctx))
	if err == nil || ctx.Err() != nil {
		return err
	}
	attempt := int32(1)
	if activity.IsActivity(ctx) {
		attempt = activity.GetInfo(ctx).Attempt
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), "NotStored", temporal.ApplicationErrorOptions{
		// The log has it once for all rows of the call.
		Category: temporal.ApplicationErrorCategoryBenign, Cause: err, NextRetryDelay: m.again(attempt),
	})
}

// Close tries once more to write what waits, for as long as ctx allows.
func (m *Mirror) Close(ctx context.Context) {
	close(m.stop)
	defer m.abort()
	defer context.AfterFunc(ctx, m.abort)()
	m.stopped.Wait()
	for ctx.Err() == nil {
		batch := m.take()
		if len(batch) == 0 {
			return
		}
		c := m.flush(ctx, batch)
		m.written(c, true)
		if c.err != nil {
			return
		}
	}
}

func (m *Mirror) put(row store.Row, since time.Time, done ...chan error) {
	id := row.Action.GetMeta().GetId()
	m.mu.Lock()
	w := m.waiting[id]
	if w == nil {
		w = &waitingRow{row: row, since: since}
		m.waiting[id] = w
		m.order = append(m.order, id)
	} else if w.row.Revision.Encode() < row.Revision.Encode() {
		w.row = row
	}
	if since.Before(w.since) {
		w.since = since
	}
	w.done = append(w.done, done...)
	dropped := 0
	for len(m.waiting) > mirrorKept {
		delete(m.waiting, m.order[0])
		m.order = m.order[1:]
		dropped++
	}
	measures := m.metrics
	m.mu.Unlock()
	if dropped > 0 {
		measures.RowsDropped(dropped)
		m.log.Error("Too many rows wait for the store; the oldest were dropped.", "dropped", dropped)
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// call is one of the store that has ended.
type call struct {
	batch []*waitingRow
	err   error
}

// run has rows written until the Mirror stops, by as many calls at once as their pace
// allows.
func (m *Mirror) run(ctx context.Context) {
	var calls sync.WaitGroup
	p := pace{tells: m.tells}
	ended := make(chan call, mirrorCalls)
	for {
		var now <-chan time.Time
		if m.waits() {
			if wait, ok := p.next(time.Now()); ok {
				now = time.After(wait)
			}
		}
		select {
		case <-m.stop:
			calls.Wait()
			close(ended)
			for c := range ended {
				m.written(c, true)
			}
			return
		case <-m.wake:
		case c := <-ended:
			m.written(c, p.ended(c.err == nil, time.Now()))
		case <-now:
			p.began(time.Now())
			batch := m.take()
			calls.Go(func() { ended <- m.flush(ctx, batch) })
		}
	}
}

func (m *Mirror) waits() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting) > 0
}

// take removes the oldest rows that wait.
func (m *Mirror) take() []*waitingRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.order), mirrorBatch)
	batch := make([]*waitingRow, 0, n)
	for _, id := range m.order[:n] {
		w := m.waiting[id]
		batch = append(batch, w)
		delete(m.waiting, id)
		m.writing[w] = struct{}{}
	}
	m.order = m.order[n:]
	return batch
}

// flush writes a batch.
func (m *Mirror) flush(ctx context.Context, batch []*waitingRow) call {
	rows := make([]store.Row, len(batch))
	for i, w := range batch {
		rows[i] = w.row
	}
	ctx, cancel := context.WithTimeout(ctx, mirrorCall)
	defer cancel()
	_, err := m.store.PutActions(ctx, rows)
	return call{batch, err}
}

// written takes over how a call ended. After a failure its rows wait again, behind newer
// ones of the same action, and so do those who wait for them, unless the store is down:
// then they are told.
func (m *Mirror) written(c call, down bool) {
	m.found(c.err, down)
	if c.err != nil {
		m.log.Warn("Rows could not be stored and wait.", "rows", len(c.batch), "error", c.err)
		for _, w := range c.batch {
			if down {
				m.put(w.row, w.since)
			} else {
				m.put(w.row, w.since, w.done...)
			}
		}
	}
	m.measure(c)
	if c.err != nil && !down {
		return
	}
	for _, w := range c.batch {
		for _, done := range w.done {
			done <- c.err
		}
	}
}

// known is why the store is down, as far as that is known.
func (m *Mirror) known() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.down
}

// found takes over what a call says of the store. Lives whose time is not this machine's
// are told by each call, as there is no telling when the store is back.
func (m *Mirror) found(err error, down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.down = nil
	case down && m.tells > 0:
		m.down = err
	}
}

func revision(r *workflowv1.Revision) store.Revision {
	return store.Revision{
		Incarnation: r.GetIncarnation().AsTime(),
		Sequence:    r.GetSequence(),
		Attempt:     r.GetAttempt(),
		Phase:       r.GetPhase(),
	}
}
