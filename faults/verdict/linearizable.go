package verdict

import (
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"gnomon/faults/record"
)

// searchFor bounds the search for an order of one history.
const searchFor = 20 * time.Second

// linearizable holds promise 5: for each id there is an order of all calls, each
// within its own time, that explains every answer, every attempt that the receiver
// saw and what the store shows in the end.
func (v *Verdict) linearizable(e *Evidence) {
	visits := by(e.Visits, func(a record.Visit) string { return a.ID })
	specs := e.specs()
	histories, steps, undecided := 0, 0, 0
	calls := e.callsByID()
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		history := e.history(id, calls[id], visits[id], specs)
		histories++
		steps += len(history)
		switch porcupine.CheckOperationsTimeout(lives, history, searchFor) {
		case porcupine.Illegal:
			v.breachf(5, id, "no order of its %d calls explains their answers", len(calls[id]))
		case porcupine.Unknown:
			undecided++
			v.breachf(5, id, "no order of its %d calls was found in %s", len(calls[id]), searchFor)
		case porcupine.Ok:
		}
	}
	v.figuref(e.Run.Faults[0], "histories", "%d with %d steps, %d undecided", histories, steps, undecided)
}

// history is that of one id for porcupine.
func (e *Evidence) history(id string, calls []record.Call, visits []record.Visit, specs map[string]record.Spec) []porcupine.Operation {
	known := map[string]bool{}
	for _, c := range calls {
		if c.GUID != "" && (c.Op == record.Create || c.Op == record.Update) {
			known[c.GUID] = true
		}
	}
	end := e.Run.End.UnixNano()
	var all []porcupine.Operation
	for n, c := range calls {
		i := input{op: c.Op, guid: c.GUID, etag: c.Etag, number: n, known: known}
		o := porcupine.Operation{Input: i, Output: output{c.Code}, Call: c.Call.UnixNano(), Return: c.Return.UnixNano()}
		if c.Code == "" || c.Code == "OK" && !c.Applied {
			// It may have happened, or happen later, or be dropped as it does not fit.
			o.Output, o.Return = output{}, end-1
		}
		all = append(all, o)
	}
	begun := map[occurrence]bool{}
	for _, a := range visits {
		i := input{op: began, guid: a.GUID, known: known}
		spec, told := specs[a.GUID]
		i.early = told && a.Occurrence.Before(spec.Due.Truncate(time.Microsecond))
		if o := (occurrence{a.GUID, a.Occurrence}); !begun[o] {
			begun[o] = true
			// It began when it was due, or later; an attempt that is late asks whether it
			// still stands, so its request is on its way for no longer than that.
			from := a.Occurrence
			if flight := a.Began.Add(-e.Run.Flight); flight.After(from) {
				from = flight
			}
			all = append(all, porcupine.Operation{
				Input: i, Output: output{}, Call: min(from.UnixNano(), a.Began.UnixNano()), Return: a.Began.UnixNano(),
			})
		}
		if a.Status == 200 {
			i.op = finished
			all = append(all, porcupine.Operation{Input: i, Output: output{}, Call: a.Began.UnixNano() + 1, Return: end - 1})
		}
	}
	final := input{op: atRest, known: known}
	if row, ok := e.Rows[id]; ok {
		final.guid, final.state = row.Action.GetMeta().GetGuid(), row.Action.GetStatus().GetState().String()
	}
	return append(all, porcupine.Operation{Input: final, Output: output{}, Call: end, Return: end})
}
