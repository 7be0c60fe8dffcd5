package reconcile

import (
	"fmt"
	"strings"
	"time"
)

// maxItems is how many actions a report names.
const maxItems = 100

// Report is what a round came to.
type Report struct {
	DryRun bool `json:"dryRun,omitempty"`
	// Began is when the round began.
	Began time.Time `json:"began"`
	// Took is how long it took, in seconds.
	Took float64 `json:"tookSeconds"`
	// Workflows and Rows are how many open workflows and living rows were looked at.
	Workflows int64 `json:"workflows"`
	Rows      int64 `json:"rows"`
	// Found counts by kind what was wrong, or left alone and why.
	Found map[Kind]int64 `json:"found,omitempty"`
	// Repaired counts by kind what was repaired.
	Repaired map[Kind]int64 `json:"repaired,omitempty"`
	// Items names the first 100 actions that were wrong or could not be judged.
	Items []Item `json:"items,omitempty"`
}

// Item is one action in a report.
type Item struct {
	ID       string `json:"id"`
	Kind     Kind   `json:"kind"`
	Why      string `json:"why"`
	Repaired bool   `json:"repaired,omitempty"`
}

// Wrong is how many rows were not as they should be.
func (r Report) Wrong() int64 {
	var n int64
	for _, kind := range Wrong() {
		n += r.Found[kind]
	}
	return n
}

// Left is how many of them are still so.
func (r Report) Left() int64 {
	n := r.Wrong()
	for _, repaired := range r.Repaired {
		n -= repaired
	}
	return n
}

// Unjudged is how many actions nothing could be said of: their workflow did not
// answer, or is not of this installation.
func (r Report) Unjudged() int64 { return r.Found[Unanswered] + r.Found[Foreign] }

// Sentence sums the report up for people.
func (r Report) Sentence() string {
	var parts []string
	for _, kind := range Wrong() {
		if n := r.Found[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	found := "nothing wrong"
	if len(parts) > 0 {
		found = strings.Join(parts, ", ")
		switch left := r.Left(); {
		case r.DryRun:
			found += ", nothing repaired as this is a dry run"
		case left == 0:
			found += ", all repaired"
		default:
			found += fmt.Sprintf(", %d not repaired", left)
		}
	}
	for _, kind := range []Kind{Young, Moving, Unanswered, Foreign} {
		if n := r.Found[kind]; n > 0 {
			found += fmt.Sprintf("; %d left alone as %s", n, kind)
		}
	}
	return fmt.Sprintf("%d open workflows and %d living rows compared: %s", r.Workflows, r.Rows, found)
}

// Table is the report as a short markdown table.
func (r Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| Last round | |\n|---|---|\n| Began | %s, took %.0f s |\n| Compared | %d open workflows, %d living rows |\n",
		r.Began.UTC().Format(time.RFC3339), r.Took, r.Workflows, r.Rows)
	for _, kind := range Wrong() {
		fmt.Fprintf(&b, "| %s | %d, repaired %d |\n", kind, r.Found[kind], r.Repaired[kind])
	}
	for _, kind := range []Kind{Young, Moving, Unanswered, Foreign} {
		fmt.Fprintf(&b, "| left alone: %s | %d |\n", kind, r.Found[kind])
	}
	const shown = 10
	for i, item := range r.Items {
		if i == shown {
			fmt.Fprintf(&b, "\nand %d more\n", len(r.Items)-shown)
			break
		}
		fmt.Fprintf(&b, "\n- `%s` %s: %s", item.ID, item.Kind, item.Why)
	}
	return b.String()
}

// count notes a finding; items are kept of what a person may want to look into.
func count(r *Report, id string, f Finding, repaired bool) {
	if r.Found == nil {
		r.Found, r.Repaired = map[Kind]int64{}, map[Kind]int64{}
	}
	r.Found[f.Kind]++
	if repaired {
		r.Repaired[f.Kind]++
	}
	notable := f.Wrong() || f.Kind == Unanswered || f.Kind == Foreign
	if notable && len(r.Items) < maxItems {
		r.Items = append(r.Items, Item{ID: id, Kind: f.Kind, Why: f.Why, Repaired: repaired})
	}
}
