package cli

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// startGrace is how old a start may be. The contract's limit is 10 minutes (M-11);
// a minute is left for clocks that differ.
const startGrace = 9 * time.Minute

// carryStart makes a start that stood before fit for a new spec, which must not
// begin more than 10 minutes in the past (M-11): a periodic action goes on with its
// next tick, in the same phase; one by the calendar with its next match; a once-
// action whose time is long past begins now. It says whether it changed anything.
func carryStart(spec *gnomonv1.Spec, now time.Time) bool {
	start := spec.GetStartPolicy().GetStartAt()
	if start == nil || !start.AsTime().Before(now) {
		return false
	}
	next := now
	switch policy := spec.GetSendPolicy().GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		period := policy.SendPeriodicallyPolicy.GetPeriod().AsDuration()
		if period <= 0 {
			return false // the server refuses it, in better words
		}
		sinceTick := now.Sub(start.AsTime()) % period
		next = now.Add(period - sinceTick)
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
	default:
		if now.Sub(start.AsTime()) <= startGrace {
			return false
		}
	}
	spec.StartPolicy.StartAt = timestamppb.New(next)
	return true
}
