package batch

import gnomonv1 "gnomon/api/gnomon/v1"

// Outcome is what a batch has come to by the statuses of its changes as they are stored,
// from whatever attempt each is (V-10): COMPLETE if all are applied, FAILED if all were
// rejected, PARTIAL_FAILURE if some of each, and PROCESSING while any is not finished.
func Outcome(changes []*gnomonv1.Change) gnomonv1.BatchStatus_State {
	complete, failed := 0, 0
	for _, c := range changes {
		switch c.GetStatus().GetState() {
		case gnomonv1.ChangeStatus_COMPLETE:
			complete++
		case gnomonv1.ChangeStatus_FAILED:
			failed++
		default:
			return gnomonv1.BatchStatus_PROCESSING
		}
	}
	switch {
	case failed == 0:
		return gnomonv1.BatchStatus_COMPLETE
	case complete == 0:
		return gnomonv1.BatchStatus_FAILED
	default:
		return gnomonv1.BatchStatus_PARTIAL_FAILURE
	}
}

// Finished says whether a change is never to be touched again (V-12).
func Finished(c *gnomonv1.Change) bool {
	state := c.GetStatus().GetState()
	return state == gnomonv1.ChangeStatus_COMPLETE || state == gnomonv1.ChangeStatus_FAILED
}

// Unfinished are the indexes of the changes that are validated again before a batch is
// processed, and then applied: those that are not finished, in order (V-12, V-16).
func Unfinished(changes []*gnomonv1.Change) []int {
	var left []int
	for i, c := range changes {
		if !Finished(c) {
			left = append(left, i)
		}
	}
	return left
}

// InDoubt says whether a change may have been applied by an attempt that left no word:
// what it does itself must not stand against it (V-16).
func InDoubt(c *gnomonv1.Change) bool { return !Finished(c) && c.GetStatus().GetAttempts() > 0 }
