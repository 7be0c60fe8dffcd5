package report

import (
	"encoding/json"
	"fmt"
	"math"
)

// Problemf notes what could not be measured.
func (r *Report) Problemf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Figures are those there are, in the order of the targets, then the others.
func (r *Report) Figures() []Figure {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Figure
	for _, t := range Targets {
		for _, f := range r.figures {
			if f.Name == t.Name {
				all = append(all, f)
			}
		}
	}
	for _, f := range r.figures {
		if f.Target == "" {
			all = append(all, f)
		}
	}
	return all
}

// JSON is {"ratios":{...},"counts":{...}} with the medians by the names of the targets,
// and beside them what they were found from. Of a figure that was measured on several
// sites the first counts.
func (r *Report) JSON() ([]byte, error) {
	groups := map[Group]map[string]float64{GroupRatios: {}, GroupCounts: {}}
	figures := r.Figures()
	for _, f := range figures {
		if f.group == "" {
			continue
		}
		if _, ok := groups[f.group][f.Name]; !ok {
			groups[f.group][f.Name] = rounded(f.Spread.Median)
		}
	}
	return json.MarshalIndent(struct {
		Ratios map[string]float64 `json:"ratios"`
		Counts map[string]float64 `json:"counts"`
		*Report
		Figures []Figure `json:"figures"`
	}{groups[GroupRatios], groups[GroupCounts], r, figures}, "", "  ")
}

func rounded(x float64) float64 { return math.Round(x*10_000) / 10_000 }
