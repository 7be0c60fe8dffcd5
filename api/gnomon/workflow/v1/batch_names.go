package workflowv1

// Names of batches that Temporal knows. They are part of every recorded history and
// cannot change.
const (
	// BatchWorkflow is the workflow type of a scheduled batch.
	BatchWorkflow = "Batch"
	// AcceptBatchActivity makes the contents that the facade stored the batch.
	AcceptBatchActivity = "AcceptBatch"
	// StoreBatchActivity stores the head of a batch, for as long as that takes.
	StoreBatchActivity = "StoreBatch"
	// ProcessBatchActivity validates and applies the changes. It runs on the task queue
	// of BatchTaskQueue.
	ProcessBatchActivity = "ProcessBatch"
	// AbandonBatchActivity ends a round whose attempts are spent.
	AbandonBatchActivity = "AbandonBatch"
	// NotifyBatchActivity tells people.
	NotifyBatchActivity = "NotifyBatch"

	// CommandReschedule gives a pending batch another time (signal and update; payload
	// BatchCommand). CommandCancel ends it, as Temporal's own cancellation does.
	CommandReschedule = "reschedule"
	// CommandReview decides about a batch in review.
	CommandReview = "review"
	// SignalBatchProgress tells the workflow how far ProcessBatch is, for its current
	// details (payload BatchProgress). Nothing is decided by it.
	SignalBatchProgress = "progress"
	// QueryBatch answers the BatchHead as the workflow has it.
	QueryBatch = "batch"

	// KindBatch is the value of SearchKind.
	KindBatch = "batch"
)

// RefusedState says that a command does not fit the state of the batch; the details
// are the name of the state.
const RefusedState = "WrongState"

// BatchWorkflowID is the Temporal workflow id of the batch with this id.
func BatchWorkflowID(id string) string { return "batch/" + id }

// BatchTaskQueue is where the changes of batches are applied, one batch at a time in
// each worker process (V-13, V-15); taskQueue is the workflows'.
func BatchTaskQueue(taskQueue string) string { return taskQueue + "-batches" }
