package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/store/faulty"
)

// The states that are waited for, and the decisions.
const (
	inReview   = gnomonv1.BatchStatus_MANUAL_REVIEW
	processing = gnomonv1.BatchStatus_PROCESSING
	retry      = gnomonv1.ReviewBatchRequest_RETRY
)

// TestBatchEnds records batches that wait and those that ended by themselves.
func TestBatchEnds(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	b.submit(t, "batch-waiting", far, "/ok")
	b.happens(t, "batch-waiting", sleeps, 1)
	b.submit(t, "batch-complete", b.soon(t), "/ok", "/ok", "/ok")
	b.submit(t, "batch-partial-failure", b.soon(t), "/ok", "/status/409")
	b.submit(t, "batch-failed", b.soon(t), "/status/400", "/status/404")
	b.settles(t, "batch-waiting")
	made.save(t, b.installation, "batch-waiting")
	b.closed(t, "batch-complete", "batch-partial-failure", "batch-failed")
}

// TestBatchNotAccepted records a workflow that has no batch.
func TestBatchNotAccepted(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	const id = "batch-not-accepted"
	_, err := b.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflowv1.BatchWorkflowID(id), TaskQueue: b.queue,
	}, workflowv1.BatchWorkflow, batch.New(&gnomonv1.Batch{Id: id, Uid: "none"}, time.Now(), ""))
	require.NoError(t, err)
	b.happens(t, id, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, 1)
	made.save(t, b.installation, id)
}

// TestBatchProcessing records a batch in the middle of its changes, before and after it
// told of its progress, and commands that came meanwhile.
func TestBatchProcessing(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"batch-processing", "batch-progress-told", "batch-commands-while-processing"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			b := open(t, 0)
			b.submit(t, id, b.soon(t), "/ok", "/block/"+id, "/ok")
			b.reaches(t, "/block/"+id)
			switch id {
			case "batch-progress-told":
				b.happens(t, id, signalled, 1)
			case "batch-commands-while-processing":
				b.signal(t, id, workflowv1.CommandCancel, nil)
				b.signal(t, id, workflowv1.CommandReview, &workflowv1.BatchCommand{Decision: retry})
				b.cancel(t, id)
				b.settles(t, id)
				b.releases(t, id)
				b.closed(t, id)
				return
			default:
			}
			b.settles(t, id)
			made.save(t, b.installation, id)
		})
	}
}

// TestBatchRetrying records a batch between two attempts of a round.
func TestBatchRetrying(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	const id = "batch-retrying"
	b.submit(t, id, b.soon(t), "/ok", "/status/500")
	b.pends(t, id, workflowv1.ProcessBatchActivity)
	made.save(t, b.installation, id)
}

// TestBatchLosses records what becomes of batches whose worker is killed -9, in the last
// attempt and before.
func TestBatchLosses(t *testing.T) {
	t.Parallel()
	for id, attempts := range map[string]int32{"batch-complete-after-lost-worker": 0, "batch-in-review-by-lost-worker": 1} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			b := openIdle(t, attempts)
			b.applyLimit = lostApplyLimit
			var flags []string
			if attempts > 0 {
				flags = []string{"--batch-attempts", "1"}
			}
			doomed := b.workElsewhere(t, flags...)
			b.submit(t, id, b.soon(t), "/ok", "/block/"+id, "/ok")
			b.reaches(t, "/block/"+id)
			doomed.kill()
			b.inbox.Release()
			b.work(t)
			if attempts == 0 {
				b.releases(t, id)
				b.closed(t, id)
				return
			}
			b.comes(t, id, inReview, 1)
			b.rests(t, id)
			made.save(t, b.installation, id)
		})
	}
}

// TestBatchLate records a batch whose time came while no worker ran, and commands that
// were left then.
func TestBatchLate(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	const late, cancelled = "batch-complete-late", "batch-cancelled-without-workers"
	for _, id := range []string{late, cancelled} {
		b.submit(t, id, b.soon(t), "/ok")
	}
	b.happens(t, late, sleeps, 1)
	b.happens(t, cancelled, sleeps, 1)
	b.rest()
	later := time.Now().Add(b.soon(t))
	b.signal(t, cancelled, workflowv1.CommandReschedule, map[string]any{"scheduledAt": later.UTC().Format(time.RFC3339Nano)})
	b.cancel(t, cancelled)
	b.signal(t, cancelled, workflowv1.CommandReschedule, map[string]any{"scheduledAt": later.UTC().Format(time.RFC3339Nano)})
	passes(t, later)
	b.work(t)
	b.closed(t, late, cancelled)
}

// TestBatchCommands records commands to batches that wait.
func TestBatchCommands(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	all := []string{
		"batch-cancelled", "batch-cancelled-by-signal", "batch-cancelled-by-temporal",
		"batch-rescheduled", "batch-rescheduled-by-signal", "batch-malformed-signals",
	}
	for _, id := range all {
		b.submit(t, id, far, "/ok")
		b.happens(t, id, sleeps, 1)
	}
	_, err := b.calls.CancelBatch(t.Context(), &gnomonv1.CancelBatchRequest{Id: "batch-cancelled", Comment: "not today", RequestId: "r-1"})
	require.NoError(t, err)
	b.signal(t, "batch-cancelled-by-signal", workflowv1.CommandCancel, nil)
	b.cancel(t, "batch-cancelled-by-temporal")
	b.closed(t, all[:3]...)

	_, err = b.calls.RescheduleBatch(t.Context(), &gnomonv1.RescheduleBatchRequest{Id: "batch-rescheduled", ScheduledAt: inFuture(2 * far)})
	require.NoError(t, err)
	b.happens(t, "batch-rescheduled", sleeps, 2)
	b.rests(t, "batch-rescheduled")
	made.save(t, b.installation, "batch-rescheduled")

	b.signal(t, "batch-malformed-signals", workflowv1.CommandCancel, "not a command")
	b.signal(t, "batch-malformed-signals", "explode", nil)
	b.signal(t, "batch-malformed-signals", workflowv1.SignalBatchProgress, []byte{0xff, 0})
	b.signal(t, "batch-malformed-signals", workflowv1.CommandReview, nil)
	for _, id := range []string{"batch-malformed-signals", "batch-rescheduled-by-signal"} {
		b.signal(t, id, workflowv1.CommandReschedule, &workflowv1.BatchCommand{Id: "c-1", ScheduledAt: inFuture(b.soon(t))})
		b.closed(t, id)
	}
}

// TestBatchStoreDown records heads that the store does not take, and a round in which it
// fails.
func TestBatchStoreDown(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	const cancelled, rescheduled, complete = "batch-cancelled-store-down", "batch-rescheduled-store-down", "batch-complete-after-store-down"
	for _, id := range []string{cancelled, rescheduled} {
		b.submit(t, id, far, "/ok")
		b.happens(t, id, sleeps, 1)
	}
	b.submit(t, complete, b.soon(t), "/ok", "/ok")
	b.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutBatch}})
	_, err := b.calls.CancelBatch(t.Context(), &gnomonv1.CancelBatchRequest{Id: cancelled})
	require.NoError(t, err)
	_, err = b.calls.RescheduleBatch(t.Context(), &gnomonv1.RescheduleBatchRequest{Id: rescheduled, ScheduledAt: inFuture(2 * far)})
	require.NoError(t, err)
	for _, id := range []string{cancelled, rescheduled} {
		b.pends(t, id, workflowv1.StoreBatchActivity)
		made.save(t, b.installation, id)
	}
	b.pends(t, complete, workflowv1.ProcessBatchActivity)
	b.store.Set(faulty.Faults{})
	b.closed(t, complete)
}
