package group

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStopped says that the writer takes no more.
var ErrStopped = errors.New("the store is closed")

// Config says how a Writer writes. Commit, Weigh and Limit are required.
type Config[W, R any] struct {
	// Commit writes a group and gives the result of each, in order. It bounds its
	// own time: no caller's context is the group's, as one that ends must not take
	// the others with it.
	Commit func(group []W) ([]R, error)
	// Weigh says how much of Limit a write takes.
	Weigh func(W) int
	// Limit is the weight at which nothing more joins a group. The last to join may
	// exceed it.
	Limit int
	// Alone says of an error of Commit that a single write may be to blame: then
	// each is committed again by itself, so that the others do not suffer.
	Alone func(error) bool
	// Writers is how many groups may be under way at once. Default 1.
	Writers int
	// Slow is how many may be while each takes longer than Patience. Beyond Writers a
	// group begins only when the latest one has been under way for that long: then what
	// has come meanwhile does not wait for one group and is written by the next, and
	// not all callers are answered in the same instant. Default Writers.
	Slow     int
	Patience time.Duration
}

// Writer commits in groups. New makes one.
type Writer[W, R any] struct {
	config Config[W, R]

	// calls has no buffer: what waits to be written is what callers wait for.
	calls    chan call[W, R]
	stopping chan struct{}
	stopOnce sync.Once
	running  sync.WaitGroup
}

// call is one caller's write.
type call[W, R any] struct {
	write W
	ctx   context.Context   // the caller's, who may leave before his turn
	done  chan<- outcome[R] // has room, so that the writer never waits for a caller
}

// outcome is what became of a call.
type outcome[R any] struct {
	result R
	err    error
}

// New starts the goroutine that begins groups, which Stop ends.
func New[W, R any](c Config[W, R]) *Writer[W, R] {
	c.Writers = max(1, c.Writers)
	c.Slow = max(c.Writers, c.Slow)
	w := &Writer[W, R]{config: c, calls: make(chan call[W, R]), stopping: make(chan struct{})}
	w.running.Go(w.run)
	return w
}

// Do has a write committed and waits for it, or until ctx ends: then nothing is
// known of it. After Stop it fails with ErrStopped.
func (w *Writer[W, R]) Do(ctx context.Context, write W) (R, error) {
	done := make(chan outcome[R], 1)
	var none R
	select {
	case w.calls <- call[W, R]{write: write, ctx: ctx, done: done}:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-w.stopping:
		return none, ErrStopped
	}
	select {
	case out := <-done:
		return out.result, out.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// Stopping is closed when Stop is called.
func (w *Writer[W, R]) Stopping() <-chan struct{} { return w.stopping }

// Stop lets the groups under way finish and ends the goroutine. What waits but
// has not begun fails with ErrStopped.
func (w *Writer[W, R]) Stop() {
	w.stopOnce.Do(func() { close(w.stopping) })
	w.running.Wait()
}

// run begins groups until the Writer stops, and waits for those under way.
func (w *Writer[W, R]) run() {
	ended := make(chan struct{}, w.config.Slow)
	var underWay int
	var last time.Time // when the latest began
	for {
		var calls <-chan call[W, R]
		var soon <-chan time.Time
		switch wait := w.config.Patience - time.Since(last); {
		case underWay < w.config.Writers, underWay < w.config.Slow && wait <= 0:
			calls = w.calls
		case underWay < w.config.Slow:
			soon = time.After(wait)
		}
		select {
		case c := <-calls:
			group := w.gather(c)
			underWay, last = underWay+1, time.Now()
			w.running.Go(func() {
				w.commit(group)
				ended <- struct{}{}
			})
		case <-ended:
			underWay--
		case <-soon:
		case <-w.stopping:
			return
		}
	}
}

// gather adds to first whatever waits already, and waits for nothing.
func (w *Writer[W, R]) gather(first call[W, R]) []call[W, R] {
	group, weight := []call[W, R]{first}, w.config.Weigh(first.write)
	for weight < w.config.Limit {
		select {
		case c := <-w.calls:
			group = append(group, c)
			weight += w.config.Weigh(c.write)
		default:
			return group
		}
	}
	return group
}

// commit writes a group and answers its callers, but for those who have left.
func (w *Writer[W, R]) commit(group []call[W, R]) {
	waiting := group[:0]
	var writes []W
	for _, c := range group {
		if c.ctx.Err() == nil {
			waiting = append(waiting, c)
			writes = append(writes, c.write)
		}
	}
	if len(waiting) == 0 {
		return
	}
	results, err := w.config.Commit(writes)
	if err != nil && len(waiting) > 1 && w.config.Alone != nil && w.config.Alone(err) {
		for _, c := range waiting {
			w.commit([]call[W, R]{c})
		}
		return
	}
	for i, c := range waiting {
		out := outcome[R]{err: err}
		if err == nil {
			out.result = results[i]
		}
		c.done <- out
	}
}
