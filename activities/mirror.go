package activities

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

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
	order   []string      // ids in waiting, oldest first
	writing []*waitingRow // what the call under way writes
	wake    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
	abort   context.CancelFunc // ends the call of the store that is under way
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
	// mirrorPause is how long after a failed call the next one is made.
	mirrorPause = 500 * time.Millisecond
	// mirrorKept is how many rows are kept while the store is down; beyond it the
	// oldest are dropped, and the workflows and the reconciler see to them.
	mirrorKept = 200_000
)

var errMirrorStopped = errors.New("the worker stops")

// NewMirror starts a Mirror. Close ends it.
func NewMirror(s store.Actions, log *slog.Logger) *Mirror {
	m := &Mirror{
		store: s, log: log, waiting: map[string]*waitingRow{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	calls, abort := context.WithCancel(context.Background())
	m.abort = abort
	m.stopped.Go(func() { m.run(calls) })
	return m
}

// Offer has a row written some time soon.
func (m *Mirror) Offer(row store.Row) { m.put(row, nil, time.Now()) }

// Write has a row written and waits for that as long as ctx allows. After an error
// the row still waits to be written.
func (m *Mirror) Write(ctx context.Context, row store.Row) error {
	return m.write(ctx, row, time.Now())
}

// write is Write for a decision that was taken at since.
func (m *Mirror) write(ctx context.Context, row store.Row, since time.Time) error {
	done := make(chan error, 1)
	m.put(row, done, since)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.stop:
		return errMirrorStopped
	}
}

// Mirror is the activity: it stores one row. It fails until the store took it.
func (m *Mirror) Mirror(ctx context.Context, in *workflowv1.MirrorInput) error {
	return m.write(ctx, store.Row{
		Action:    in.GetAction(),
		Revision:  revision(in.GetRevision()),
		Chain:     in.GetChain(),
		Tombstone: in.GetTombstone(),
		DeletedBy: in.GetDeletedBy(),
	}, scheduled(ctx))
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
		if !m.flush(ctx, batch) {
			return
		}
	}
}

func (m *Mirror) put(row store.Row, done chan error, since time.Time) {
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
	if done != nil {
		w.done = append(w.done, done)
	}
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

func (m *Mirror) run(ctx context.Context) {
	for {
		select {
		case <-m.stop:
			return
		case <-m.wake:
		}
		for batch := m.take(); len(batch) > 0; batch = m.take() {
			if m.flush(ctx, batch) {
				continue
			}
			select {
			case <-m.stop:
				return
			case <-time.After(mirrorPause):
			}
		}
	}
}

// take removes the oldest rows that wait.
func (m *Mirror) take() []*waitingRow {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.order), mirrorBatch)
	batch := make([]*waitingRow, 0, n)
	for _, id := range m.order[:n] {
		batch = append(batch, m.waiting[id])
		delete(m.waiting, id)
	}
	m.order = m.order[n:]
	m.writing = batch
	return batch
}

// flush writes a batch; after a failure its rows wait again, behind newer ones of
// the same action.
func (m *Mirror) flush(ctx context.Context, batch []*waitingRow) bool {
	rows := make([]store.Row, len(batch))
	for i, w := range batch {
		rows[i] = w.row
	}
	ctx, cancel := context.WithTimeout(ctx, mirrorCall)
	defer cancel()
	_, err := m.store.PutActions(ctx, rows)
	if err != nil {
		m.log.Warn("Rows could not be stored and wait.", "rows", len(rows), "error", err)
		for _, w := range batch {
			m.put(w.row, nil, w.since)
		}
	}
	m.written(batch, err)
	for _, w := range batch {
		for _, done := range w.done {
			done <- err
		}
	}
	return err == nil
}

func revision(r *workflowv1.Revision) store.Revision {
	return store.Revision{
		Incarnation: r.GetIncarnation().AsTime(),
		Sequence:    r.GetSequence(),
		Attempt:     r.GetAttempt(),
		Phase:       r.GetPhase(),
	}
}
