package action

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// PerformTimeout returns the performer's own time limit for one attempt: an
// attempt that takes longer has failed. Callers keep every limit of the process
// around it longer, so that only a lost process counts as interrupted (M-38).
//
// It is the action's timeout, 10 s where that is 0 or absent, at most 10 min. A
// mock that sleeps has its time of sleep and 10 s more; any other mock, the
// hanging one included, has 10 s, and so has an action that is not known here.
func PerformTimeout(a *gnomonv1.Action) time.Duration {
	switch Kind(a) {
	case KindMock:
		nap := a.GetMockAction().GetSleep().GetDuration().AsDuration()
		return min(max(nap, 0), MaxMockSleep) + DefaultPerformTimeout
	case KindPush:
		return performTimeout(a.GetSendTechnicalPush().GetTimeout())
	case KindHTTP:
		return performTimeout(a.GetHttpRequest().GetTimeout())
	}
	return DefaultPerformTimeout
}

func performTimeout(d *durationpb.Duration) time.Duration {
	t := d.AsDuration()
	if t <= 0 {
		return DefaultPerformTimeout
	}
	return min(t, MaxPerformTimeout)
}
