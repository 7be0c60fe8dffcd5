package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// table tells people: a line for each fault with its figures below, then the sums, then
// what was broken and what could not be played. Full says that all the goals are to be
// reached.
func table(out io.Writer, all []played, full bool) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tINJECTIONS\tBROKEN\tMEASURED")
	for _, l := range byFault(all) {
		if l.verdict == nil {
			fmt.Fprintf(w, "%s\t\t\tnot played\n", l.fault)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d%s\t\n", l.fault, injected(all, l.fault), l.verdict.BrokenCount, tolerated(l))
		for _, f := range l.verdict.Figures {
			if f.Fault == l.fault {
				fmt.Fprintf(w, "\t\t\t%s: %s\n", f.Name, f.Value)
			}
		}
	}
	_ = w.Flush() // to a terminal or a pipe; there is nobody else to tell
	if full {
		sums(out, all)
	}
	broken, tolerated := 0, 0
	for _, p := range all {
		if p.verdict == nil {
			fmt.Fprintf(out, "NOT PLAYED: %v\n", p.err)
			continue
		}
		broken += p.verdict.BrokenCount
		tolerated += len(p.verdict.Tolerated)
		for _, what := range p.verdict.Tolerated {
			fmt.Fprintf(out, "BY THE TOLERANCE ONLY in %s: %s\n", p.scenario.Name, what)
		}
		for _, b := range p.verdict.Broken {
			fmt.Fprintf(out, "BROKEN in %s, promise %d: %s %s\n", p.scenario.Name, b.Promise, b.ID, b.What)
		}
	}
	fmt.Fprintf(out, "promises broken: %d; limits that held by the tolerance only: %d\n", broken, tolerated)
}

// tolerated is what the line of a fault says beside its zero, where that is not all.
func tolerated(l line) string {
	n := 0
	for _, what := range l.verdict.Tolerated {
		if strings.HasPrefix(what, l.fault+":") {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d by the tolerance only", n)
}

// sums tells whether the goals were reached.
func sums(out io.Writer, all []played) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nINJECTED\tWANTED\tREACHED")
	for _, g := range goals {
		reached := fmt.Sprint(injected(all, g.fault))
		if injected(all, g.fault) < g.want {
			reached += " TOO FEW"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\n", g.what, g.want, reached)
	}
	_ = w.Flush()
}

// line is that of one fault.
type line struct {
	fault string
	played
}

// byFault are the lines of the table in the order of faults.md.
func byFault(all []played) []line {
	var lines []line
	for _, p := range all {
		for _, fault := range p.scenario.Faults {
			lines = append(lines, line{fault, p})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(len(a.fault), len(b.fault)), cmp.Compare(a.fault, b.fault))
	})
	return lines
}
