package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-61: a store that is down holds no attempt up; the run closes only after its last
// row is stored, however long that takes.
func TestStoreDownAcrossTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows.SetDown(true)
	w.at(start.Add(time.Minute), func() {
		require.Equal(t, gnomonv1.Status_SUCCEEDED, w.action().GetAction().GetStatus().GetState())
		w.rows.SetDown(false)
	})
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.Equal(t, []time.Duration{0}, w.acted())
	require.True(t, w.now().After(start.Add(59*time.Second)))
}

// The rows of an action that is paused and resumed come in their order, each newer
// than the one before, the attempt's own among them.
func TestRowsOfCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var seen []gnomonv1.Status_State
	look := func(at time.Time) {
		w.at(at, func() {
			row, ok := w.rows.Row("a")
			require.True(t, ok)
			seen = append(seen, row.Action.GetStatus().GetState())
			require.Equal(t, accepted, row.Revision.Incarnation.UTC())
		})
	}
	w.at(start.Add(-50*time.Second), func() { w.signal(workflowv1.CommandPause) })
	look(start.Add(-45 * time.Second))
	w.at(start.Add(-40*time.Second), func() { w.signal(workflowv1.CommandResume) })
	look(start.Add(-35 * time.Second))
	w.at(start.Add(-30*time.Second), func() { w.signalWith(true, workflowv1.CommandUpdate, update(once(nil), "guid-2")) })
	look(start.Add(-25 * time.Second))
	w.finish(state(once(nil)))
	require.Equal(t, []gnomonv1.Status_State{gnomonv1.Status_PAUSED, gnomonv1.Status_SCHEDULED, gnomonv1.Status_SCHEDULED}, seen)
	row, _ := w.rows.Row("a")
	require.Equal(t, "guid-2", row.Action.GetMeta().GetGuid())
}

// The facade asks for the row again when its own write failed.
func TestSignalMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(accepted.Add(time.Second), func() { w.signal(workflowv1.SignalMirror) })
	w.at(accepted.Add(2*time.Second), func() {
		row, ok := w.rows.Row("a")
		require.True(t, ok)
		require.Equal(t, gnomonv1.Status_SCHEDULED, row.Action.GetStatus().GetState())
		require.False(t, row.Tombstone)
	})
	w.finish(state(once(nil)))
}

// M-60, P-02: an action that has ended, whose run is only waiting for its row, is
// made anew by an update that may: a new incarnation in a new run.
func TestAClosingRunIsRevived(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"update", "signal"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rows.SetDown(true)
			w.at(accepted.Add(time.Second), func() { w.env.CancelWorkflow() })
			var refused, revived *answer
			c := update(once(nil), "guid-2")
			c.Id, c.Revive, c.CreateOnly = "c-2", true, true
			w.at(accepted.Add(2*time.Second), func() {
				refused = w.update(workflowv1.CommandUpdate, update(once(nil), "guid-3"))
				if how == "signal" {
					w.signalWith(true, workflowv1.CommandUpdate, c)
					return
				}
				revived = w.update(workflowv1.CommandUpdate, c)
			})
			s := next(t, w.run(state(once(nil))))
			require.Equal(t, workflowv1.RefusedNotFound, refused.refused)
			if how == "update" {
				require.NoError(t, revived.err)
				require.Equal(t, "guid-2", revived.result.GetAction().GetMeta().GetGuid())
				require.False(t, revived.result.GetTombstone())
				require.True(t, revived.result.GetRevision().GetIncarnation().AsTime().After(accepted))
			}
			require.Equal(t, "guid-2", s.GetMeta().GetGuid())
			require.Equal(t, gnomonv1.Status_SCHEDULED, s.GetStatus().GetState())
			require.True(t, s.GetMirrorOwed())

			w = newWorld(t, func(w *world) { w.clock = accepted.Add(2 * time.Second) })
			require.Equal(t, gnomonv1.Status_SUCCEEDED, w.finish(s).GetState())
			require.Equal(t, []string{"guid-2"}, w.guids())
		})
	}
}

// In one task: delete, then an update that revives, is a new incarnation.
func TestCancelThenReviveInOneTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := update(once(nil), "guid-2")
	c.Revive = true
	w.at(accepted.Add(time.Second), func() {
		w.signalWith(false, workflowv1.CommandCancel, &workflowv1.Command{})
		w.signalWith(true, workflowv1.CommandUpdate, c)
	})
	s := next(t, w.run(state(once(nil))))
	require.Equal(t, "guid-2", s.GetMeta().GetGuid())
	require.Equal(t, accepted.Add(time.Second), s.GetIncarnation().AsTime())
	require.Empty(t, w.attempts)
}

// P-04: an end other than success is a search attribute; a success costs no event.
func TestOutcome(t *testing.T) {
	t.Parallel()
	key := temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchOutcome)
	for want, c := range map[string]struct {
		spec   *gnomonv1.Spec
		cancel bool
		fail   bool
	}{
		"":        {spec: once(nil)},
		"failed":  {spec: once(nil), fail: true},
		"expired": {spec: until(once(nil), accepted)},
		"deleted": {spec: once(nil), cancel: true},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if want == "" {
				w.env.OnUpsertTypedSearchAttributes(mock.Anything).Panic("a success is marked").Maybe()
			} else {
				w.env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(key.ValueSet(want))).Return(nil).Once()
			}
			if c.fail {
				w.perform = fails
			}
			if c.cancel {
				w.at(accepted.Add(time.Second), func() { w.signal(workflowv1.CommandCancel) })
			}
			w.finish(state(c.spec))
			w.env.AssertExpectations(t)
		})
	}
}
