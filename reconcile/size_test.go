package reconcile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/reconcile"
	"gnomon/store"
	"gnomon/store/sqlite"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// fewOpen are as many open actions as a run of all tests has time for.
const fewOpen = 2000

// maxGrowth is how much more memory a round may take at its end than at its
// beginning: what it keeps is one page and a bounded report.
const maxGrowth = 16 << 20

// counted is a store whose lists are counted.
type counted struct {
	store.Actions

	pages, longest int
}

func (c *counted) ListActions(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	page, err := c.Actions.ListActions(ctx, q)
	c.pages, c.longest = c.pages+1, max(c.longest, len(page))
	return page, err
}

// Issue 4: a dry run over many rows (GNOMON_TEST_ROWS, such as 200000) finds the few
// that are wrong, page by page, within its rate and in memory that does not grow, and
// says after each page how far it is.
func TestDryRunOverManyRows(t *testing.T) {
	t.Parallel()
	// Not beside each other: memory is measured.
	dryRunOverManyRows(t, "sqlite", openFile(t))
	dryRunOverManyRows(t, "ydb", openDouble(t))
}

func dryRunOverManyRows(t *testing.T, name string, rows store.Actions) {
	t.Helper()
	open := fewOpen
	if text := os.Getenv(storetest.EnvRows); text != "" {
		var err error
		open, err = strconv.Atoi(text)
		require.NoError(t, err, storetest.EnvRows)
	}
	const missing, stale, orphaned = 30, 20, 10
	c, f, p := made(t, 0)
	pages := &counted{Actions: rows}
	p.Actions = pages
	fill(t, rows, f, open, missing, stale, orphaned)

	c.DryRun, c.Page, c.Rate, c.MaxOrphans = true, 500, 50_000, -1
	var told []reconcile.Cursor
	var first, last uint64
	every := max(1, 2*open/c.Page/10) // a collection for each page would take longer than the round
	c.Progress = func(at reconcile.Cursor) {
		at.Report.Items = nil
		if told = append(told, at); len(told)%every == 0 {
			last = heap()
			if first == 0 {
				first = last
			}
		}
	}
	began := time.Now()
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	took := time.Since(began)
	t.Logf("%s: %d open workflows and %d rows in %s, %d pages, heap %d KiB at first and %d KiB at last",
		name, report.Workflows, report.Rows, took.Round(time.Millisecond), len(told), first>>10, last>>10)

	require.Equal(t, map[reconcile.Kind]int64{
		reconcile.Missing: missing, reconcile.Stale: stale, reconcile.Orphaned: orphaned,
	}, report.Found)
	require.Empty(t, report.Repaired)
	require.EqualValues(t, open, report.Workflows)
	alive := open - missing + orphaned
	require.EqualValues(t, alive, report.Rows)

	require.Equal(t, (open+c.Page-1)/c.Page, f.pages)
	require.Equal(t, alive/c.Page+1, pages.pages)
	require.Equal(t, c.Page, pages.longest)
	require.Len(t, told, f.pages+pages.pages+1, "progress after every page, and at the end")
	for n := range told[1:] {
		before, after := told[n].Report, told[n+1].Report
		require.GreaterOrEqual(t, after.Workflows+after.Rows, before.Workflows+before.Rows)
	}
	require.Equal(t, reconcile.PhaseDone, told[len(told)-1].Phase)

	looks := float64(open + alive + missing + stale + orphaned)
	require.Greater(t, took.Seconds(), looks/c.Rate-0.25, "the rate, after a burst of a quarter of a second")
	require.Less(t, int64(last)-int64(first), int64(maxGrowth))
}

// fill makes open workflows, all with a right row but some: the first are missing, the
// next are stale; and rows without a workflow.
func fill(t *testing.T, rows store.Actions, f *temporal, open, missing, stale, orphaned int) {
	t.Helper()
	const call = 500
	var some []store.Row
	flush := func() {
		_, err := rows.PutActions(t.Context(), some)
		require.NoError(t, err)
		some = some[:0]
	}
	put := func(id string, edit func(*store.Row)) {
		r := row(at(1, 0, 0))
		r.Action.Meta.Id = id
		edit(r)
		if some = append(some, *r); len(some) == call {
			flush()
		}
	}
	for n := range open {
		id := fmt.Sprintf("a-%07d", n)
		f.open = append(f.open, id)
		switch {
		case n < missing:
		case n < missing+stale:
			put(id, func(r *store.Row) { r.Action.Meta.Guid = "old" })
		default:
			put(id, func(*store.Row) {})
		}
	}
	for n := range orphaned {
		put(fmt.Sprintf("gone-%d", n), func(*store.Row) {})
	}
	flush()
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func openFile(t *testing.T) store.Actions {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gnomon.db"), Migrate: true, RelaxedSync: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	return rows
}

func openDouble(t *testing.T) store.Actions {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	c := ydb.Config{ConnectionString: server.ConnectionString("gnomon"), Timeout: time.Minute}
	require.NoError(t, ydb.Migrate(t.Context(), c))
	rows, err := ydb.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	return rows
}
