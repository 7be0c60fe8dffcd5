package action

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Preview returns the due times of the action that are not before the given moment
// and not after the deadline, in order, at most count. It costs as much as count
// calls of NextDue.
func Preview(s *gnomonv1.Spec, id string, after time.Time, count int) []time.Time {
	var dues []time.Time
	for due, ok := firstFrom(s, id, after); ok && len(dues) < count && !Expired(s, due); due, ok = NextDue(s, id, due) {
		dues = append(dues, due)
	}
	return dues
}

func firstFrom(s *gnomonv1.Spec, id string, at time.Time) (time.Time, bool) {
	if Periodic(s) {
		return NextDue(s, id, at.Add(-1))
	}
	due, ok := FirstDue(s, id)
	return due, ok && !due.Before(at)
}
