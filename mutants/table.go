package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// writeJSON writes the results as one document.
func writeJSON(out io.Writer, results []result) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(results)
}

// writeTable writes the results for a person, those that need one at the end.
func writeTable(out io.Writer, results []result, took time.Duration) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MUTANT\tREQUIREMENT\tKILLED BY\tSECONDS")
	counts := map[verdict]int{}
	for _, r := range results {
		counts[r.Verdict]++
		by := string(r.Verdict)
		if r.Verdict == killed {
			by = r.Package + " " + r.Test
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\n", r.Mutant, r.Requirement, by, r.Seconds)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		switch r.Verdict {
		case survived:
			fmt.Fprintf(out, "\nnot killed: %s (%s)\n  %s\n", r.Mutant, r.Requirement, r.Why)
		case stale:
			fmt.Fprintf(out, "\nstale: %s\n  %s\n", r.Mutant, r.Problem)
		case killed:
		}
	}
	_, err := fmt.Fprintf(out, "\n%d mutants: %d killed, %d not killed, %d stale; %s\n",
		len(results), counts[killed], counts[survived], counts[stale], took.Round(time.Second))
	return err
}
