package starter

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// A command that is sent again, by a caller or by Temporal where the run that applied it
// goes on as another, is applied once, and its answer shows what stands then: that may be
// what a later command made. The caller's reply is what his own made, as the first time
// (M-07): a Guid that names the spec of somebody else would have him wait for that.

// ownUpdate is the reply to an update that brought a's Guid, given what stands.
func ownUpdate(stands, a *gnomonv1.ScheduledAction, paths []string, now time.Time) *gnomonv1.ScheduledAction {
	if stands.GetMeta().GetGuid() == a.GetMeta().GetGuid() {
		return stands
	}
	if !slices.Contains(paths, pathSpec) {
		// What the spec was then is not known any more.
		own := proto.CloneOf(stands)
		own.Meta.Guid, own.Meta.Labels = a.GetMeta().GetGuid(), a.GetMeta().GetLabels()
		return own
	}
	own := created(life.New(a, now, ""))
	own.Meta.CreateTime = stands.GetMeta().GetCreateTime()
	if !slices.Contains(paths, pathLabels) {
		own.Meta.Labels = stands.GetMeta().GetLabels()
	}
	return own
}

// ownCreate is the reply to a create that made st of what had ended, given what stands. A
// repeated call brings another Guid than the first, so that only another action tells of a
// later command.
func ownCreate(stands *gnomonv1.ScheduledAction, st *workflowv1.ActionState) *gnomonv1.ScheduledAction {
	if proto.Equal(stands.GetSpec(), st.GetSpec()) {
		return stands
	}
	return created(st)
}
