package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
	"gnomon/store"
	"gnomon/store/faulty"
)

// open are the ids that visibility lists as open.
func (r *reconciled) open(t *testing.T) map[string]bool {
	t.Helper()
	page, err := r.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: 1000, Query: reconcile.OpenActions(r.queue),
	})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, w := range page.GetExecutions() {
		ids[w.GetExecution().GetWorkflowId()[len("action/"):]] = true
	}
	return ids
}

// only says that a round found one row, of this kind, and repaired it, and that a
// second round finds nothing.
func (r *reconciled) only(t *testing.T, id string, kind reconcile.Kind) {
	t.Helper()
	before := r.row(t, id)
	dry := r.dry(t)
	require.Equal(t, map[reconcile.Kind]int64{kind: 1}, dry.Found, "%v", dry.Items)
	require.EqualValues(t, 1, dry.Left())
	require.Equal(t, before, r.row(t, id), "a dry run changes nothing")

	report := r.round(t)
	require.Equal(t, map[reconcile.Kind]int64{kind: 1}, report.Found, "%v", report.Items)
	require.Equal(t, map[reconcile.Kind]int64{kind: 1}, report.Repaired)
	require.Len(t, report.Items, 1)
	require.Equal(t, id, report.Items[0].ID)
	require.True(t, report.Items[0].Repaired)
	require.Empty(t, r.round(t).Found, "all is repaired")
}

// M-61, issue 4: a row deleted by hand is written again, and the workflow gets no event
// for it.
func TestReconcileDeletedRow(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		r.sleeps(t, "other")
		id := r.id("a")
		r.sleeps(t, "a")
		events := len(r.events(t, id))
		r.remove(t, id)
		r.only(t, id, reconcile.Missing)
		r.shows(t, id)
		require.Len(t, r.events(t, id), events, "Temporal is not touched")
		// The next row of the workflow itself stands.
		_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Status_PAUSED, r.row(t, id).Action.GetStatus().GetState())
		r.shows(t, id)
	})
}

// Issue 4: a row changed by hand, back to an older revision and in place.
func TestReconcileChangedRow(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]bool{"older": true, "inplace": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothStores(t, func(t *testing.T, r *reconciled) {
				t.Helper()
				id := r.id("a")
				was := r.sleeps(t, "a")
				_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
				require.NoError(t, err)
				r.stored(t, id)
				r.shows(t, id)
				old, err := proto.Marshal(was.GetStatus())
				require.NoError(t, err)
				revision := r.row(t, id).Revision
				if older {
					revision.Sequence--
				}
				r.overwrite(t, id, old, revision.Encode())
				r.only(t, id, reconcile.Stale)
				require.Equal(t, gnomonv1.Status_PAUSED, r.row(t, id).Action.GetStatus().GetState())
				r.shows(t, id)
				_, err = r.facade.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: id})
				require.NoError(t, err)
				require.Equal(t, gnomonv1.Status_SCHEDULED, r.row(t, id).Action.GetStatus().GetState())
				r.shows(t, id)
			})
		})
	}
}

// Issue 4: the row of an action that is gone from Temporal, and one that never was
// there, as after a restored backup.
func TestReconcileGone(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		r.sleeps(t, "other")
		id := r.id("ghost")
		ghost := r.once(id, "/ok", time.Hour)
		ghost.Meta.Guid = "ghost"
		ghost.Status = &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED, ScheduledAt: stamp(time.Now().Add(time.Hour))}
		_, err := r.store.PutActions(t.Context(), []store.Row{{
			Action: ghost, Chain: "no-run", Revision: store.Revision{Incarnation: time.Now().Add(-time.Hour), Sequence: 3},
		}})
		require.NoError(t, err)
		r.only(t, id, reconcile.Orphaned)
		row := r.row(t, id)
		require.True(t, row.Tombstone)
		require.Equal(t, gnomonv1.Status_DELETED, row.Action.GetStatus().GetState())
		require.Equal(t, "WORKFLOW_MISSING", condition(row.Action, reconcile.ConditionCompleted).GetReason())
		r.missing(t, id)
		// The id can be used anew.
		created := r.sleeps(t, "ghost")
		require.Equal(t, created.GetMeta().GetGuid(), r.row(t, id).Action.GetMeta().GetGuid())
		require.False(t, r.row(t, id).Tombstone)
		require.Empty(t, r.round(t).Found)
	})
}

// A wrong namespace makes orphans of all rows: too many are left alone.
func TestReconcileTooManyOrphans(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		for _, name := range []string{"a", "b", "c"} {
			a := r.once(r.id(name), "/ok", time.Hour)
			_, err := r.store.PutActions(t.Context(), []store.Row{{Action: a, Revision: store.Revision{Sequence: 1}}})
			require.NoError(t, err)
		}
		c := r.config()
		c.MaxOrphans = 2
		report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
		require.NoError(t, err)
		require.EqualValues(t, 3, report.Left())
		require.Contains(t, report.Items[0].Why, "is this the right namespace?")
		for _, name := range []string{"a", "b", "c"} {
			require.False(t, r.row(t, r.id(name)).Tombstone)
		}
		require.Zero(t, r.round(t).Left())
	})
}

// Issue 4, P-03: a workflow that was terminated by hand leaves its row; a late write of
// it changes nothing after the repair, and an action created anew is shown.
func TestReconcileTerminated(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		r.sleeps(t, "other")
		id := r.id("a")
		r.sleeps(t, "a")
		_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
		require.NoError(t, err)
		late := *r.row(t, id)
		late.Revision.Sequence += 5
		require.NoError(t, r.client.TerminateWorkflow(t.Context(), workflowv1.WorkflowID(id), "", "by hand"))
		r.only(t, id, reconcile.Resurrected)
		row := r.row(t, id)
		require.True(t, row.Tombstone)
		require.Equal(t, gnomonv1.Status_DELETED, row.Action.GetStatus().GetState())
		require.Equal(t, "WORKFLOW_TERMINATED", condition(row.Action, reconcile.ConditionCompleted).GetReason())
		r.missing(t, id)

		applied, err := r.store.PutActions(t.Context(), []store.Row{late})
		require.NoError(t, err)
		require.Equal(t, []bool{false}, applied, "a late write of the old one never stands")

		created := r.sleeps(t, "a")
		require.Equal(t, created.GetMeta().GetGuid(), r.row(t, id).Action.GetMeta().GetGuid())
		_, err = r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Status_PAUSED, r.row(t, id).Action.GetStatus().GetState())
		require.Empty(t, r.round(t).Found)
	})
}

// A row that came to life again: its workflow's result is what it gets.
func TestReconcileResurrected(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		id := r.id("a")
		r.create(t, r.once(id, "/ok", 0))
		st := r.closed(t, id, 30*time.Second)
		require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
		r.revive(t, id)
		r.only(t, id, reconcile.Resurrected)
		row := r.row(t, id)
		require.True(t, row.Tombstone)
		require.True(t, proto.Equal(st, row.Action.GetStatus()), "%v", row.Action.GetStatus())
	})
}

// M-61: rows lost while the store was down, with the processes that held them.
func TestReconcileLostWhileDown(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		fresh, paused := r.id("fresh"), r.id("paused")
		r.sleeps(t, "paused")
		r.store.Set(faulty.Faults{Drop: 1}) // written, by all accounts
		r.sleeps(t, "fresh")
		_, err := r.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: paused})
		require.NoError(t, err)
		eventually(t, 20*time.Second, "facade and workflow have written the row of the pause", func() bool {
			return r.store.Injected(faulty.PutActions) >= 2
		})
		r.store.Set(faulty.Faults{})
		require.Nil(t, r.row(t, fresh))
		require.Equal(t, gnomonv1.Status_SCHEDULED, r.row(t, paused).Action.GetStatus().GetState())

		report := r.round(t)
		require.Equal(t, map[reconcile.Kind]int64{reconcile.Missing: 1, reconcile.Stale: 1}, report.Found, "%v", report.Items)
		require.Zero(t, report.Left())
		r.shows(t, fresh)
		r.shows(t, paused)
		require.Empty(t, r.round(t).Found)
	})
}

// Without a worker nothing is said of open workflows, and nothing changed; with a
// store that is down the round fails.
func TestReconcileWithoutWorkerOrStore(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	id := r.id("a")
	r.sleeps(t, "a")
	r.remove(t, id)
	r.rest()
	c := r.config()
	c.AnswerTime = time.Second
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Unjudged())
	require.Nil(t, r.row(t, id))
	r.store.Set(faulty.Faults{Fail: 1})
	_, err = reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.ErrorIs(t, err, faulty.ErrInjected)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = reconcile.Run(ctx, c, reconcile.Cursor{})
	require.ErrorIs(t, err, context.Canceled)
}
