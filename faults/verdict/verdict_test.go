package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

// faults.md, promises 1 to 7: for each the judge is given records in which it is
// broken, and nothing else is, and says so.
func TestJudgeSeesEveryKindOfBrokenPromise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		books   func() books
		promise int
	}{
		"1: acknowledged and unknown to Temporal": {func() books {
			b := performed("F2")
			b.Run.Linearizable = false
			b.Visits, b.Arrivals = nil, nil
			b.Finals = []record.Final{{ID: "another", State: "SUCCEEDED", Successful: 1}}
			b.Rows["another"] = b.Rows["a"]
			return b
		}, 1},
		"1: acknowledged, ended well, and nothing arrived": {func() books {
			b := performed("F2")
			b.Run.Linearizable = false
			b.Visits, b.Arrivals = nil, nil
			return b
		}, 1},
		"1: acknowledged, due, and still waiting": {func() books {
			b := newBooks("F2")
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
			b.ends("a", "g1", gnomonv1.Status_SCHEDULED, 0, 0)
			return b
		}, 1},
		"1: an acknowledged update whose spec does not stand": {func() books {
			b := newBooks("F2")
			b.Run.Linearizable = false
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
			b.call(record.Update, "a", "g2", "OK", 100, 150, due(300_000))
			b.ends("a", "g1", gnomonv1.Status_SCHEDULED, 0, 0)
			return b
		}, 1},
		"1: an acknowledged delete of what lives on": {func() books {
			b := newBooks("F2")
			b.Run.Linearizable = false
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
			b.call(record.Delete, "a", "g1", "OK", 100, 150, nil)
			b.ends("a", "g1", gnomonv1.Status_SCHEDULED, 0, 0)
			return b
		}, 1},
		"2: before the spec's time": {func() books {
			b := performed("F7")
			b.Run.Linearizable = false
			b.Visits[0].Began, b.Visits[0].Occurrence = at(900), at(900)
			b.Arrivals[0].Time, b.Arrivals[0].ScheduledAt = at(900), at(900)
			return b
		}, 2},
		"2: before the occurrence it names": {func() books {
			b := performed("F7")
			b.Arrivals[0].Time = at(999)
			return b
		}, 2},
		"2: a retry before its delay": {func() books {
			b := retried()
			b.Visits[1].Began = at(1600)
			b.Run.Linearizable = false
			return b
		}, 2},
		"3: an occurrence attempted again after its success": {func() books {
			b := performed("F1")
			b.visit("a", "g1", 1000, 3000, 3050, 2, 200)
			b.Finals[0].Interrupted = 1
			b.Rows["a"].Action.Status.InterruptedAttemptsCounter = 1
			return b
		}, 3},
		"3: one attempt twice": {func() books {
			b := retried()
			b.Visits[1].Attempt = 1
			b.Finals[0].Interrupted = 0
			b.Rows["a"].Action.Status.InterruptedAttemptsCounter = 0
			return b
		}, 3},
		"3: two keys": {func() books {
			b := retried()
			b.Visits[1].Key = "a/g1/other"
			return b
		}, 3},
		"3: two occurrences of a once-action": {func() books {
			b := performed("F1")
			b.Run.Linearizable = false
			b.visit("a", "g1", 2000, 2010, 2060, 1, 200)
			return b
		}, 3},
		"3: an interruption not counted": {func() books {
			b := retried()
			b.Finals[0].Interrupted = 0
			b.Rows["a"].Action.Status.InterruptedAttemptsCounter = 0
			return b
		}, 3},
		"3: beyond the budget": {func() books {
			b := performed("F1")
			b.Calls[0].Spec.Retries = 0
			b.Visits[0].Attempt = 2
			b.Finals[0].Interrupted = 1
			b.Rows["a"].Action.Status.InterruptedAttemptsCounter = 1
			return b
		}, 3},
		"4: attempts overlap and nothing was killed": {func() books {
			b := retried()
			b.Injections[0].At, b.Injections[0].Until = at(50_000), at(50_100)
			b.Visits[0].Ended = at(4010)
			return b
		}, 4},
		"4: attempts overlap for longer than a lost heartbeat explains": {func() books {
			b := retried()
			b.Visits[0].Ended, b.Visits[1].Ended = at(9000), at(9100)
			return b
		}, 4},
		"5: a create while it is alive": {func() books {
			b := newBooks("F10")
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
			b.call(record.Create, "a", "g2", "OK", 40, 90, due(200_000))
			b.ends("a", "g2", gnomonv1.Status_SCHEDULED, 0, 0)
			return b
		}, 5},
		"5: performed while it was paused": {func() books {
			b := newBooks("F10")
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
			b.call(record.Pause, "a", "g1", "OK", 100, 150, nil)
			b.visit("a", "g1", 1000, 1010, 1060, 1, 200)
			b.ends("a", "g1", gnomonv1.Status_SUCCEEDED, 1, 0)
			return b
		}, 5},
		"5: a phantom delete": {func() books {
			b := newBooks("F10")
			b.Run.Linearizable = true
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
			b.call(record.Pause, "a", "", "NotFound", 100, 150, nil)
			b.ends("a", "g1", gnomonv1.Status_SCHEDULED, 0, 0)
			return b
		}, 5},
		"6: an attempt of the old spec after an update": {func() books {
			b := newBooks("F10")
			b.Run.Linearizable = false
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
			b.call(record.Update, "a", "g2", "OK", 500, 550, due(2000))
			b.visit("a", "g1", 1000, 1600, 1650, 1, 200)
			b.visit("a", "g2", 2000, 2010, 2060, 1, 200)
			b.ends("a", "g2", gnomonv1.Status_SUCCEEDED, 1, 0)
			return b
		}, 6},
		"6: an attempt after a delete that was left for a worker": {func() books {
			b := newBooks("F1")
			b.Run.Linearizable = false
			b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
			b.call(record.Delete, "a", "g1", "OK", 500, 550, nil).Applied = false
			b.Injections = []record.Injection{{Kind: record.Outage, At: at(400), Until: at(2500)}}
			b.visit("a", "g1", 1000, 2600, 2650, 1, 200)
			b.ends("a", "g1", gnomonv1.Status_DELETED, 0, 0)
			return b
		}, 6},
		"7: a row that went back": {func() books {
			b := performed("F6")
			b.Watched = append(b.Watched, record.Row{At: at(9100), ID: "a", Revision: "1"})
			return b
		}, 7},
		"7: a row that differs": {func() books {
			b := performed("F6")
			b.Rows["a"].Action.Status.FailedAttemptsCounter = 7
			return b
		}, 7},
		"7: a row that is missing": {func() books {
			b := newBooks("F6")
			b.Run.Linearizable = false
			b.call(record.Create, "a", "g1", "", 0, 50, due(1000))
			b.ends("a", "g1", gnomonv1.Status_SUCCEEDED, 0, 0)
			delete(b.Rows, "a")
			return b
		}, 7},
		"no record of Temporal": {func() books {
			b := newBooks("F2")
			return b
		}, 0},
		"an answer that is our fault": {func() books {
			b := performed("F2")
			b.call(record.Pause, "b", "", "Internal", 0, 10, nil)
			b.Run.Linearizable = false
			return b
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Judge(c.books().Evidence)
			require.Contains(t, promises(v), c.promise)
			for _, p := range promises(v) {
				require.Equal(t, c.promise, p, "%v", v.Broken)
			}
		})
	}
}

// F5: a row is right since it shows what it shows in the end, whatever its revision.
func TestRightSince(t *testing.T) {
	t.Parallel()
	e := &Evidence{Watched: []record.Row{
		{At: at(1000), ID: "a", GUID: "g", Revision: "1", State: "SCHEDULED", Shows: "tombstone=false 0/0/0"},
		{At: at(2000), ID: "a", GUID: "g", Revision: "2", State: "SUCCEEDED", Shows: "tombstone=true 1/0/0"},
		{At: at(2500), ID: "b", GUID: "h", Revision: "1", State: "SCHEDULED", Shows: "tombstone=false 0/0/0"},
		{At: at(3000), ID: "a", GUID: "g", Revision: "3", State: "SUCCEEDED", Shows: "tombstone=true 1/0/0"},
		{At: at(4000), ID: "b", GUID: "h", Revision: "2", State: "SCHEDULED", Shows: "tombstone=false 0/1/0"},
	}}
	require.Equal(t, map[string]time.Time{"a": at(2000), "b": at(4000)}, e.rightSince())
}

// faults.md, the lines of F1, F2, F3, F5, F9, F11, F14, F22 and F23.
func TestJudgeSeesWhatSingleFaultsBreak(t *testing.T) {
	t.Parallel()
	stretch := func(kind string, from, to int) record.Injection {
		return record.Injection{Kind: kind, At: at(from), Until: at(to), Count: 1}
	}
	for name, c := range map[string]struct {
		fault string
		books func() books
	}{
		"attempted again too late": {"F1", func() books {
			b := retried()
			b.Visits[1].Began, b.Visits[1].Ended = at(7000), at(7050)
			return b
		}},
		"attempted again too late for two kills": {"F1", func() books {
			b := retried()
			b.Injections = append(b.Injections, record.Injection{Fault: "F1", Kind: record.KillWorker, At: at(3000), Until: at(3100), Count: 1})
			b.Visits[1].Began, b.Visits[1].Ended = at(17_000), at(17_050)
			return b
		}},
		"nothing is dispatched after a restart": {"F2", func() books {
			b := performed("F2")
			b.Injections = []record.Injection{{Kind: record.KillTemporal, At: at(2000), Until: at(3000), Count: 1}}
			return b
		}},
		"two executions of one creation": {"F3", func() books {
			b := performed("F3")
			b.Finals[0].Chains = 2
			return b
		}},
		"late while the store is down": {"F5", func() books {
			b := performed("F5")
			b.call(record.Create, "b", "h1", "OK", 20_000, 20_050, due(21_000))
			b.visit("b", "h1", 21_000, 22_000, 22_050, 1, 200)
			b.ends("b", "h1", gnomonv1.Status_SUCCEEDED, 1, 0)
			b.Injections = []record.Injection{
				stretch(record.Healthy, 0, 10_000), stretch(record.StoreDown, 20_000, 30_000),
				stretch(record.StoreSlow, 0, 10_000), stretch(record.StoreErrors, 0, 10_000),
			}
			return b
		}},
		"rows not right in time": {"F5", func() books {
			b := performed("F5")
			b.Watched[0].At = at(40_000)
			b.Injections = []record.Injection{
				stretch(record.Healthy, 900, 2000), stretch(record.StoreDown, 900, 2000),
				stretch(record.StoreSlow, 900, 2000), stretch(record.StoreErrors, 900, 2000),
			}
			return b
		}},
		"late beside planted performers": {"F11", func() books {
			b := performed("F11")
			b.call(record.Create, "b", "h1", "OK", 20_000, 20_050, due(21_000))
			b.visit("b", "h1", 21_000, 22_000, 22_050, 1, 200)
			b.ends("b", "h1", gnomonv1.Status_SUCCEEDED, 1, 0)
			b.Injections = []record.Injection{stretch(record.Healthy, 0, 10_000), stretch(record.Planted, 20_000, 30_000)}
			return b
		}},
		"a worker that died": {"F11", func() books {
			b := performed("F11")
			b.Injections = []record.Injection{
				stretch(record.Healthy, 0, 10_000), stretch(record.Planted, 0, 10_000), {Fault: "F11", Kind: record.Died, Note: "dead"},
			}
			return b
		}},
		"no winner": {"F9", func() books {
			b := newBooks("F9")
			b.call(record.Create, "a", "", "AlreadyExists", 0, 50, due(200_000))
			b.Run.Linearizable = false
			b.ends("z", "g", gnomonv1.Status_SUCCEEDED, 0, 0)
			b.Injections = []record.Injection{{Fault: "F9", Kind: record.Barrier, ID: "a", Count: 1, Want: 1}}
			return b
		}},
		"an attempt after the deadline": {"F14", func() books {
			b := performed("F14")
			b.Calls[0].Spec.Deadline = at(0).Add(-time.Second)
			return b
		}},
		"a malformed signal that does not show": {"F22", func() books {
			b := performed("F22")
			b.Injections = []record.Injection{{Fault: "F22", Kind: record.BadSignals, Count: 10, Want: 10, Got: 9}}
			return b
		}},
		"a signal that was lost": {"F23", func() books {
			b := performed("F23")
			b.Injections = []record.Injection{{Fault: "F23", Kind: record.ManySignals, Count: 10, Want: 10, Got: 9}}
			return b
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Judge(c.books().Evidence)
			require.NotEmpty(t, v.Broken)
			for _, b := range v.Broken {
				require.Contains(t, b.What, c.fault+":", "%v", v.Broken)
			}
		})
	}
}

// F1: a second kill may take the workflow's task with it, which comes back after its
// timeout of five seconds.
func TestSecondKillMayTakeTheTaskWithIt(t *testing.T) {
	t.Parallel()
	b := retried()
	b.Injections = append(b.Injections, record.Injection{Fault: "F1", Kind: record.KillWorker, At: at(3000), Until: at(3100), Count: 1})
	b.Visits[1].Began, b.Visits[1].Ended = at(10_500), at(10_550)
	require.Empty(t, Judge(b.Evidence).Broken)
}

// F5, F11: a ratio that only the tolerance makes hold is told to; one that holds is not,
// and what is beyond the tolerance is broken.
func TestLagByTheTolerance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late              int
		broken, tolerated int
	}{
		"within the ratio": {51, 0, 0},
		"by the tolerance": {70, 0, 1},
		"beyond it":        {80, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBooks("F11")
			lags := func(from, n, late int) {
				for i := range n {
					id := fmt.Sprint("a", from+i)
					b.call(record.Create, id, id, "OK", from+i, from+i, due(from+i))
					b.visit(id, id, from+i, from+i+late, from+i+late+1, 1, 200)
					b.ends(id, id, gnomonv1.Status_SUCCEEDED, 1, 0)
				}
			}
			for from := 10_000; from <= 50_000; from += 20_000 {
				lags(from, 10, 50)
				b.Injections = append(b.Injections, record.Injection{Fault: "F11", Kind: record.Healthy, At: at(from - 1), Until: at(from + 1000)})
				lags(from+10_000, 10, c.late)
				b.Injections = append(b.Injections, record.Injection{Fault: "F11", Kind: record.Planted, At: at(from + 9999), Until: at(from + 11_000), Count: 1})
			}
			// What befalls one healthy stretch and one of the others says nothing.
			lags(10_500, 10, 900)
			lags(40_500, 10, 900)
			v := Judge(b.Evidence)
			require.Len(t, v.Broken, c.broken, "%v", v.Broken)
			require.Len(t, v.Tolerated, c.tolerated)
		})
	}
}
