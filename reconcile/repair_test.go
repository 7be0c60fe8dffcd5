package reconcile_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
	"gnomon/store"
)

// repaired decides and repairs.
func repaired(t require.TestingT, r *store.Row, w reconcile.Workflow) store.Row {
	f := reconcile.Decide(r, w, settled)
	require.True(t, f.Wrong(), "%v", f)
	return reconcile.Repair(f, r, w, now)
}

// M-61: the row of an open workflow is what it would write, at the revision it would
// write, or just after what stands wrongly.
func TestRepairOfOpen(t *testing.T) {
	t.Parallel()
	w := open(3, in(paused))
	for name, c := range map[string]struct {
		row  *store.Row
		want store.Revision
	}{
		"missing":                   {nil, at(3, 0, 0)},
		"older":                     {row(at(2, 9, 2)), at(3, 0, 0)},
		"an old tombstone":          {chained(tombstone(store.Revision{Sequence: 9}), "before"), at(3, 0, 0)},
		"the same revision":         {row(at(3, 0, 0)), at(3, 0, 1)},
		"ahead":                     {row(at(7, 1, 2)), at(7, 1, 3)},
		"the repair of a reset one": {tombstone(at(math.MaxUint64, 0, 0)), at(math.MaxUint64, 0, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := repaired(t, c.row, w)
			require.Equal(t, c.want.Encode(), got.Revision.Encode())
			require.True(t, proto.Equal(w.Answer.GetAction(), got.Action))
			require.Equal(t, "chain", got.Chain)
			require.False(t, got.Tombstone)
		})
	}
}

// What the attempts left with the server is newer than what the workflow knows, and
// the row still comes before those of the attempts.
func TestRepairWhilePerforming(t *testing.T) {
	t.Parallel()
	w := performing(open(3, in(running), func(a *gnomonv1.ScheduledAction) {
		a.Status.Conditions = []*gnomonv1.Condition{{Type: "Mine"}}
	}))
	w.Attempts = &gnomonv1.Status{State: retrying, FailedAttemptsCounter: 4, Conditions: []*gnomonv1.Condition{{Type: "Theirs"}}}
	got := repaired(t, nil, w)
	require.Equal(t, retrying, got.Action.GetStatus().GetState())
	require.EqualValues(t, 4, got.Action.GetStatus().GetFailedAttemptsCounter())
	require.Equal(t, "Mine", got.Action.GetStatus().GetConditions()[0].GetType())
	require.Less(t, got.Revision.Encode(), at(3, 1, store.PhaseCurrent).Encode())
	require.Equal(t, reconcile.Right, reconcile.Decide(&got, w, settled).Kind)
	require.Equal(t, "Theirs", w.Attempts.GetConditions()[0].GetType(), "the facts are not changed")

	w.Answer.Action.Status.State = paused
	require.Equal(t, paused, repaired(t, nil, w).Action.GetStatus().GetState(), "a pause is the workflow's to know")
}

// The end that a closed workflow came to: its result, or that it came to none.
func TestRepairOfClosed(t *testing.T) {
	t.Parallel()
	got := repaired(t, row(at(3, 0, 0)), completed(succeeded))
	require.Equal(t, succeeded, got.Action.GetStatus().GetState())
	require.EqualValues(t, 7, got.Action.GetStatus().GetSuccessfulAttemptsCounter())
	require.Empty(t, got.Action.GetStatus().GetConditions())
	require.True(t, got.Tombstone)

	for how, reason := range map[enumspb.WorkflowExecutionStatus]string{
		enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED: "WORKFLOW_TERMINATED",
		enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:  "WORKFLOW_TIMED_OUT",
		enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:   "WORKFLOW_CANCELED",
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:     "WORKFLOW_FAILED",
	} {
		got := repaired(t, row(at(3, 0, 0)), closed(how))
		st := got.Action.GetStatus()
		require.Equal(t, gnomonv1.Status_DELETED, st.GetState())
		require.Nil(t, st.GetScheduledAt())
		require.Len(t, st.GetConditions(), 1)
		require.Equal(t, reconcile.ConditionCompleted, st.GetConditions()[0].GetType())
		require.Equal(t, gnomonv1.Condition_FALSE, st.GetConditions()[0].GetStatus())
		require.Equal(t, reason, st.GetConditions()[0].GetReason())
		require.Equal(t, now, st.GetConditions()[0].GetLastTransitionTime().AsTime())
		require.True(t, got.Tombstone)
	}
}

// Whose meta data and spec the tombstone shows.
func TestRepairOfClosedShowsTheLastState(t *testing.T) {
	t.Parallel()
	stale := row(at(3, 0, 0), guid("old"))
	w := completed(succeeded)
	w.Final = &workflowv1.CommandResult{Action: action(guid("input")), Chain: "chain"}
	require.Equal(t, "old", repaired(t, stale, w).Action.GetMeta().GetGuid(), "the row knows more than the input of the run")
	before := chained(row(at(3, 0, 0), guid("before")), "before")
	require.Equal(t, "input", repaired(t, before, w).Action.GetMeta().GetGuid(), "the row is of another one")
	require.Equal(t, "chain", repaired(t, before, w).Chain)
	w.Final.Revision = &workflowv1.Revision{Sequence: 4}
	w.Final.DeletedBy = "request"
	require.Equal(t, "input", repaired(t, stale, w).Action.GetMeta().GetGuid(), "a worker answered")
	require.Equal(t, "request", repaired(t, stale, w).DeletedBy)
}

func TestRepairOfOrphan(t *testing.T) {
	t.Parallel()
	got := repaired(t, row(at(3, 0, 0)), reconcile.Workflow{})
	require.Equal(t, gnomonv1.Status_DELETED, got.Action.GetStatus().GetState())
	require.Equal(t, "WORKFLOW_MISSING", got.Action.GetStatus().GetConditions()[0].GetReason())
	require.Equal(t, at(3, 0, 1).Encode(), got.Revision.Encode())
	require.True(t, got.Tombstone)
	bare := row(at(3, 0, 0))
	bare.Action.Status = nil
	require.Equal(t, gnomonv1.Status_DELETED, repaired(t, bare, reconcile.Workflow{}).Action.GetStatus().GetState())
}

// M-61: a repair always applies to the row that was judged; the tombstone of a closed
// workflow is newer than all that its incarnation can write and older than all of a
// later one; the others come just after what stands, with nothing between.
func TestRevisionsOfRepairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(math.MaxUint64-3, math.MaxUint64))
		small := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(math.MaxUint32-3, math.MaxUint32))
		judged := row(at(number.Draw(t, "sequence"), small.Draw(t, "attempt"), small.Draw(t, "phase")))
		if rapid.Bool().Draw(t, "facade's") {
			judged.Revision.Incarnation = time.Time{}
		}
		stands := judged.Revision.Encode()

		orphan := repaired(t, judged, reconcile.Workflow{}).Revision
		require.Greater(t, orphan.Encode(), stands)
		between := store.Revision{
			Incarnation: judged.Revision.Incarnation, Sequence: number.Draw(t, "s"), Attempt: small.Draw(t, "a"), Phase: small.Draw(t, "p"),
		}
		if e := between.Encode(); e > stands {
			require.GreaterOrEqual(t, e, orphan.Encode(), "a compare and swap")
		}

		dead := repaired(t, judged, completed(succeeded)).Revision.Encode()
		require.Greater(t, dead, stands)
		late := at(rapid.Uint64Range(0, math.MaxUint64-1).Draw(t, "late"), small.Draw(t, "la"), small.Draw(t, "lp"))
		require.Greater(t, dead, late.Encode(), "a late write never wins")
		if judged.Revision.Sequence < math.MaxUint64 {
			next := store.Revision{Incarnation: began.Add(time.Nanosecond)}
			require.Greater(t, next.Encode(), dead, "a new incarnation always wins")
		}
	})
}
