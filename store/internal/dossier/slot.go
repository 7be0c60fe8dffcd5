package dossier

import (
	"slices"
	"time"

	"gnomon/store"
)

// Slot is one of a stage's that is taken.
type Slot struct {
	Holder string
	Until  time.Time
}

// SlotTx is a transaction over slots.
type SlotTx interface {
	// Slots are all of a stage's that are taken.
	Slots(stage string) ([]Slot, error)
	// PutSlot stores one instead of others.
	PutSlot(stage string, over []string, put Slot) error
}

// TakeSlot is store.Entities' within a transaction.
func TakeSlot(tx SlotTx, s store.SlotTake) error {
	taken, err := tx.Slots(s.Stage)
	if err != nil {
		return err
	}
	over, err := Take(taken, s)
	if err != nil {
		return err
	}
	return tx.PutSlot(s.Stage, over, Slot{Holder: s.Holder, Until: s.Until})
}

// TakeToken is store.Entities' within a transaction.
func TakeToken(tx SlotTx, t store.TokenTake) (time.Time, error) {
	stage := RateOf(t.Stage)
	granted, err := tx.Slots(stage)
	if err != nil {
		return time.Time{}, err
	}
	at, over, fresh, err := Grant(granted, t)
	if err != nil || !fresh {
		return at, err
	}
	return at, tx.PutSlot(stage, over, Slot{Holder: t.Name, Until: at.Add(t.Span)})
}

// Trial is a transaction that only reads: what is put is not stored. It says
// whether there would be one.
type Trial struct{ SlotTx }

// PutSlot implements SlotTx.
func (Trial) PutSlot(string, []string, Slot) error { return nil }

// Take decides as TakeSlot says. taken are all of the stage's. If the holder may have
// one, it says which have run out and are to be removed.
func Take(taken []Slot, s store.SlotTake) (over []string, err error) {
	var others uint32
	for _, slot := range taken {
		switch {
		case slot.Holder == s.Holder && s.At.Before(slot.Until):
			return nil, nil // it keeps its own
		case slot.Holder == s.Holder:
		case s.At.Before(slot.Until):
			others++
		default:
			over = append(over, slot.Holder)
		}
	}
	if others >= s.Limit {
		return nil, store.ErrBusy
	}
	return over, nil
}

// RateOf names what a stage's tokens are kept under, beside its slots.
func RateOf(stage string) string { return stage + "/calls" }

// mostAhead is how far the clocks of those who take tokens may be apart. What was granted
// for later than that was by a clock that has been set back since, and counts no more.
const mostAhead = time.Minute

// Grant decides as TakeToken says. granted are the tokens of the stage, each until Span
// after its call. If there is one it says which have become meaningless and are to be
// removed; fresh says that it is to be stored, until at + Span.
//
// The time is never before one that was granted already, so that whose clock is behind
// grants nothing that others count as over. Two follow each other by half of their share
// of the span at least: all at once, they would come at once again a span later, and for
// ever.
func Grant(granted []Slot, t store.TokenTake) (at time.Time, over []string, fresh bool, err error) {
	at = t.At.Truncate(time.Microsecond)
	var others []Slot
	for _, token := range granted {
		switch {
		case token.Holder == t.Name:
			return token.Until.Add(-t.Span), nil, false, nil
		case token.Until.After(at.Add(t.Ahead + t.Span + mostAhead)):
			over = append(over, token.Holder)
		default:
			others = append(others, token)
		}
	}
	if t.Limit == 0 {
		return time.Time{}, nil, false, store.ErrBusy
	}
	slices.SortFunc(others, func(a, b Slot) int { return b.Until.Compare(a.Until) })
	if len(others) > 0 {
		at = later(at, others[0].Until.Add((t.Span/time.Duration(2*t.Limit) - t.Span).Truncate(time.Microsecond)))
	}
	if last := int(t.Limit) - 1; len(others) > last {
		at = later(at, others[last].Until)
		for _, token := range others[last:] {
			over = append(over, token.Holder)
		}
	}
	if at.After(t.At.Add(t.Ahead)) {
		return at, nil, false, store.ErrBusy
	}
	return at, over, true, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
