package receiver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// ErrClosed is what [Receiver.Wait] returns when the receiver closes first.
var ErrClosed = errors.New("the receiver is closed")

// arrivals numbers, writes and remembers what arrives, all in one order.
type arrivals struct {
	out    io.Writer
	record io.Writer
	zone   *time.Location
	keep   int

	mu     sync.Mutex
	last   uint64
	kept   []Arrival
	closed bool
	// changed is closed, and replaced, whenever there is something to look at.
	changed chan struct{}
	// err is the first of a line that could not be written.
	err error
}

func newArrivals(c Config, record io.Writer) *arrivals {
	return &arrivals{out: c.Out, record: record, zone: c.Location, keep: c.Keep, changed: make(chan struct{})}
}

// add records a. The error says that it is not on record.
func (l *arrivals) add(a Arrival) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	a.Number = l.last
	recordErr := l.writeRecord(a)
	var outErr error
	if l.out != nil {
		_, outErr = fmt.Fprintln(l.out, a.Line(l.zone))
	}
	if l.err == nil {
		l.err = errors.Join(recordErr, outErr)
	}
	// Twice the number is let in before half of it goes, so that it seldom has to.
	if len(l.kept) >= 2*l.keep {
		l.kept = slices.Delete(l.kept, 0, len(l.kept)-l.keep)
	}
	l.kept = append(l.kept, a)
	l.notify()
	return recordErr
}

// like is how many of the arrivals that are remembered were at a's path for a's batch.
func (l *arrivals) like(a Arrival) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, one := range l.kept {
		if one.Path == a.Path && one.Header.Get("Gnomon-Batch-Uid") == a.Header.Get("Gnomon-Batch-Uid") {
			n++
		}
	}
	return n
}

func (l *arrivals) writeRecord(a Arrival) error {
	if l.record == nil {
		return nil
	}
	line, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("record arrival %d: %w", a.Number, err)
	}
	// One Write, so that a process that dies leaves whole lines.
	if _, err := l.record.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("record arrival %d: %w", a.Number, err)
	}
	if f, ok := l.record.(interface{ Flush() error }); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("record arrival %d: %w", a.Number, err)
		}
	}
	return nil
}

func (l *arrivals) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *arrivals) all() []Arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.remembered())
}

func (l *arrivals) remembered() []Arrival {
	return l.kept[max(0, len(l.kept)-l.keep):]
}

// after is the remembered arrivals with a greater number, and what tells of more.
func (l *arrivals) after(number uint64) (found []Arrival, closed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.remembered()
	i, _ := slices.BinarySearchFunc(kept, number+1, func(a Arrival, n uint64) int {
		return cmp.Compare(a.Number, n)
	})
	return slices.Clone(kept[i:]), l.closed, l.changed
}

func (l *arrivals) wait(ctx context.Context, want func(Arrival) bool) (Arrival, error) {
	var seen uint64
	for {
		found, closed, changed := l.after(seen)
		for _, a := range found {
			if want(a) {
				return a, nil
			}
			seen = a.Number
		}
		if closed {
			return Arrival{}, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Arrival{}, fmt.Errorf("none of the %d arrivals so far was the one awaited: %w", seen, ctx.Err())
		}
	}
}

// close ends all waiting and returns the first error of a line.
func (l *arrivals) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.notify()
	}
	return l.err
}
