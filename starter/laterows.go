package starter

import (
	"context"
	"slices"
	"sync"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

const (
	// lateKept is how many first rows wait at once, at the most; the workflows of those
	// beyond are asked to store theirs.
	lateKept = 20_000
	// lateCalls is how many of them are tried at once while the store takes them.
	lateCalls = 16
	// lateSoonest and lateLatest bound after how long the next is tried when one was not
	// taken; the time is doubled with each.
	lateSoonest = 50 * time.Millisecond
	lateLatest  = 2 * time.Second
	// lateLimit bounds one try, beyond what its caller waits for.
	lateLimit = 5 * time.Second
)

// lateRow is the first row of an action that the store did not take.
type lateRow struct {
	row store.Row
	// until is when its workflow is asked to store it.
	until time.Time
}

// lateRows are the first rows that the store did not take. They are tried again here, by
// one goroutine while there are any: a workflow that is asked to see to its row costs
// Temporal a signal and an activity with its retries, and a store that is away would so
// make actions late that it has nothing to do with (F5). What a process takes along when it is
// killed is mended by the row of the action's next attempt or by the reconciler.
type lateRows struct {
	// try writes a row, or finds that it is not needed any more.
	try func(context.Context, store.Row) error
	// ask has the workflow of a row see to it.
	ask func(context.Context, store.Row)
	// patience is for how long a row is tried.
	patience time.Duration

	mu      sync.Mutex
	waiting []lateRow
	working bool
	closed  bool
	stop    chan struct{}
	all     sync.WaitGroup
}

func newLateRows(patience time.Duration) *lateRows {
	return &lateRows{patience: patience, stop: make(chan struct{})}
}

// begin has work done beside its caller, which Close waits for.
func (l *lateRows) begin(work func()) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		work()
		return
	}
	l.all.Go(work)
	l.mu.Unlock()
}

// add has a row tried later.
func (l *lateRows) add(ctx context.Context, row store.Row) {
	l.mu.Lock()
	if l.closed || len(l.waiting) >= lateKept {
		l.mu.Unlock()
		l.ask(ctx, row)
		return
	}
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, lateRow{row, time.Now().Add(l.patience)})
	if !l.working {
		l.working = true
		l.all.Go(func() { l.work(context.WithoutCancel(ctx)) })
	}
}

// work tries rows until none waits. After one that was not taken it tries one at a time,
// until one is.
func (l *lateRows) work(ctx context.Context) {
	pause := time.Duration(0)
	for {
		if pause > 0 {
			over := time.NewTimer(pause)
			select {
			case <-l.stop:
				over.Stop()
				return
			case <-over.C:
			}
		}
		tried, spent := l.take(pause > 0, time.Now())
		if len(tried)+len(spent) == 0 {
			return
		}
		for _, late := range spent {
			l.ask(ctx, late.row)
		}
		switch {
		case len(tried) == 0:
		case l.each(ctx, tried):
			pause = 0
		default:
			pause = min(max(2*pause, lateSoonest), lateLatest)
		}
	}
}

// take removes the oldest rows: those to try now and, while the store takes none, those
// that were tried for long enough. With the last it ends the work.
func (l *lateRows) take(failing bool, now time.Time) (tried, spent []lateRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := lateCalls
	if failing {
		most = 1
	}
	rest := l.waiting[:0]
	for _, late := range l.waiting {
		switch {
		case failing && now.After(late.until):
			spent = append(spent, late)
		case len(tried) < most:
			tried = append(tried, late)
		default:
			rest = append(rest, late)
		}
	}
	clear(l.waiting[len(rest):])
	l.waiting = rest
	l.working = len(tried)+len(spent) > 0
	return tried, spent
}

// each tries rows side by side, and says whether all were taken. Those that were not wait
// again.
func (l *lateRows) each(ctx context.Context, rows []lateRow) bool {
	var calls sync.WaitGroup
	failed := make([]bool, len(rows))
	for i, late := range rows {
		calls.Go(func() {
			limited, cancel := context.WithTimeout(ctx, lateLimit)
			defer cancel()
			failed[i] = l.try(limited, late.row) != nil
		})
	}
	calls.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, late := range rows {
		if failed[i] {
			l.waiting = append(l.waiting, late)
		}
	}
	return !slices.Contains(failed, true)
}

// close ends the tries and asks the workflows of the rows that wait, as long as ctx
// allows.
func (l *lateRows) close(ctx context.Context) {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.stop)
	}
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		l.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	left := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, late := range left {
		if ctx.Err() != nil {
			return
		}
		l.ask(ctx, late.row)
	}
}

// apart is an action that shares its parts with another but is none: what a row has while
// its caller goes on with the reply.
func apart(a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: a.GetMeta(), Spec: a.GetSpec(), Status: a.GetStatus()}
}
