package serve

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/reconcile"
)

// Where there is no terminal, a line every ten seconds says how far the round is.
func TestProgressInLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, 100, func() time.Time { return now })
	c := reconcile.Cursor{Phase: reconcile.PhaseRows, Report: reconcile.Report{Workflows: 100, Rows: 50, Found: map[reconcile.Kind]int64{reconcile.Stale: 3}}}
	for range 25 {
		now = now.Add(time.Second)
		p.at(c)
	}
	p.end()
	line := "rows: 100 open workflows and 50 rows compared, 3 wrong\n"
	require.Equal(t, line+line, out.String())
}

// Every case has an exit code that a script can rely on.
func TestVerdict(t *testing.T) {
	t.Parallel()
	found := func(kind reconcile.Kind, repaired bool, dry bool) reconcile.Report {
		r := reconcile.Report{DryRun: dry, Found: map[reconcile.Kind]int64{kind: 1}}
		if repaired {
			r.Repaired = r.Found
		}
		return r
	}
	require.NoError(t, verdict(reconcile.Report{}))
	require.NoError(t, verdict(found(reconcile.Stale, true, false)))
	require.NoError(t, verdict(found(reconcile.Young, false, false)))
	require.NoError(t, verdict(found(reconcile.Moving, false, false)))
	require.ErrorContains(t, verdict(found(reconcile.Stale, false, false)), "could not be repaired")
	require.ErrorContains(t, verdict(found(reconcile.Stale, false, true)), "run without --dry-run")
	require.ErrorContains(t, verdict(found(reconcile.Unanswered, false, false)), "does a worker run")
	require.ErrorContains(t, verdict(found(reconcile.Foreign, false, true)), "task queue")
}

// On a terminal there is a bar, which bears more rows than were counted.
func TestProgressAsBar(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, 2, time.Now)
	p.bar = newBar(&out, 2)
	for n := range int64(9) {
		p.at(reconcile.Cursor{Phase: reconcile.PhaseRows, Report: reconcile.Report{Workflows: 2, Rows: n}})
		require.False(t, p.bar.IsFinished())
	}
	require.Contains(t, out.String(), "rows, 0 wrong")
	p.end()
	require.True(t, p.bar.IsFinished())
}
