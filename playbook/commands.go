package playbook

import (
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// What a command is refused for. The caller adds the state (P-01).
var (
	// ErrNotPending: only what is PENDING_APPROVE can be approved or rejected.
	ErrNotPending = errors.New("it does not wait for an approval")
	// ErrFinished: what has ended cannot be cancelled or nudged.
	ErrFinished = errors.New("it has ended")
)

// Reasons of cancellations nobody gave one for.
const (
	reasonRejected  = "rejected"
	reasonCancelled = "cancelled"
)

// Approve lets a playbook begin.
func Approve(s *workflowv1.PlaybookState, by string) error {
	status := s.GetPlaybook().GetStatus()
	if status.GetState() != gnomonv1.PlaybookStatus_PENDING_APPROVE {
		return ErrNotPending
	}
	status.State, status.DecidedBy = gnomonv1.PlaybookStatus_RUNNING, by
	return nil
}

// Reject ends a playbook that waits for an approval.
func Reject(s *workflowv1.PlaybookState, by, reason string, now time.Time) error {
	status := s.GetPlaybook().GetStatus()
	if status.GetState() != gnomonv1.PlaybookStatus_PENDING_APPROVE {
		return ErrNotPending
	}
	status.DecidedBy = by
	end(s, gnomonv1.PlaybookStatus_CANCELLED, orElse(reason, reasonRejected), now)
	return nil
}

// Cancel has a playbook end: at once if none of its actions is unfinished, else when
// they have been cancelled. Again changes nothing.
func Cancel(s *workflowv1.PlaybookState, reason string, now time.Time) error {
	status := s.GetPlaybook().GetStatus()
	switch {
	case Ended(status.GetState()):
		return ErrFinished
	case status.GetState() == gnomonv1.PlaybookStatus_PENDING_APPROVE:
		end(s, gnomonv1.PlaybookStatus_CANCELLED, orElse(reason, reasonCancelled), now)
	case !s.GetCancelling():
		s.Cancelling, status.Reason = true, orElse(reason, reasonCancelled)
	}
	return nil
}

func orElse(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}
