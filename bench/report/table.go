package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Table tells people: a line for each figure, those with targets first.
func (r *Report) Table(out io.Writer) {
	fmt.Fprintf(out, "%s, %s, %s, load %s, took %s\n\n", r.Mode, r.Began.UTC().Format("2006-01-02 15:04 UTC"), r.Machine, r.Load, r.Took)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tMEDIAN\tSPREAD\tROUNDS\tTARGET\t\tON")
	for _, f := range r.Figures() {
		spread := ""
		if f.Spread.Rounds > 1 {
			spread = number(f.Spread.Low) + " to " + number(f.Spread.High)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", f.Name, number(f.Spread.Median), spread, f.Spread.Rounds, f.Target, f.Verdict(), joined(f.Site, f.Note))
	}
	_ = w.Flush() // to a terminal or a pipe; there is nobody else to tell
	if r.Early > 0 {
		fmt.Fprintf(out, "\nTOO EARLY: %d arrivals\n", r.Early)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(out, "PROBLEM:", p)
	}
}

func joined(site, note string) string {
	if note == "" {
		return site
	}
	return site + "; " + note
}

// number shows three digits that matter.
func number(x float64) string {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) || size >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size >= 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case size >= 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	default:
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
}
