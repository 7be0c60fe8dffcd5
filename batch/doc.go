// Package batch holds the rules of scheduled batches (seed 003): what may be asked for,
// which moves a batch may make, what a person may decide about it, and what its changes
// have come to.
//
// Everything here is a plain function of its arguments, as in package action. The state of
// the workflow is a BatchState; its head is what facade, workflow and worker write to the
// store, each write with a higher revision than the one before. The changes themselves are
// in the store alone (V-06).
//
//	PENDING ── its time ──> PROCESSING ──> COMPLETE, PARTIAL_FAILURE, FAILED
//	   │  ^                    │  ^
//	   │  └── reschedule ── MANUAL_REVIEW ── retry
//	   └── cancel ──> CANCELLED <── cancel ┘
package batch
