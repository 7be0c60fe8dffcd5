package faulty

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gnomon/store"
)

// Store passes calls on to another store.Store and misbehaves as Set says. All
// methods are safe for concurrent use.
type Store struct {
	inner store.Store

	mu       sync.Mutex
	faults   Faults
	random   *rand.Rand
	injected map[Method]int
}

var _ store.Store = (*Store)(nil)

// New wraps a store, at first without faults. The seed makes what is drawn for one
// sequence of calls the same each time.
func New(inner store.Store, seed uint64) *Store {
	return &Store{inner: inner, random: rand.New(rand.NewPCG(seed, 0)), injected: map[Method]int{}}
}

// Set replaces the faults for all calls that begin from now on. It panics on a
// fraction that is none, or a negative duration: a test that means nothing.
func (s *Store) Set(f Faults) {
	if err := f.validate(); err != nil {
		panic("faulty: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Injected says how many calls of a method were failed, dropped, doubled or lost
// their reply. Delays do not count.
func (s *Store) Injected(m Method) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected[m]
}

// fate is what was drawn for one call.
type fate struct {
	fail, loseReply, drop, double bool

	delay time.Duration
}

// draw decides about one call.
func (s *Store) draw(m Method) fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.faults.concerns(m) {
		return fate{}
	}
	f := fate{
		fail:      s.random.Float64() < s.faults.Fail,
		loseReply: s.random.Float64() < s.faults.LoseReply,
		drop:      s.random.Float64() < s.faults.Drop,
		double:    s.random.Float64() < s.faults.Double,
		delay:     s.faults.Delay,
	}
	if s.faults.Jitter > 0 {
		f.delay += time.Duration(s.random.Int64N(int64(s.faults.Jitter) + 1))
	}
	f.drop = f.drop && slices.Contains(dropped, m)
	f.double = f.double && slices.Contains(doubled, m)
	if f.fail || f.loseReply || f.drop || f.double {
		s.injected[m]++
	}
	return f
}

// begin waits the call's delay and fails it if so drawn.
func (s *Store) begin(ctx context.Context, m Method) (fate, error) {
	f := s.draw(m)
	if f.delay > 0 {
		timer := time.NewTimer(f.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return f, fmt.Errorf("%s, delayed: %w", m, ctx.Err())
		}
	}
	if f.fail {
		return f, fmt.Errorf("%s failed: %w", m, ErrInjected)
	}
	return f, nil
}

// call makes one call, once or twice, and hides its answer if so drawn.
func call[T any](f fate, m Method, do func() (T, error)) (T, error) {
	answer, err := do()
	if f.double && err == nil {
		_, _ = do() // a repetition nobody waits for
	}
	if f.loseReply && err == nil {
		var none T
		return none, fmt.Errorf("%s lost its reply: %w", m, ErrInjected)
	}
	return answer, err
}
