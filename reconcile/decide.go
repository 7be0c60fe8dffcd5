package reconcile

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// Decide says what is wrong with a row, nil for none, given what Temporal knew after
// it was read. What changed after settled is too young to be judged.
func Decide(row *store.Row, w Workflow, settled time.Time) Finding {
	alive := row != nil && !row.Tombstone
	switch {
	case w.State == Open && w.Foreign, alive && w.Foreign:
		return Finding{Foreign, "its workflow is on another task queue or is no action"}
	case w.State == Open && w.Answer == nil:
		return Finding{Unanswered, "no worker answered for it"}
	case w.State == Open:
		return decideOpen(row, w, settled)
	case !alive:
		return Finding{} // what has ended may be shown as ended, or not at all any more
	case young(row.Action, settled):
		return Finding{Young, "it was changed within the grace"}
	case w.Problem != "":
		return Finding{Unanswered, w.Problem}
	case w.State == Closed:
		return Finding{Resurrected, "the row is alive and " + ended(w)}
	default:
		return Finding{Orphaned, "the row is alive and Temporal knows no workflow of it"}
	}
}

// decideOpen judges the row of an open workflow that answered.
func decideOpen(row *store.Row, w Workflow, settled time.Time) Finding {
	if w.Answer.GetTombstone() {
		return Finding{} // it closes as soon as its last row is stored
	}
	f := Finding{Missing, "the workflow is open and there is no row"}
	if row != nil {
		f = Finding{Stale, differs(row, w)}
	}
	switch {
	case f.Why == "":
		return Finding{}
	case young(w.Answer.GetAction(), settled), row != nil && !row.Tombstone && young(row.Action, settled):
		return Finding{Young, "it was changed within the grace"}
	default:
		return f
	}
}

// differs says what a row of an open workflow gets wrong, nothing if it is right.
func differs(row *store.Row, w Workflow) string {
	want, have := w.Answer.GetAction(), row.Action
	switch {
	case row.Tombstone:
		return "the row says that it has ended"
	case row.Chain != w.Answer.GetChain():
		return "the row is that of the action before"
	case have.GetMeta().GetGuid() != want.GetMeta().GetGuid():
		return "the row has another guid"
	case !proto.Equal(have.GetMeta(), want.GetMeta()):
		return "the row has other meta data"
	case !proto.Equal(have.GetSpec(), want.GetSpec()):
		return "the row has another spec"
	case proto.Equal(have.GetStatus(), want.GetStatus()):
		return ""
	case w.Performing && sameSequence(row.Revision, w.Answer.GetRevision()) && !life.Ended(have.GetStatus()):
		return "" // the attempts know more than the workflow
	default:
		return "the row has another status: " + have.GetStatus().GetState().String() +
			" where the workflow has " + want.GetStatus().GetState().String()
	}
}

// sameSequence says whether a row has the sequence that the workflow handed out last.
func sameSequence(r store.Revision, w *workflowv1.Revision) bool {
	return r.Sequence == w.GetSequence() && r.Incarnation.Equal(w.GetIncarnation().AsTime())
}

// young says whether an action was changed after settled.
func young(a *gnomonv1.ScheduledAction, settled time.Time) bool {
	changed := a.GetMeta().GetUpdateTime()
	if changed == nil {
		changed = a.GetMeta().GetCreateTime()
	}
	return changed != nil && changed.AsTime().After(settled)
}

// ended says how a closed workflow ended.
func ended(w Workflow) string {
	if w.Result != nil {
		return "its workflow ended as " + w.Result.GetState().String()
	}
	return "its workflow was " + manner(w)
}

// manner is how a workflow ended that did not complete.
func manner(w Workflow) string {
	switch w.Ended {
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return "terminated"
	case enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return "timed out"
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return "canceled"
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		return "failed"
	default:
		return "closed without a status"
	}
}
