package verdict

import (
	"strings"
	"time"

	"gnomon/faults/record"
)

// settled is how long after its time an action must have ended at the latest.
const settled = 20 * time.Second

// word is the last thing that was acknowledged of an id.
type word struct {
	guid    string
	spec    record.Spec
	deleted bool
	paused  bool
}

// lastWord is what stands after a client's calls, one after the other; false where
// they overlap or one was not answered, which is for the check of linearizability.
func lastWord(calls []record.Call) (word, bool) {
	var w word
	for n, c := range calls {
		if n > 0 && c.Call.Before(calls[n-1].Return) || c.Code == "" {
			return w, false
		}
		if c.Code != "OK" {
			continue
		}
		switch c.Op {
		case record.Create, record.Update:
			w.guid, w.spec, w.deleted = c.GUID, *c.Spec, false
			if c.Op == record.Create {
				w.paused = false
			}
		case record.Delete:
			w.deleted = true
		case record.Pause:
			w.paused = true
		case record.Resume:
			w.paused = false
		}
	}
	return w, w.guid != ""
}

// acknowledged holds promise 1: what was acknowledged is not lost. Temporal and the
// store both know it, and what it asked for was done.
func (v *Verdict) acknowledged(e *Evidence) {
	finals, visits := e.finalByID(), e.visitsByGUID()
	looked, lost := 0, 0
	byHand := by(e.of(record.ManySignals), func(i record.Injection) string { return i.ID })
	for id, calls := range e.callsByID() {
		w, ok := lastWord(calls)
		if !ok || byHand[id] != nil {
			continue // the word after that was a signal's
		}
		looked++
		if why := w.missing(finals[id], visits[w.guid], e.Run.End); why != "" {
			lost++
			v.breachf(1, id, "%s", why)
			continue
		}
		row, ok := e.Rows[id]
		if !ok || row.Action.GetMeta().GetGuid() != w.guid {
			lost++
			v.breachf(1, id, "the store does not show what was acknowledged last")
		}
	}
	v.figuref(e.Run.Faults[0], "acknowledged and lost", "%d of %d", lost, looked)
}

// missing says what became of the last word, or nothing if all is well.
func (w word) missing(f record.Final, visits []record.Visit, end time.Time) string {
	if f.ID == "" {
		return "Temporal does not know what was acknowledged"
	}
	if f.Open && f.GUID != w.guid {
		return "Temporal has another Guid than the one acknowledged last"
	}
	answered := false
	for _, visit := range visits {
		answered = answered || visit.Status == 200
	}
	switch over := w.spec.Due.Add(settled).Before(end); {
	case w.deleted && f.State == "DELETED", w.paused:
		return ""
	case strings.HasPrefix(f.ID, record.Planted+"-"):
		// A performer that panics ends its action as it should: by its budget.
		if f.Open {
			return "was planted and has not ended"
		}
		return ""
	case w.deleted:
		return "was deleted and is " + f.State
	case w.spec.Period > 0:
		if over && !answered {
			return "is due again and again and was never performed"
		}
		return ""
	case !w.spec.Deadline.IsZero():
		if !f.Open || w.spec.Deadline.Add(settled).After(end) {
			return ""
		}
		return "outlived its deadline: " + f.State
	case over && f.State == "SUCCEEDED" && !answered:
		return "is said to have succeeded and nothing was answered"
	case over && f.State != "SUCCEEDED":
		return "was due and is " + f.State
	case !over && w.spec.Due.After(end) && f.State != "SCHEDULED" && !answered:
		return "is not due and is " + f.State
	}
	return ""
}
