package verdict

import (
	"fmt"
	"time"

	"gnomon/faults/record"
)

// noise is what two 99th percentiles may differ by on a machine of two cores, where a
// ratio alone would judge the machine: of stretches without any fault they differ by as
// much. A lag that holds by it only is said to.
const noise = 25 * time.Millisecond

// typical is how late attempts came in the stretches of a kind: all of them, and the
// median of the stretches' 99th percentiles, as in one of them the machine may have been
// busy with something else. Of an even number it is the higher of the middle two.
func (e *Evidence) typical(kind string) (all []time.Duration, p99 time.Duration) {
	var each []time.Duration
	for _, stretch := range e.of(kind) {
		lags := e.lags([]record.Injection{stretch})
		all = append(all, lags...)
		if len(lags) > 0 {
			each = append(each, quantile(lags, .99))
		}
	}
	return all, quantile(each, .5)
}

// lag compares how late attempts came under a fault with the healthy stretches before
// and after it in the same run.
func (v *Verdict) lag(e *Evidence, fault string, limit float64, kinds ...string) {
	healthy, base := e.typical(record.Healthy)
	v.figuref(fault, "lag healthy", "%s, p99 of its %d stretches %s (median)", spread(healthy), len(e.of(record.Healthy)), base.Round(time.Millisecond))
	for _, kind := range kinds {
		under, p99 := e.typical(kind)
		ratio := float64(p99) / float64(max(base, time.Millisecond))
		how := "within it"
		switch {
		case len(under) == 0 || len(healthy) == 0:
			v.breachf(0, "", "%s: nothing was due under %s or without it", fault, kind)
			how = "nothing to compare"
		case ratio > limit && p99 > base+noise:
			v.breachf(0, "", "%s: lag p99 under %s is %s, healthy %s: more than %.1f times and %s", fault, kind, p99, base, limit, noise)
			how = "BROKEN"
		case ratio > limit:
			v.toleratedf("%s: lag p99 under %s is %.2f times that of the healthy run, the limit is %.1f: it holds by the %s that are granted", fault, kind, ratio, limit, noise)
			how = fmt.Sprintf("by the tolerance of %s only", noise)
		}
		v.figuref(fault, "lag "+kind, "%s, p99 of its %d stretches %s (median): ratio %.2f, limit %.1f, %s",
			spread(under), len(e.of(kind)), p99.Round(time.Millisecond), ratio, limit, how)
	}
}

// after tells how late attempts came in the aftermath of each of some kinds: what waited
// for the store ends all at once then. faults.md limits the lag under a fault; this is
// told.
func (v *Verdict) after(e *Evidence, fault string, kinds ...string) {
	for _, i := range e.of(kinds...) {
		for _, aftermath := range e.of(record.Aftermath) {
			if !aftermath.At.Before(i.Until) {
				v.figuref(fault, "lag after "+i.Kind, "%s", spread(e.lags([]record.Injection{aftermath})))
				break
			}
		}
	}
}

// convergedWithin is how soon the rows are right when the store is back (F5).
const convergedWithin = 30 * time.Second

// rightSince is since when the row of each id shows what it shows in the end. A newer
// revision that shows the same changes nothing for readers: the workflow's row after
// that of its last attempt.
func (e *Evidence) rightSince() map[string]time.Time {
	since, last := map[string]time.Time{}, map[string]string{}
	for _, r := range e.Watched {
		if now := r.GUID + " " + r.State + " " + r.Shows; last[r.ID] != now {
			since[r.ID], last[r.ID] = r.At, now
		}
	}
	return since
}

// converged is F5: what ended while the store was unwell is shown within 30 s of its
// return.
func (v *Verdict) converged(e *Evidence) {
	shown := e.rightSince()
	for _, i := range e.of(record.StoreDown, record.StoreSlow, record.StoreErrors) {
		var took []time.Duration
		for _, visit := range e.Visits {
			if visit.Ended.Before(i.At) || visit.Ended.After(i.Until) || visit.Status != 200 {
				continue
			}
			at, seen := shown[visit.ID]
			if !seen || at.After(i.Until.Add(convergedWithin)) {
				v.breachf(7, visit.ID, "F5: its row was not right within %s of the store's return", convergedWithin)
			}
			took = append(took, max(0, at.Sub(i.Until)))
		}
		v.figuref("F5", "rows right after "+i.Kind, "%s", spread(took))
	}
}
