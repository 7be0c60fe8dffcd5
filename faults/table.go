package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"gnomon/faults/verdict"
)

// table tells people: a line for each fault with its figures below, then what was
// broken.
func table(out io.Writer, all []*verdict.Verdict) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tINJECTIONS\tBROKEN\tMEASURED")
	lost := 0
	for _, v := range all {
		lost += v.Injections["F4"]
	}
	for _, v := range all {
		for _, fault := range v.Faults {
			injections := v.Injections[fault]
			if fault == "F4" {
				injections = lost
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t\n", fault, injections, v.BrokenCount)
			for _, f := range v.Figures {
				if f.Fault == fault {
					fmt.Fprintf(w, "\t\t\t%s: %s\n", f.Name, f.Value)
				}
			}
		}
	}
	_ = w.Flush() // to a terminal or a pipe; there is nobody else to tell
	for _, v := range all {
		for _, b := range v.Broken {
			fmt.Fprintf(out, "BROKEN in %s, promise %d: %s %s\n", v.Scenario, b.Promise, b.ID, b.What)
		}
	}
}
