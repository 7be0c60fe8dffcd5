package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// The short form's limits are low, so that a machine that does other things can use them.
var (
	rate = size("GNOMON_TEST_RATE", 3) // calls a second
	few  = max(rate/5, 2)              // calls at a time
)

// Issue 7, G-32 and G-33: with three workers, processes, no second of any has more calls of
// a stage granted than its rate limit, and no call begins without a grant or before it; the
// stage's server never has more at a time than its parallelism. Under load both are used.
func TestLimits(t *testing.T) {
	t.Parallel()
	seconds := size("GNOMON_TEST_LIMITS", 15)
	s := openBeating(t, patient, 3,
		declared{"rated", "paced", "one", fmt.Sprintf("    rateLimit: %d\n", rate)},
		declared{"wide", "narrow", "one", fmt.Sprintf("    parallelism: %d\n", few)})
	book := watchGrants(t, s)
	c := &clients{site: s}
	// More than can be done within that time, of both.
	load := map[string]int{"paced": (seconds + 5) * rate, "narrow": (seconds + 5) * few * int(time.Second/wideTakes)}
	writing, ctx := errgroup.WithContext(t.Context())
	writing.SetLimit(8)
	for i := range max(load["paced"], load["narrow"]) {
		for entityType, n := range load {
			if i < n {
				writing.Go(func() error { return c.put(ctx, entityType, fmt.Sprintf("%s%d", entityType, i), 1) })
			}
		}
	}
	require.NoError(t, writing.Wait())
	put := time.Now()
	t.Logf("all are put")
	var lines []line
	require.Eventually(t, func() bool {
		var err error
		lines, err = readRecords(c.dir)
		require.NoError(t, err)
		for stage, n := range map[string]int{"rated": load["paced"], "wide": load["narrow"]} {
			if len(spans(lines, stage)) < n {
				return false
			}
		}
		return true
	}, 5*time.Minute, 500*time.Millisecond, "not all were visited")

	paced, narrow := loaded(spans(lines, "rated"), put), loaded(spans(lines, "wide"), put)
	grants := book.read(t, "rated")
	closest := closest(grants)
	late := lateness(t, grants, lines, "rated")
	used := float64(len(paced)-1) / length(paced).Seconds() / float64(rate)
	t.Logf("rate limit %d/s, three workers: %d calls granted, any %d of them in %s or more; they arrived %s after their time (median; 90 %% %s, all %s); under load %d in %s, %.1f%% of the limit",
		rate, len(grants), rate+1, closest, at(late, 0.5), at(late, 0.9), at(late, 1), len(paced), length(paced), used*100)
	most := atATime(spans(lines, "wide"))
	busy := share(narrow)
	t.Logf("parallelism %d, three workers: %d calls, at most %d at a time; under load %d in %s, %.1f%% of the limit", few, load["narrow"], most, len(narrow), length(narrow), busy*100)
	require.GreaterOrEqual(t, closest, time.Second)
	require.LessOrEqual(t, most, few)
	// On a machine that does other things, how much is used says little of gnomon: the short
	// form is content with less.
	least := 0.2
	if seconds >= 60 {
		least = 0.9
	}
	require.GreaterOrEqual(t, used, least)
	require.GreaterOrEqual(t, busy, least)
}

// span is a call of Process.
type span struct{ from, to int64 }

// spans are a stage's calls that have ended, by their beginning.
func spans(lines []line, stage string) []span {
	open := map[string]int64{}
	var all []span
	for _, l := range lines {
		switch {
		case l.Stage != stage:
		case l.What == began:
			open[l.Call] = l.At
		case l.What == ended:
			all = append(all, span{open[l.Call], l.At})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// loaded are the calls that began while there was more to do than was allowed: neither the
// first ones nor those before all was put, while the machine has that to do, nor the last
// ones.
func loaded(all []span, put time.Time) []span {
	under := all[len(all)/10 : len(all)*9/10]
	from, _ := slices.BinarySearchFunc(under, put.UnixNano(), func(s span, at int64) int { return cmp.Compare(s.from, at) })
	return under[min(from, len(under)/2):]
}

// closest is the shortest time in which one more call than the rate allows in a second was
// granted.
func closest(grants []grant) time.Duration {
	shortest := time.Hour
	for i := rate; i < len(grants); i++ {
		shortest = min(shortest, grants[i].at.Sub(grants[i-rate].at))
	}
	return shortest
}

// lateness is how long after their time calls began on the stage's server, sorted. Each has
// a grant of its own.
func lateness(t *testing.T, grants []grant, lines []line, stage string) []time.Duration {
	t.Helper()
	of := map[string][]time.Time{}
	for _, g := range grants {
		visit, _, _ := strings.Cut(g.name, "#")
		of[visit] = append(of[visit], g.at)
	}
	calls := map[string]int{}
	var late []time.Duration
	for _, l := range lines {
		if l.Stage != stage || l.What != began {
			continue
		}
		calls[l.Visit]++
		begun := time.Unix(0, l.At)
		over := slices.DeleteFunc(slices.Clone(of[l.Visit]), begun.Before)
		require.GreaterOrEqual(t, len(over), calls[l.Visit], "call %s began without a grant, or before it: %v, %v", l.Visit, begun, of[l.Visit])
		late = append(late, begun.Sub(over[len(over)-1]))
	}
	slices.Sort(late)
	return late
}

// atATime is how many calls there were at a time at most.
func atATime(all []span) (most int) {
	var ends []int64
	for _, one := range all {
		ends = slices.DeleteFunc(ends, func(end int64) bool { return end <= one.from })
		ends = append(ends, one.to)
		most = max(most, len(ends))
	}
	return most
}

// share is how much of the parallelism calls use between the first one's beginning and the
// last one's.
func share(all []span) float64 {
	from, to := all[0].from, all[len(all)-1].from
	var worked int64
	for _, one := range all {
		worked += min(one.to, to) - one.from
	}
	return float64(worked) / float64(to-from) / float64(few)
}

// length is the time between the beginnings of the first and the last call.
func length(all []span) time.Duration {
	return time.Duration(all[len(all)-1].from - all[0].from).Round(time.Millisecond)
}
