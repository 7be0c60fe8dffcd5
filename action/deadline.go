package action

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Deadline returns the moment after which no attempt begins, in UTC, and whether
// there is one: absent means never (seed 000, SendPolicy; M-13, M-14). It bounds
// once and periodic actions alike, retries included.
func Deadline(s *gnomonv1.Spec) (time.Time, bool) {
	return moment(s.GetSendPolicy().GetDeadline())
}

// Expired says whether no attempt may begin at the given moment any more. One may
// begin exactly at the deadline (M-15).
func Expired(s *gnomonv1.Spec, at time.Time) bool {
	d, ok := Deadline(s)
	return ok && at.After(d)
}

// moment tells an absent timestamp, or one that cannot be read, from one at the
// epoch: an action whose absent deadline were read as 1970 would end at once.
func moment(t *timestamppb.Timestamp) (time.Time, bool) {
	if !t.IsValid() {
		return time.Time{}, false
	}
	return t.AsTime(), true
}
