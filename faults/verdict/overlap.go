package verdict

import (
	"time"

	"gnomon/faults/record"
)

// overlaps holds promise 4: attempts of one spec never overlap, except after a lost
// heartbeat, and then for no longer than its timeout and the second it takes a worker
// to notice.
func (v *Verdict) overlaps(e *Evidence) {
	bound := e.Run.Heartbeat + time.Second + e.Run.Tolerance
	var lengths []time.Duration
	for _, visits := range e.visitsByGUID() {
		for n := 1; n < len(visits); n++ {
			before, now := visits[n-1], visits[n]
			length := earlier(before.Ended, now.Ended).Sub(now.Began)
			if length <= 0 {
				continue
			}
			lengths = append(lengths, length)
			switch {
			case !e.within(before.Began.Add(-e.Run.Heartbeat), now.Began, record.KillWorker, record.KillTemporal):
				v.breachf(4, now.ID, "attempts %d and %d overlap by %s and no heartbeat was lost", before.Attempt, now.Attempt, length)
			case length > bound:
				v.breachf(4, now.ID, "attempts %d and %d overlap by %s, the bound is %s", before.Attempt, now.Attempt, length, bound)
			}
		}
	}
	if len(lengths) == 0 {
		return
	}
	v.figuref(e.Run.Faults[0], "overlaps", "%s", spread(lengths))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
