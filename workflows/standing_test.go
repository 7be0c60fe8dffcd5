package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// The query standing in each state: attempts ask it before they act.
func TestStanding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var running uint64
	w.take = func(a *attempt) bool {
		running = a.in.GetSequence()
		a.last(20*time.Second, gnomonv1.AttemptStatus_FAILURE)
		return true
	}
	expect := func(at time.Duration, what string, want func() *workflowv1.Standing) {
		w.at(start.Add(at), func() {
			got, err := w.standing()
			require.NoError(t, err)
			if got.GetPerform() {
				require.GreaterOrEqual(t, got.GetRowSequence(), got.GetSequence(), "rows come after those of commands since")
			}
			require.Equal(t, got.GetGuid(), got.GetMeta().GetGuid())
			got.RowSequence, got.Meta, got.Conditions = 0, nil, nil
			require.True(t, proto.Equal(want(), got), "%s: %v", what, got)
		})
	}
	expect(-time.Second, "asleep", func() *workflowv1.Standing { return &workflowv1.Standing{Guid: "guid-1"} })
	expect(time.Second, "attempting", func() *workflowv1.Standing {
		return &workflowv1.Standing{Guid: "guid-1", Perform: true, Sequence: running}
	})
	w.at(start.Add(2*time.Second), func() { w.signal(workflowv1.CommandPause) })
	expect(3*time.Second, "attempting, paused", func() *workflowv1.Standing {
		return &workflowv1.Standing{Guid: "guid-1", Perform: true, Paused: true, Sequence: running}
	})
	w.at(start.Add(4*time.Second), func() { w.signal(workflowv1.CommandResume) })
	expect(21*time.Second, "between ticks", func() *workflowv1.Standing { return &workflowv1.Standing{Guid: "guid-1"} })
	w.at(start.Add(61*time.Second), func() { w.signalWith(true, workflowv1.CommandUpdate, update(periodic(time.Hour, nil), "guid-2")) })
	expect(62*time.Second, "updated, attempting", func() *workflowv1.Standing {
		return &workflowv1.Standing{Guid: "guid-2", Perform: true, Sequence: running}
	})
	w.at(start.Add(63*time.Second), func() {
		w.rows.SetDown(true)
		w.signal(workflowv1.CommandCancel)
	})
	expect(64*time.Second, "deleted, its row owed", func() *workflowv1.Standing { return &workflowv1.Standing{Guid: "guid-2"} })
	w.at(start.Add(65*time.Second), func() { w.rows.SetDown(false) })
	s := state(periodic(time.Minute, nil))
	s.Performing = 7 // a run before this one could not wait for it
	w.finish(s)
}

// The query action gives what clients see, with the place of its row.
func TestQueryAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(accepted.Add(time.Second), func() {
		got := w.action()
		require.True(t, proto.Equal(state(once(nil)).GetMeta(), got.GetAction().GetMeta()))
		require.True(t, proto.Equal(state(once(nil)).GetStatus(), got.GetAction().GetStatus()))
		require.Equal(t, accepted, got.GetRevision().GetIncarnation().AsTime())
		require.False(t, got.GetTombstone())
	})
	w.finish(state(once(nil)))
}
