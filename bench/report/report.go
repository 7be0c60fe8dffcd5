// Package report keeps what the benchmark measured and shows it: a table for the
// terminal, JSON for programs and a page with plots.
package report

import (
	"sync"
	"time"
)

// Figure is one line of the table.
type Figure struct {
	Name string `json:"name"`
	// What it is and on which site, for people.
	What   string `json:"what"`
	Site   string `json:"site,omitempty"`
	Spread Spread `json:"spread"`
	// Target, if the figure has one, and whether it is met.
	Target string `json:"target,omitempty"`
	Met    *bool  `json:"met,omitempty"`
	// Note says how this run differs from what the target is about.
	Note string `json:"note,omitempty"`
	// group is that of the JSON; empty for figures without a target.
	group Group
}

// Verdict says whether the target is met, and nothing where there is none.
func (f Figure) Verdict() string {
	switch {
	case f.Met == nil:
		return ""
	case *f.Met:
		return "met"
	default:
		return "MISSED"
	}
}

// Point of a curve.
type Point struct{ X, Y float64 }

// Report is filled in by the scenarios. Its methods may be called concurrently.
type Report struct {
	Mode    string    `json:"mode"`
	Began   time.Time `json:"began"`
	Took    string    `json:"took"`
	Commit  string    `json:"commit,omitempty"`
	Machine string    `json:"machine"`
	Load    string    `json:"load"`
	// Early is how many arrivals came before their due time. None may.
	Early int `json:"early_arrivals"`
	// Problems are what could not be measured, and why.
	Problems []string `json:"problems,omitempty"`

	mu      sync.Mutex
	figures []Figure
	lags    map[string]map[string][]time.Duration
	drains  map[string]map[string][]Point
	growth  map[string][]Point
}

// New makes an empty report.
func New(mode string, began time.Time) *Report {
	return &Report{
		Mode: mode, Began: began, lags: map[string]map[string][]time.Duration{},
		drains: map[string]map[string][]Point{}, growth: map[string][]Point{},
	}
}

// Target records a figure that has a target.
func (r *Report) Target(name, site string, s Spread, note string) {
	if s.Rounds == 0 {
		r.Problemf("%s was not measured on %s", name, site)
		return
	}
	for _, t := range Targets {
		if t.Name != name {
			continue
		}
		met := t.Met(s.Median)
		r.add(Figure{Name: name, What: t.What, Site: site, Spread: s, Target: t.Text, Met: &met, Note: note, group: t.Group})
		return
	}
	r.Problemf("no target is called %s", name)
}

// Also records a figure without a target.
func (r *Report) Also(name, site, what string, s Spread) {
	if s.Rounds > 0 {
		r.add(Figure{Name: name, What: what, Site: site, Spread: s})
	}
}

func (r *Report) add(f Figure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = append(r.figures, f)
}

// TooEarly counts arrivals before their time.
func (r *Report) TooEarly(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Early += n
}

// Lags adds to the distribution of a contender on a site.
func (r *Report) Lags(site, contender string, all []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lags[site] == nil {
		r.lags[site] = map[string][]time.Duration{}
	}
	r.lags[site][contender] = append(r.lags[site][contender], all...)
}

// Drain keeps the curve of a herd; that of the last round is shown.
func (r *Report) Drain(site, contender string, curve []Point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drains[site] == nil {
		r.drains[site] = map[string][]Point{}
	}
	r.drains[site][contender] = curve
}

// Growth adds a point to a curve over the number of waiting actions.
func (r *Report) Growth(curve string, waiting int, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.growth[curve] = append(r.growth[curve], Point{float64(waiting), value})
}
