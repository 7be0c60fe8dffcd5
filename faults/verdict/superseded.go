package verdict

import (
	"time"

	"gnomon/faults/record"
)

// superseded holds promise 6: after an acknowledged update or delete no attempt of the
// old spec begins, whether it was applied at once or left for the workers to come. A
// request that was on its way then may still arrive within Run.Flight.
func (v *Verdict) superseded(e *Evidence) {
	visits, calls := e.visitsByGUID(), e.callsByID()
	acknowledged, left := 0, 0
	var flights []time.Duration
	for id, all := range calls {
		for _, c := range all {
			if c.Code != "OK" || c.Op != record.Update && c.Op != record.Delete || len(all) < 2 {
				continue
			}
			if !c.Applied && !e.within(c.Call, c.Return, record.Outage) {
				continue // a worker was there, but slow: the command comes some time soon
			}
			acknowledged++
			if !c.Applied {
				left++
			}
			for _, flight := range after(c, before(all, c), visits) {
				flights = append(flights, flight)
				if flight > e.Run.Flight {
					v.breachf(6, id, "an attempt of the old spec arrived %s after its %s was acknowledged", flight, c.Op)
				}
			}
		}
	}
	if acknowledged == 0 {
		return
	}
	v.figuref(e.Run.Faults[0], "updates and deletes", "%d acknowledged, %d with Applied=FALSE; of the old spec arrived later: %s",
		acknowledged, left, spread(flights))
}

// after is how long after a call's acknowledgement attempts of some Guids arrived.
func after(c record.Call, old []string, visits map[string][]record.Visit) []time.Duration {
	var flights []time.Duration
	for _, guid := range old {
		for _, visit := range visits[guid] {
			if flight := visit.Began.Sub(c.Return); flight > 0 {
				flights = append(flights, flight)
			}
		}
	}
	return flights
}

// before are the Guids that were certainly replaced by a call: those of calls which
// had been answered before it was made.
func before(all []record.Call, c record.Call) []string {
	var old []string
	for _, other := range all {
		made := other.Op == record.Create || other.Op == record.Update
		if made && other.GUID != "" && other.GUID != c.GUID && other.Code == "OK" && other.Return.Before(c.Call) {
			old = append(old, other.GUID)
		}
		if c.Op == record.Delete && made && other.GUID == c.GUID && other.Return.Before(c.Call) {
			old = append(old, other.GUID)
		}
	}
	return old
}
