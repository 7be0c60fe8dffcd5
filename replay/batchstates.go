package replay

import (
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
)

// Batch begins the names of the recordings of batches.
const Batch = "batch"

// notAccepted is how a run ends that has no batch.
var notAccepted = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED.String()

// BatchStates are those of batches that every version of their rules has a recording of.
func BatchStates() []State {
	return slices.Concat(batchRoundStates, batchReviewStates, batchCommandStates, batchContinuedStates)
}

var batchRoundStates = []State{
	{"batch-waiting", Open, events(sleeps, completed)},
	{"batch-not-accepted", notAccepted, events(completed)},
	{"batch-processing", Open, events(sleeps, wakes, scheduled)},
	{"batch-progress-told", Open, events(scheduled, signalled)},
	{"batch-retrying", Open, events(wakes, scheduled)},
	{"batch-complete", "COMPLETE", events(sleeps, wakes, completed)},
	{"batch-complete-late", "COMPLETE", events(completed)},
	{"batch-complete-after-lost-worker", "COMPLETE", events(completed)},
	{"batch-complete-after-store-down", "COMPLETE", events(completed)},
	{"batch-partial-failure", "PARTIAL_FAILURE", events(completed, outcome)},
	{"batch-failed", "FAILED", events(completed, outcome)},
}

var batchReviewStates = []State{
	{"batch-in-review", Open, events(completed, outcome)},
	{"batch-in-review-untold", Open, events(completed, outcome)},
	{"batch-in-review-by-attempts", Open, events(failed, completed, outcome)},
	{"batch-in-review-by-lost-worker", Open, events(timedOut, completed, outcome)},
	{"batch-abandoning", Open, events(failed, scheduled)},
	{"batch-in-review-again", Open, events(updated, completed, outcome)},
	{"batch-retried", "COMPLETE", events(updated, completed, outcome)},
	{"batch-retried-untold", "COMPLETE", events(updated, completed, outcome)},
	{"batch-retried-twice-untold", Open, events(updated, outcome)},
	{"batch-retried-by-signal", "COMPLETE", events(signalled, completed, outcome)},
	{"batch-postponed", Open, events(updated, sleeps, outcome)},
	{"batch-given-up", "CANCELLED", events(updated, completed, outcome)},
	{"batch-given-up-by-temporal", "CANCELLED", events(cancelAsked, completed, outcome)},
}

var batchCommandStates = []State{
	{"batch-cancelled", "CANCELLED", events(updated, disarmed, outcome)},
	{"batch-cancelled-by-signal", "CANCELLED", events(signalled, disarmed, outcome)},
	{"batch-cancelled-by-temporal", "CANCELLED", events(cancelAsked, disarmed, outcome)},
	{"batch-cancelled-without-workers", "CANCELLED", events(signalled, cancelAsked, outcome)},
	{"batch-cancelled-store-down", Open, events(updated, outcome)},
	{"batch-rescheduled", Open, events(updated, sleeps, disarmed)},
	{"batch-rescheduled-by-signal", "COMPLETE", events(signalled, sleeps, disarmed)},
	{"batch-rescheduled-store-down", Open, events(updated, scheduled, sleeps)},
	{"batch-commands-while-processing", "COMPLETE", events(signalled, cancelAsked, completed)},
	{"batch-malformed-signals", "COMPLETE", events(signalled, completed)},
}

var batchContinuedStates = []State{
	{"batch-waiting-continued", Continued, events(signalled, completed)},
	{"batch-waiting-continued-next", "CANCELLED", events(updated, sleeps, disarmed)},
	{"batch-in-review-continued", Continued, events(signalled, outcome)},
	{"batch-in-review-continued-next", "COMPLETE", events(updated, completed, outcome)},
}
