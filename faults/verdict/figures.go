package verdict

import (
	"slices"
	"time"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/faults/record"
)

// figures measures what the lines of single faults ask for.
func (v *Verdict) figures(e *Evidence) {
	for _, fault := range e.Run.Faults {
		switch fault {
		case "F1":
			v.again(e)
		case "F2":
			v.dispatched(e)
		case "F3":
			v.executions(e)
		case "F4":
			v.figuref("F4", "answers lost", "%d", v.Injections["F4"])
		case "F5":
			v.lag(e, "F5", 1.1, record.StoreDown, record.StoreSlow, record.StoreErrors)
			v.after(e, "F5", record.StoreDown)
			v.converged(e)
		case "F7":
			v.clocks(e)
		case "F9":
			v.winners(e)
		case "F11":
			v.lag(e, "F11", 1.2, record.Planted)
		case "F14":
			v.deadlines(e)
		case "F6", "F22", "F23":
			v.wanted(e, fault)
		}
	}
	for _, i := range e.of(record.Died) {
		v.breachf(0, i.ID, "%s: %s", i.Fault, i.Note)
	}
}

// again is F1: an attempt that was broken off is made again within heartbeat timeout +
// delay + 1 s. Where more workers are killed before that, each may take a workflow task
// with it, which is given to another after workflowv1.TaskTimeout.
func (v *Verdict) again(e *Evidence) {
	specs := e.specs()
	var took, further []time.Duration
	slack := 0
	for guid, visits := range e.visitsByGUID() {
		spec := specs[guid]
		for n := 1; n < len(visits); n++ {
			before, now := visits[n-1], visits[n]
			broken := before.Status == 0 && now.Attempt == before.Attempt+1
			killed := e.killsBetween(before.Ended.Add(-time.Second), now.Began)
			if !broken || killed == 0 || e.down(before.Ended, now.Began) {
				continue
			}
			after := now.Began.Sub(before.Ended)
			limit := e.Run.Heartbeat + spec.Delay + time.Second + e.Run.Tolerance
			if killed == 1 {
				took = append(took, after)
				if after > limit-e.Run.Tolerance {
					slack++
				}
			} else {
				further = append(further, after)
				limit += time.Duration(killed-1) * workflowv1.TaskTimeout
			}
			if after > limit {
				v.breachf(0, now.ID, "F1: attempted again after %s and %d kills, the limit is %s", after, killed, limit)
			}
		}
	}
	v.figuref("F1", "attempted again after", "%s; %d by the tolerance of %s only", spread(took), slack, e.Run.Tolerance)
	if slack > 0 {
		v.toleratedf("F1: %d of %d attempts were made again in time by the %s that are granted", slack, len(took), e.Run.Tolerance)
	}
	v.figuref("F1", "with more kills meanwhile", "%s", spread(further))
}

// killsBetween is how many workers were killed in a stretch of time.
func (e *Evidence) killsBetween(from, to time.Time) int {
	n := 0
	for _, i := range e.of(record.KillWorker) {
		if !i.At.Before(from) && !i.At.After(to) {
			n += i.Count
		}
	}
	return n
}

// down says whether no worker could take an attempt up at some time between.
func (e *Evidence) down(from, to time.Time) bool { return e.within(from, to, record.Outage) }

// dispatched is F2: attempts go on within 5 s of Temporal's restart.
func (v *Verdict) dispatched(e *Evidence) {
	const limit = 5 * time.Second
	var took []time.Duration
	for _, kill := range e.of(record.KillTemporal) {
		first := time.Time{}
		for _, visit := range e.Visits {
			if visit.Began.After(kill.Until) && (first.IsZero() || visit.Began.Before(first)) {
				first = visit.Began
			}
		}
		if first.IsZero() || first.Sub(kill.Until) > limit+e.Run.Tolerance {
			v.breachf(0, "", "F2: nothing was dispatched within %s of the restart at %s", limit, kill.Until.Format(time.RFC3339Nano))
			continue
		}
		took = append(took, first.Sub(kill.Until))
	}
	v.figuref("F2", "dispatched after the restart", "%s", spread(took))
}

// executions is F3: one execution for each creation that was acknowledged.
func (v *Verdict) executions(e *Evidence) {
	calls, doubled := e.callsByID(), 0
	for _, f := range e.Finals {
		created, unknown := 0, 0
		for _, c := range calls[f.ID] {
			if c.Op == record.Create && c.Code == "OK" {
				created++
			}
			if c.Op == record.Create && c.Code == "" {
				unknown++
			}
		}
		if f.Chains > created+unknown {
			doubled++
			v.breachf(3, f.ID, "F3: %d executions of %d creations", f.Chains, created)
		}
	}
	v.figuref("F3", "executions", "%d ids, doubled %d", len(e.Finals), doubled)
}

// winners is F9: of many creations of an id at once exactly one is acknowledged.
func (v *Verdict) winners(e *Evidence) {
	wrong := 0
	calls := e.callsByID()
	for _, i := range e.of(record.Barrier) {
		won, refused, reused := 0, 0, 0
		for _, c := range calls[i.ID] {
			switch c.Code {
			case "OK":
				won++
			case "AlreadyExists":
				refused++
			case "InvalidArgument":
				reused++
			}
		}
		if won != 1 || reused != 1 || won+refused+reused != int(i.Want) {
			wrong++
			v.breachf(5, i.ID, "F9: %d winners, %d refused, %d told of the used request_id, of %d calls", won, refused, reused, i.Want)
		}
	}
	v.figuref("F9", "rounds without exactly one winner", "%d of %d", wrong, len(e.of(record.Barrier)))
}

// clocks is F7: how wrong the clocks were.
func (v *Verdict) clocks(e *Evidence) {
	for _, i := range e.of(record.ClockOff) {
		v.figuref("F7", "clock off by "+i.Note, "%d creates", i.Count)
	}
}

// deadlines is F14: no attempt begins after the deadline; a request that was on its
// way may arrive within Run.Flight.
func (v *Verdict) deadlines(e *Evidence) {
	specs := e.specs()
	var late []time.Duration
	looked := 0
	for _, visit := range e.Visits {
		deadline := specs[visit.GUID].Deadline
		if deadline.IsZero() {
			continue
		}
		looked++
		if over := visit.Began.Sub(deadline); over > 0 {
			late = append(late, over)
			if over > e.Run.Flight {
				v.breachf(0, visit.ID, "F14: an attempt arrived %s after the deadline", over)
			}
		}
	}
	v.figuref("F14", "arrived after the deadline", "%s, of %d arrivals with one", spread(late), looked)
}

// wanted holds what injections say themselves must come of them.
func (v *Verdict) wanted(e *Evidence, fault string) {
	for _, i := range e.Injections {
		if i.Fault != fault || i.Want == 0 && i.Got == 0 {
			continue
		}
		if i.Want != i.Got {
			v.breachf(0, i.ID, "%s: %s: wanted %d, got %d", fault, i.Note, i.Want, i.Got)
		}
		v.figuref(fault, i.Note, "%d of %d", i.Got, i.Want)
	}
}

// lags are how late first attempts came that were due in a stretch of time.
func (e *Evidence) lags(stretches []record.Injection) []time.Duration {
	var all []time.Duration
	for _, visit := range e.Visits {
		// The planted ones are the fault and not its victims.
		if visit.Attempt != 1 || len(visit.ID) > 7 && visit.ID[:7] == record.Planted {
			continue
		}
		if slices.ContainsFunc(stretches, func(i record.Injection) bool {
			return visit.Occurrence.After(i.At) && visit.Occurrence.Before(i.Until)
		}) {
			all = append(all, visit.Began.Sub(visit.Occurrence))
		}
	}
	return all
}
