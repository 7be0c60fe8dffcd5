package verdict

import (
	"fmt"

	"gnomon/faults/record"
)

// mirror holds promise 7: rows never go back to an older revision, and in the end the
// table is what Temporal says.
func (v *Verdict) mirror(e *Evidence) {
	back, newest := 0, map[string]string{}
	for _, r := range e.Watched {
		if r.Revision < newest[r.ID] {
			back++
			v.breachf(7, r.ID, "its row went back from revision %s to %s", newest[r.ID], r.Revision)
		}
		newest[r.ID] = max(newest[r.ID], r.Revision)
	}
	differences := 0
	for _, f := range e.Finals {
		if why := e.differs(f); why != "" {
			differences++
			v.breachf(7, f.ID, "%s", why)
		}
	}
	v.figuref(e.Run.Faults[0], "mirror", "%d differences in %d rows, %d regressions in %d changes seen",
		differences, len(e.Finals), back, len(e.Watched))
}

// differs says how the row of an action differs from Temporal's word.
func (e *Evidence) differs(f record.Final) string {
	row, ok := e.Rows[f.ID]
	if !ok {
		return "it has no row"
	}
	st := row.Action.GetStatus()
	stands := record.Final{
		ID: f.ID, Open: f.Open, Chains: f.Chains, GUID: f.GUID, State: st.GetState().String(),
		Successful: st.GetSuccessfulAttemptsCounter(), Failed: st.GetFailedAttemptsCounter(),
		Interrupted: st.GetInterruptedAttemptsCounter(), Consecutive: st.GetConsecutiveFailuresCounter(),
	}
	if f.Open {
		stands.GUID = row.Action.GetMeta().GetGuid()
	}
	if row.Tombstone == f.Open {
		return fmt.Sprintf("its row has tombstone=%t and its workflow open=%t", row.Tombstone, f.Open)
	}
	if stands != f {
		return fmt.Sprintf("its row shows %+v and Temporal says %+v", stands, f)
	}
	return ""
}
