package activities

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"gnomon/stages"
	"gnomon/store"
)

// limits hold what a stage's declaration allows of Process calls, together with all other
// workers: how many at a time (G-33) and how many a second (G-32). The store keeps both.
// Temporal's own limit of a task queue does not do: it is divided among the partitions,
// lets a second's worth through at once, and counts tasks instead of calls.
//
// In this process one visit at a time asks the store for each, real changes before what
// waits in the background (G-31).
type limits struct {
	store  store.Entities
	stage  *stages.Declared
	slots  turnstile
	tokens turnstile
	// passed is for a slot that goes from a visit in this process to the next, and released
	// says that one was given back instead.
	passed   chan slot
	released chan struct{}
}

// slot is one of a stage's, by the name under which the store knows it.
type slot struct {
	name string
	// turns is how many visits it has been passed on to.
	turns int
}

// limitsOf are those of a stage, the same for all visits in this process.
func (e *Entities) limitsOf(stage *stages.Declared) *limits {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.limits == nil {
		e.limits = map[string]*limits{}
	}
	l := e.limits[stage.Name]
	if l == nil {
		l = &limits{store: e.Store, stage: stage, passed: make(chan slot), released: make(chan struct{}, 1)}
		e.limits[stage.Name] = l
	}
	return l
}

const (
	// slotPoll is how often a slot is asked for that another worker may give back.
	slotPoll = 20 * time.Millisecond
	// mostTurns is how many visits of this process follow each other on a slot before other
	// workers, whose visits may have waited for longer, have a chance to take it.
	mostTurns = 8
	// maxTokens bounds how many calls are granted in the span that they are counted in.
	maxTokens = 200
	// tokenAhead is how long before its time a call may be granted: how slow store and
	// machine may be without the rate being used less. What is granted to a worker that dies
	// is lost.
	tokenAhead = 250 * time.Millisecond
	// tokenPoll bounds from below how often a token is asked for that is too far ahead.
	tokenPoll = 2 * time.Millisecond
	// turnLead is how long before the call the entity's turn is taken.
	turnLead = 20 * time.Millisecond
	// tokenStale is how late a call may be; one that is later waits for another token.
	tokenStale = 200 * time.Millisecond
)

// slot waits for one of the stage's slots, and takes it under a name until a time that is
// said at each try. It may be one with another name that was passed on. After an error it
// is not known whether one was taken under the name.
func (l *limits) slot(ctx context.Context, name string, background bool, lease func() (at, until time.Time)) (got slot, err error) {
	got = slot{name: name}
	err = l.slots.through(ctx, background, func() error {
		for {
			// One that was passed on lasts as long as any from here: those before may have used
			// up its lease. If it has run out meanwhile and is another's, this waits on.
			at, until := lease()
			err := l.store.TakeSlot(ctx, store.SlotTake{Stage: l.stage.Name, Holder: got.name, Limit: l.stage.Parallelism, At: at, Until: until})
			if !errors.Is(err, store.ErrBusy) {
				return err
			}
			got = slot{name: name}
			pause := time.NewTimer(slotPoll)
			select {
			case got = <-l.passed:
				pause.Stop()
			case <-pause.C:
			case <-l.released:
				pause.Stop()
			case <-ctx.Done():
				pause.Stop()
				return ctx.Err()
			}
		}
	})
	return got, err
}

// release passes a slot on to who waits for one here, or gives it back.
func (l *limits) release(ctx context.Context, s slot) error {
	if s.turns < mostTurns {
		select {
		case l.passed <- slot{s.name, s.turns + 1}:
			return nil
		default:
		}
	}
	err := l.store.ReleaseSlot(ctx, l.stage.Name, s.name)
	if s.turns < mostTurns {
		select {
		case l.released <- struct{}{}:
		default:
		}
	}
	return err
}

// token waits until one more call is granted within the rate, and says from when. The name
// is to be used once.
func (l *limits) token(ctx context.Context, name string, background bool, now func() time.Time) (at time.Time, err error) {
	err = l.tokens.through(ctx, background, func() error {
		at, err = l.takeToken(ctx, name, now)
		return err
	})
	return at, err
}

// takeToken is token for a call that is past the turnstile.
func (l *limits) takeToken(ctx context.Context, name string, now func() time.Time) (time.Time, error) {
	count, span := tokensOf(l.stage.RateLimit)
	for {
		at, err := l.store.TakeToken(ctx, store.TokenTake{Stage: l.stage.Name, Name: name, Limit: count, Span: span, At: now(), Ahead: tokenAhead})
		if !errors.Is(err, store.ErrBusy) {
			return at, err
		}
		// Others may take it first, and who asks at once does so in vain.
		if err := pause(ctx, max(at.Sub(now())-tokenAhead, tokenPoll)); err != nil {
			return time.Time{}, err
		}
	}
}

// tokensOf is how many calls are granted at a rate in any span, and the span.
func tokensOf(rate float64) (count uint32, span time.Duration) {
	n := min(max(math.Floor(rate), 1), maxTokens)
	return uint32(n), time.Duration(math.Ceil(n/rate*1e6)) * time.Microsecond
}

// pause waits, if there is something to wait for.
func pause(ctx context.Context, long time.Duration) error {
	if long <= 0 {
		return nil
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turnstile lets through one at a time, those in the background last, else in the order
// of their coming. The zero turnstile is ready for use.
type turnstile struct {
	mu      sync.Mutex
	busy    bool
	waiting [2][]chan struct{} // the background second
}

// through does something alone.
func (t *turnstile) through(ctx context.Context, background bool, do func() error) error {
	if err := t.enter(ctx, background); err != nil {
		return err
	}
	defer t.leave()
	return do()
}

func (t *turnstile) enter(ctx context.Context, background bool) error {
	line := 0
	if background {
		line = 1
	}
	t.mu.Lock()
	if !t.busy {
		t.busy = true
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting[line] = append(t.waiting[line], turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	for i, other := range t.waiting[line] {
		if other == turn {
			t.waiting[line] = append(t.waiting[line][:i:i], t.waiting[line][i+1:]...)
			t.mu.Unlock()
			return ctx.Err()
		}
	}
	t.mu.Unlock()
	t.leave() // it was its turn in the same moment
	return ctx.Err()
}

func (t *turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for line := range t.waiting {
		if len(t.waiting[line]) > 0 {
			close(t.waiting[line][0])
			t.waiting[line] = t.waiting[line][1:]
			return
		}
	}
	t.busy = false
}
