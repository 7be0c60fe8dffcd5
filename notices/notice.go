package notices

import (
	"context"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Events that notices are about. They are part of the public contract.
const (
	// ScheduledChangeFailed: a batch is in MANUAL_REVIEW and waits for a person (the
	// seed's name; it is not about the state FAILED). Every channel gets it.
	ScheduledChangeFailed = "ScheduledChangeFailed"
	// BatchComplete and those below are the outcomes, for the channels that ask for them.
	BatchComplete       = "BatchComplete"
	BatchPartialFailure = "BatchPartialFailure"
	BatchFailed         = "BatchFailed"
	BatchCancelled      = "BatchCancelled"
)

// EventOf is the event of a batch that has come to this state, "" if it is none.
func EventOf(s gnomonv1.BatchStatus_State) string {
	switch s {
	case gnomonv1.BatchStatus_MANUAL_REVIEW:
		return ScheduledChangeFailed
	case gnomonv1.BatchStatus_COMPLETE:
		return BatchComplete
	case gnomonv1.BatchStatus_PARTIAL_FAILURE:
		return BatchPartialFailure
	case gnomonv1.BatchStatus_FAILED:
		return BatchFailed
	case gnomonv1.BatchStatus_CANCELLED:
		return BatchCancelled
	default:
		return ""
	}
}

// Notice is one thing to tell.
type Notice struct {
	// Key is the same however often the notice is sent: <batch id>/<uid>/<round>/<event>.
	// A channel passes it on, so that the other side can drop what comes twice.
	Key string
	// Event is one of the constants.
	Event string
	// Batch is it without its changes, as it stood when the status was stored; its
	// problems are in its status.
	Batch *gnomonv1.Batch
}

// Channel carries notices to where people see them. Send may be called again with the
// same Key; an error is tried again later. It must stop soon after ctx ends, and its
// error must hold no secret.
type Channel interface {
	// Name tells channels of one installation apart, in logs and configuration.
	Name() string
	Send(ctx context.Context, n Notice) error
}

// Subscription is a channel and what it is told.
type Subscription struct {
	Channel Channel
	// Events it gets beside ScheduledChangeFailed.
	Events []string
}
