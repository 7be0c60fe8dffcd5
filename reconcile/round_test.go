package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"gnomon/reconcile"
	"gnomon/store"
)

// A round goes on from any cursor that it told, and comes to the same.
func TestRoundGoesOnFromAnyCursor(t *testing.T) {
	t.Parallel()
	c, _, _ := made(t, 35)
	var cursors []reconcile.Cursor
	c.Progress = func(at reconcile.Cursor) { cursors = append(cursors, at) }
	c.DryRun = true
	whole, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.EqualValues(t, 35, whole.Workflows)
	require.Equal(t, map[reconcile.Kind]int64{reconcile.Missing: 35}, whole.Found)
	require.Len(t, cursors, 6, "four pages of workflows, one of rows, the orphans")
	told := cursors
	for _, from := range told {
		rest, err := reconcile.Run(t.Context(), c, from)
		require.NoError(t, err)
		require.Equal(t, whole.Found, rest.Found)
		require.Equal(t, whole.Workflows, rest.Workflows)
	}
	c.DryRun = false
	repaired, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.Zero(t, repaired.Left())
	require.EqualValues(t, 35, repaired.Rows)
	again, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.Empty(t, again.Found)
	require.EqualValues(t, 35, again.Rows)
}

// A report names a hundred actions and counts all.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	c, _, _ := made(t, 120)
	c.DryRun = true
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.Len(t, report.Items, 100)
	require.EqualValues(t, 120, report.Wrong())
}

// The rate holds: after a burst of a quarter of a second.
func TestRateIsHeld(t *testing.T) {
	t.Parallel()
	c, _, _ := made(t, 60)
	c.Rate, c.Page, c.DryRun = 100, 100, true
	began := time.Now()
	_, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	// 60 looks and 60 more that confirm, 25 of them at once.
	require.Greater(t, time.Since(began), 900*time.Millisecond)
}

// Without a worker not everything is asked in vain.
func TestAskingIsGivenUp(t *testing.T) {
	t.Parallel()
	c, f, _ := made(t, 200)
	f.silent = true
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.EqualValues(t, 200, report.Unjudged())
	require.Zero(t, report.Wrong())
	require.Less(t, f.asked, 50)
}

// A row that cannot be stored, and a workflow that cannot be read, stop no round; a
// store or a Temporal that is down does.
func TestOneBadActionStopsNothing(t *testing.T) {
	t.Parallel()
	c, f, p := made(t, 3)
	p.refused = "a-0001"
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Found[reconcile.Missing])
	require.EqualValues(t, 1, report.Left())
	for _, item := range report.Items {
		require.Equal(t, item.ID != "a-0001", item.Repaired)
		if !item.Repaired {
			require.Contains(t, item.Why, errRefused.Error())
		}
	}
	p.down = true
	_, err = reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.ErrorIs(t, err, errRefused)

	p.refused, p.down = "", false
	f.closed = map[string]error{"bad": errors.New("cannot be decoded")}
	bad := row(at(1, 0, 0))
	bad.Action.Meta.Id = "bad"
	_, err = p.PutActions(t.Context(), []store.Row{*bad})
	require.NoError(t, err)
	report, err = reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Unjudged())
	require.Zero(t, report.Left())
	f.closed["bad"] = serviceerror.NewUnavailable("down")
	_, err = reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.ErrorContains(t, err, "the result of bad cannot be read")
}

// What an orphan's second look does not confirm is left; one that is there is buried.
func TestOrphansWaitForTheEnd(t *testing.T) {
	t.Parallel()
	c, f, p := made(t, 0)
	for _, id := range []string{"a", "b"} {
		r := row(at(1, 0, 0))
		r.Action.Meta.Id = id
		_, err := p.PutActions(t.Context(), []store.Row{*r})
		require.NoError(t, err)
	}
	// Its workflow is there after all when the end has come.
	c.Progress = func(at reconcile.Cursor) {
		if at.Phase == reconcile.PhaseOrphans {
			require.ElementsMatch(t, []string{"a", "b"}, at.Orphans)
			f.open = []string{"a"}
		}
	}
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.Equal(t, map[reconcile.Kind]int64{reconcile.Orphaned: 1, reconcile.Moving: 1}, report.Found)
	kept, err := p.GetAction(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, kept.Tombstone)
	buried, err := p.GetAction(t.Context(), "b")
	require.NoError(t, err)
	require.True(t, buried.Tombstone)
}

func TestRoundIsStopped(t *testing.T) {
	t.Parallel()
	c, _, _ := made(t, 10)
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	_, err := reconcile.Run(ctx, c, reconcile.Cursor{})
	require.ErrorIs(t, err, why)
	require.ErrorContains(t, err, "the round was stopped")
}
