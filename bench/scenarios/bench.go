// Package scenarios are what the benchmark measures: rounds in which contenders take
// turns, how gnomon grows, what waits and for how many bytes, and what a lost worker
// costs.
package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/bench/site"
)

// Clients is how many create at once.
const Clients = 16

// payloadBytes is the size of what each job sends.
const payloadBytes = 256

// Bench measures on one site. It is used by one goroutine.
type Bench struct {
	Site   *site.Site
	Report *report.Report
	// Scale is which part of its jobs each scenario has.
	Scale float64
	// Tell shows what is under way.
	Tell func(format string, args ...any)

	contenders map[string]contenders.Contender
	// rates is how many creates a second each contender managed, the least.
	rates map[string]float64
	// settling is how long after creating Temporal was busy with it, for each job.
	settling map[string]time.Duration
	batches  int
	body     []byte
}

// New measures on a site.
func New(s *site.Site, r *report.Report, tell func(string, ...any)) *Bench {
	return &Bench{
		Site: s, Report: r, Tell: tell, contenders: map[string]contenders.Contender{}, rates: map[string]float64{},
		settling: map[string]time.Duration{}, Scale: 1,
		body: []byte(strings.Repeat("0123456789abcdef", payloadBytes/16)),
	}
}

// Part is the scaled number of jobs, a few at the least.
func (b *Bench) Part(n int) int { return min(n, max(8, int(b.Scale*float64(n)))) }

// Take starts contenders, unless they have been, and warms them up.
func (b *Bench) Take(ctx context.Context, names ...string) error {
	for _, name := range names {
		if b.contenders[name] != nil {
			continue
		}
		c, err := b.Site.Contender(ctx, name)
		if err != nil {
			return err
		}
		b.contenders[name] = c
		b.rates[name] = 80
		if _, err := b.herd(ctx, c, 4*Clients, 20*time.Second); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// gnomon is gnomon, started and warmed up.
func (b *Bench) gnomon(ctx context.Context) (*contenders.GnomonService, error) {
	if err := b.Take(ctx, contenders.Gnomon); err != nil {
		return nil, err
	}
	g, ok := b.contenders[contenders.Gnomon].(*contenders.GnomonService)
	if !ok {
		return nil, fmt.Errorf("%T is not gnomon", b.contenders[contenders.Gnomon])
	}
	return g, nil
}

// early reports what arrived before its time: no lag, but an error.
func (b *Bench) early(what string, lags []time.Duration) {
	n := 0
	for _, lag := range lags {
		if lag < 0 {
			n++
		}
	}
	if n > 0 {
		b.Report.TooEarly(n)
		b.Report.Problemf("%s: %d arrivals before their time", what, n)
	}
}

// jobs are n jobs of a batch with a prefix of its own for ids and paths.
func (b *Bench) jobs(c contenders.Contender, n int, due func(int) time.Time) ([]contenders.Job, string) {
	b.batches++
	// The same length for each contender, as ids are kept in many places.
	prefix := fmt.Sprintf("job-%04d", b.batches)
	all := make([]contenders.Job, n)
	for i := range all {
		at := due(i)
		if r := c.Resolution(); r > 0 && !at.Truncate(r).Equal(at) {
			at = at.Truncate(r).Add(r)
		}
		all[i] = contenders.Job{
			ID: fmt.Sprintf("%s-%06d", prefix, i), Due: at, Body: b.body,
			URL: b.Site.Inbox.URL(fmt.Sprintf("/%s/%d", prefix, i)),
		}
	}
	return all, "/" + prefix + "/"
}
