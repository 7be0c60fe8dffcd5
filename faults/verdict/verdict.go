package verdict

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gnomon/faults/record"
)

// Verdict is what the judge found.
type Verdict struct {
	Scenario string   `json:"scenario"`
	Faults   []string `json:"faults"`
	// Injections are counted by fault.
	Injections map[string]int `json:"injections"`
	// Broken are the promises that were broken, each with what shows it; at most
	// some of each are told.
	Broken []Breach `json:"broken"`
	// BrokenCount is how many there are in all.
	BrokenCount int `json:"broken_count"`
	// Tolerated are the limits that held only by what is granted for the machine.
	Tolerated []string `json:"tolerated,omitempty"`
	// Figures are what was measured, in order.
	Figures []Figure `json:"figures"`
}

// Breach is one promise that was broken.
type Breach struct {
	// Promise is its number in faults.md, 0 for what a fault's own line asks for.
	Promise int    `json:"promise"`
	ID      string `json:"id,omitempty"`
	What    string `json:"what"`
}

// Figure is one thing measured.
type Figure struct {
	Fault string `json:"fault"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// told is how many breaches of one promise are told in full.
const told = 20

// breachf notes a broken promise.
func (v *Verdict) breachf(promise int, id, format string, args ...any) {
	v.BrokenCount++
	same := 0
	for _, b := range v.Broken {
		if b.Promise == promise {
			same++
		}
	}
	if same < told {
		v.Broken = append(v.Broken, Breach{promise, id, fmt.Sprintf(format, args...)})
	}
}

// toleratedf notes a limit that held only by what is granted for the machine.
func (v *Verdict) toleratedf(format string, args ...any) {
	v.Tolerated = append(v.Tolerated, fmt.Sprintf(format, args...))
}

// figuref notes what was measured.
func (v *Verdict) figuref(fault, name, format string, args ...any) {
	v.Figures = append(v.Figures, Figure{fault, name, fmt.Sprintf(format, args...)})
}

// Judge decides.
func Judge(e *Evidence) *Verdict {
	v := &Verdict{Scenario: e.Run.Scenario, Faults: e.Run.Faults, Injections: map[string]int{}}
	for _, i := range e.Injections {
		v.Injections[i.Fault] += i.Count
	}
	for _, c := range e.Calls {
		v.Injections["F4"] += c.Lost
	}
	v.witnesses(e)
	v.acknowledged(e)
	v.early(e)
	v.once(e)
	v.overlaps(e)
	if e.Run.Linearizable {
		v.linearizable(e)
	}
	v.superseded(e)
	v.mirror(e)
	v.answers(e)
	v.figures(e)
	return v
}

// witnesses compares the receiver's own record with that of the door before it: the
// judge relies on both.
func (v *Verdict) witnesses(e *Evidence) {
	if len(e.Visits) > len(e.Arrivals)+e.lostAtTheDoor() {
		v.breachf(0, "", "the door saw %d requests, the receiver recorded %d", len(e.Visits), len(e.Arrivals))
	}
	if len(e.Finals) == 0 {
		v.breachf(0, "", "there is no record of what Temporal says: nothing can be judged")
	}
}

// lostAtTheDoor is how many clients left before their request was passed on.
func (e *Evidence) lostAtTheDoor() int {
	n := 0
	for _, visit := range e.Visits {
		if visit.Status == 0 {
			n++
		}
	}
	return n
}

// answers holds that callers never saw an error that is nobody's fault but ours.
func (v *Verdict) answers(e *Evidence) {
	codes := map[string]int{}
	unheard := 0
	for _, c := range e.Calls {
		switch c.Code {
		case "":
			unheard++
		case "OK", "AlreadyExists", "NotFound", "Aborted", "FailedPrecondition", "InvalidArgument":
		default:
			codes[c.Code]++
			v.breachf(0, c.ID, "%s was answered %s", c.Op, c.Code)
		}
	}
	v.figuref(e.Run.Faults[0], "calls", "%d, of which %d never heard an answer", len(e.Calls), unheard)
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		v.figuref(e.Run.Faults[0], "answers "+code, "%d", codes[code])
	}
}

// quantile is the value that a part of all is at most; 0 if there is none.
func quantile(all []time.Duration, part float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// spread is the median, the 99th percentile and the greatest of some times.
func spread(all []time.Duration) string {
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("p50 %s, p99 %s, max %s (n=%d)",
		ms(quantile(all, .5)), ms(quantile(all, .99)), ms(quantile(all, 1)), len(all))
}

// kills are the injections after which an attempt may have lost its heartbeat.
var kills = []string{record.KillWorker, record.KillTemporal}
