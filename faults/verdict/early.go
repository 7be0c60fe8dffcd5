package verdict

import (
	"time"

	"gnomon/faults/record"
)

// skew is how long after its start by Temporal's clock an attempt may arrive, which
// shortens the distance to the next one as the receiver sees it.
const skew = 300 * time.Millisecond

// early holds promise 2: nothing runs before its time. Neither before the occurrence
// it names, nor with an occurrence before the spec's, nor a retry before its delay.
func (v *Verdict) early(e *Evidence) {
	specs := e.specs()
	triggered := map[string]bool{}
	for _, c := range e.Calls {
		if c.Op == record.Trigger {
			triggered[c.ID] = true
		}
	}
	found := 0
	broken := func(id, format string, args ...any) {
		found++
		v.breachf(2, id, format, args...)
	}
	for _, a := range e.Arrivals {
		if a.ScheduledAt.IsZero() {
			broken(a.ActionID, "arrival %d names no occurrence", a.Number)
		} else if a.Time.Before(a.ScheduledAt) {
			broken(a.ActionID, "arrived %s before its occurrence", a.ScheduledAt.Sub(a.Time))
		}
	}
	for guid, visits := range e.visitsByGUID() {
		spec, known := specs[guid]
		if !known {
			continue
		}
		for n, visit := range visits {
			due := spec.Due.Truncate(time.Microsecond)
			if visit.Began.Before(due) && !triggered[visit.ID] {
				broken(visit.ID, "arrived %s before it was due", due.Sub(visit.Began))
			}
			if n == 0 || visits[n-1].Attempt+1 != visit.Attempt || !visits[n-1].Occurrence.Equal(visit.Occurrence) || triggered[visit.ID] {
				continue
			}
			if gap := visit.Began.Sub(visits[n-1].Began); gap < spec.Delay-skew {
				broken(visit.ID, "attempt %d came %s after the one before, whose delay is %s", visit.Attempt, gap, spec.Delay)
			}
		}
	}
	v.figuref(e.Run.Faults[0], "early", "%d of %d arrivals", found, len(e.Arrivals))
}
