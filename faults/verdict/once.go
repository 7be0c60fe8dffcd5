package verdict

import (
	"fmt"
	"strings"
	"time"

	"gnomon/faults/record"
)

// occurrence is one due time of one Guid.
type occurrence struct {
	guid string
	due  time.Time
}

// once holds promise 3: each occurrence is attempted at least once (see acknowledged)
// and recorded once, all its attempts under one key, and no attempt twice.
func (v *Verdict) once(e *Evidence) {
	specs, finals := e.specs(), e.finalByID()
	doubled, allowed, keys := 0, 0, map[string]occurrence{}
	groups := by(e.Visits, func(a record.Visit) occurrence { return occurrence{a.GUID, a.Occurrence} })
	perGUID := map[string]int{}
	for o, visits := range groups {
		perGUID[o.guid]++
		v.oneKey(o, visits, keys)
		d, a := v.attempts(e, o, visits, specs[o.guid])
		doubled, allowed = doubled+d, allowed+a
	}
	for guid, n := range perGUID {
		if spec, known := specs[guid]; known && spec.Period == 0 && n > 1 {
			v.breachf(3, "", "the once-action with the Guid %s had %d occurrences", guid, n)
		}
	}
	v.recorded(e, finals, specs)
	v.figuref(e.Run.Faults[0], "doubled", "%d (allowed after a kill: %d) of %d occurrences", doubled, allowed, len(groups))
}

// oneKey holds that the key is <id>/<guid>/<occurrence>, and nobody else's.
func (v *Verdict) oneKey(o occurrence, visits []record.Visit, keys map[string]occurrence) {
	for _, visit := range visits {
		if visit.Key != visits[0].Key || !strings.HasPrefix(visit.Key, visit.ID+"/"+visit.GUID+"/") {
			v.breachf(3, visit.ID, "attempt %d has the key %q beside %q", visit.Attempt, visit.Key, visits[0].Key)
		}
	}
	if other, used := keys[visits[0].Key]; used && other != o {
		v.breachf(3, visits[0].ID, "the key %q stands for two occurrences", visits[0].Key)
	}
	keys[visits[0].Key] = o
}

// attempts holds that no attempt came twice and that one which was answered well is
// not followed by another, but where a process was lost before its result was kept.
func (v *Verdict) attempts(e *Evidence, o occurrence, visits []record.Visit, spec record.Spec) (doubled, allowed int) {
	numbers := map[uint32]bool{}
	for n, visit := range visits {
		if numbers[visit.Attempt] {
			doubled++
			v.breachf(3, visit.ID, "attempt %d of %s came twice", visit.Attempt, o.due.Format(time.RFC3339Nano))
		}
		numbers[visit.Attempt] = true
		if visit.Attempt == 0 || visit.Attempt > 1+spec.Retries && spec.Path != "" {
			v.breachf(3, visit.ID, "attempt %d is beyond the budget of %d", visit.Attempt, 1+spec.Retries)
		}
		if n == 0 || visits[n-1].Status != 200 {
			continue
		}
		// The window in which the result may have been lost: the request's end until
		// the next attempt, and a little for one whose worker died as it ended.
		if e.within(visits[n-1].Began.Add(-e.Run.Heartbeat), visit.Began, kills...) {
			allowed++
			continue
		}
		doubled++
		v.breachf(3, visit.ID, "attempt %d followed one that had succeeded, and nothing was killed", visit.Attempt)
	}
	return doubled, allowed
}

// recorded holds that the counters are right: for a once-action every attempt up to
// the last is counted once, as one of the three outcomes.
func (v *Verdict) recorded(e *Evidence, finals map[string]record.Final, specs map[string]record.Spec) {
	last := map[string]record.Visit{}
	for _, visit := range e.Visits {
		if visit.Began.After(last[visit.ID].Began) {
			last[visit.ID] = visit
		}
	}
	wrong, looked := 0, 0
	for id, visit := range last {
		f := finals[id]
		if f.State != "SUCCEEDED" || specs[visit.GUID].Path == "" || specs[visit.GUID].Period > 0 || f.Open {
			continue
		}
		if row, ok := e.Rows[id]; !ok || row.Action.GetMeta().GetGuid() != visit.GUID {
			continue // its last incarnation was never attempted; acknowledged holds that
		}
		looked++
		var problem string
		switch made := f.Successful + f.Failed + f.Interrupted; {
		case f.Successful != 1:
			problem = fmt.Sprintf("%d successes are recorded of one occurrence", f.Successful)
		case made != uint64(visit.Attempt):
			problem = fmt.Sprintf("%d attempts are counted and the last was number %d", made, visit.Attempt)
		case f.Consecutive != 0:
			problem = fmt.Sprintf("%d failures in a row after a success", f.Consecutive)
		default:
			continue
		}
		wrong++
		v.breachf(3, id, "%s", problem)
	}
	v.figuref(e.Run.Faults[0], "counters wrong", "%d of %d", wrong, looked)
}
