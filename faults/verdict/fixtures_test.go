package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
	"gnomon/receiver"
	"gnomon/store"
)

// start is when the runs of these tests began.
var start = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// at is a time so many milliseconds later.
func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// books builds the records of a run.
type books struct{ *Evidence }

// newBooks are those of a run of some faults, with nothing on record.
func newBooks(faults ...string) books {
	return books{&Evidence{
		Run: record.Run{
			Scenario: "test", Faults: faults, Heartbeat: 2 * time.Second, Flight: time.Second,
			Tolerance: 500 * time.Millisecond, Linearizable: true, End: at(100_000),
		},
		Rows: map[string]store.Row{},
	}}
}

// call records one that took from..to and was answered with a code.
func (b books) call(op, id, guid, code string, from, to int, s *record.Spec) *record.Call {
	b.Calls = append(b.Calls, record.Call{
		Op: op, ID: id, GUID: guid, Code: code, Call: at(from), Return: at(to), Tries: 1, Applied: code == "OK", Spec: s,
	})
	return &b.Calls[len(b.Calls)-1]
}

// visit records an attempt at an occurrence.
func (b books) visit(id, guid string, due, from, to, attempt, status int) *record.Visit {
	b.Visits = append(b.Visits, record.Visit{
		ID: id, GUID: guid, Occurrence: at(due), Attempt: uint32(attempt), Status: status,
		Key: fmt.Sprintf("%s/%s/%d", id, guid, due), Began: at(from), Ended: at(to),
	})
	b.Arrivals = append(b.Arrivals, receiver.Arrival{
		Number: uint64(len(b.Arrivals) + 1), ActionID: id, GUID: guid, ScheduledAt: at(due), Time: at(from), Status: status,
	})
	return &b.Visits[len(b.Visits)-1]
}

// ends records how an action stands in the end, for Temporal and in the store.
func (b books) ends(id, guid string, state gnomonv1.Status_State, ok, interrupted uint64) {
	open := state == gnomonv1.Status_SCHEDULED || state == gnomonv1.Status_PAUSED
	f := record.Final{ID: id, Open: open, Chains: 1, State: state.String(), Successful: ok, Interrupted: interrupted}
	if open {
		f.GUID = guid
	}
	b.Finals = append(b.Finals, f)
	b.Rows[id] = store.Row{
		Tombstone: !open,
		Action: &gnomonv1.ScheduledAction{
			Meta: &gnomonv1.Meta{Id: id, Guid: guid},
			Status: &gnomonv1.Status{
				State: state, SuccessfulAttemptsCounter: ok, InterruptedAttemptsCounter: interrupted,
			},
		},
	}
	b.Watched = append(b.Watched, record.Row{At: at(9000), ID: id, GUID: guid, Revision: "2", State: state.String()})
}

// due is a spec of a once-action.
func due(ms int) *record.Spec {
	return &record.Spec{Path: "/ok", Due: at(ms), Retries: 5, Delay: time.Second}
}

// performed is a sound run: created, performed at its time, ended.
func performed(faults ...string) books {
	b := newBooks(faults...)
	b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
	b.visit("a", "g1", 1000, 1010, 1060, 1, 200)
	b.ends("a", "g1", gnomonv1.Status_SUCCEEDED, 1, 0)
	return b
}

// retried is a sound run in which a worker was killed in the middle of an attempt.
func retried() books {
	b := newBooks("F1")
	b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
	b.visit("a", "g1", 1000, 1010, 1500, 1, 0)
	b.Injections = append(b.Injections, record.Injection{Fault: "F1", Kind: record.KillWorker, At: at(1499), Until: at(1600), Count: 1})
	b.visit("a", "g1", 1000, 4000, 4050, 2, 200)
	b.ends("a", "g1", gnomonv1.Status_SUCCEEDED, 1, 1)
	return b
}

// deleted is a sound run: created, updated, deleted before it was due.
func deleted() books {
	b := newBooks("F10")
	b.call(record.Create, "a", "g1", "OK", 0, 50, due(60_000))
	b.call(record.Update, "a", "g2", "OK", 100, 150, due(70_000))
	b.call(record.Delete, "a", "g2", "OK", 200, 250, nil)
	b.ends("a", "g2", gnomonv1.Status_DELETED, 0, 0)
	return b
}

// promises are the numbers of those that a verdict says were broken.
func promises(v *Verdict) []int {
	var all []int
	for _, b := range v.Broken {
		all = append(all, b.Promise)
	}
	return all
}

// Sound records are judged so: what breaks below is what the tests break.
func TestSoundRecordsBreakNothing(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]books{"performed": performed("F10"), "retried": retried(), "deleted": deleted()} {
		v := Judge(b.Evidence)
		require.Empty(t, v.Broken, name)
		require.NotEmpty(t, v.Figures, name)
	}
}
