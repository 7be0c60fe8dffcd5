package reconcile

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// ConditionCompleted is the type of the condition in Status.conditions that is FALSE
// where a workflow did not end by itself: it was terminated, or is gone.
const ConditionCompleted = "Completed"

// Repair is the row to put where Decide found something wrong, at now. See the package
// for its revision.
func Repair(f Finding, row *store.Row, w Workflow, now time.Time) store.Row {
	switch f.Kind {
	case Resurrected:
		return closedRow(row, w, now)
	case Orphaned:
		r := buried(row, "WORKFLOW_MISSING", "Temporal knows no workflow of this action", now)
		r.Revision = successor(row.Revision)
		return r
	default:
		return openRow(row, w)
	}
}

// openRow is the row of an open workflow as it would write it.
func openRow(row *store.Row, w Workflow) store.Row {
	r := store.Row{
		Action:   proto.CloneOf(w.Answer.GetAction()),
		Revision: revision(w.Answer.GetRevision()),
		Chain:    w.Answer.GetChain(),
	}
	if st := r.Action.GetStatus(); w.Attempts != nil && st.GetState() == gnomonv1.Status_RUNNING {
		known := proto.CloneOf(w.Attempts)
		known.Conditions = st.GetConditions()
		r.Action.Status = known
	}
	if row != nil && row.Revision.Encode() >= r.Revision.Encode() {
		r.Revision = successor(row.Revision)
	}
	return r
}

// closedRow is the tombstone of a closed workflow that left a living row.
func closedRow(row *store.Row, w Workflow, now time.Time) store.Row {
	last := *row
	if w.Final != nil && (row.Chain != w.Chain || w.Final.GetRevision() != nil) {
		last.Action = w.Final.GetAction()
	}
	var r store.Row
	if life.Ended(w.Result) {
		r = tombstone(&last, w.Result)
	} else {
		how := manner(w)
		reason := "WORKFLOW_" + strings.ToUpper(strings.ReplaceAll(how, " ", "_"))
		r = buried(&last, reason, "the workflow did not end by itself, it was "+how, now)
	}
	r.Chain, r.DeletedBy = w.Chain, w.Final.GetDeletedBy()
	r.Revision = store.Revision{Incarnation: w.Incarnation, Sequence: math.MaxUint64}
	if r.Revision.Encode() <= row.Revision.Encode() {
		r.Revision = successor(row.Revision) // a revision that nobody handed out
	}
	return r
}

// buried is a tombstone of an action that did not end by itself: deleted, saying so.
func buried(row *store.Row, reason, message string, now time.Time) store.Row {
	st := proto.CloneOf(row.Action.GetStatus())
	if st == nil {
		st = &gnomonv1.Status{}
	}
	st.State, st.ScheduledAt, st.CurrentAttemptStatus = gnomonv1.Status_DELETED, nil, nil
	life.SetCondition(st, &gnomonv1.Condition{
		Type: ConditionCompleted, Status: gnomonv1.Condition_FALSE, Reason: reason,
		Message: message + "; found by the reconciler", LastTransitionTime: life.Stamp(now),
	})
	return tombstone(row, st)
}

func tombstone(row *store.Row, st *gnomonv1.Status) store.Row {
	return store.Row{
		Action: &gnomonv1.ScheduledAction{
			Meta: row.Action.GetMeta(), Spec: row.Action.GetSpec(), Status: proto.CloneOf(st),
		},
		Chain: row.Chain, Tombstone: true,
	}
}

// successor is the least revision that is newer.
func successor(r store.Revision) store.Revision {
	switch {
	case r.Phase < math.MaxUint32:
		r.Phase++
	case r.Attempt < math.MaxUint32:
		r.Attempt, r.Phase = r.Attempt+1, 0
	case r.Sequence < math.MaxUint64:
		r.Sequence, r.Attempt, r.Phase = r.Sequence+1, 0, 0
	default:
		var nanos int64
		if !r.Incarnation.IsZero() {
			nanos = max(0, r.Incarnation.UnixNano())
		}
		r = store.Revision{Incarnation: time.Unix(0, nanos+1)}
	}
	return r
}

func revision(r *workflowv1.Revision) store.Revision {
	return store.Revision{
		Incarnation: r.GetIncarnation().AsTime(),
		Sequence:    r.GetSequence(), Attempt: r.GetAttempt(), Phase: r.GetPhase(),
	}
}
