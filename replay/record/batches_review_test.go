package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/faulty"
)

// inFuture is a time from now.
func inFuture(in time.Duration) *timestamppb.Timestamp { return timestamppb.New(time.Now().Add(in)) }

// turnBad submits batches that are no longer valid at their time, and waits for review.
func (b *bureau) turnBad(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		b.submit(t, id, b.soon(t), "/ok", "/ok")
		b.judge.says(true, id)
	}
	for _, id := range ids {
		b.comes(t, id, inReview, 1)
	}
}

// TestBatchReview records batches in review, and what was decided about them.
func TestBatchReview(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	b.turnBad(t, "batch-in-review", "batch-in-review-again", "batch-retried", "batch-retried-by-signal",
		"batch-postponed", "batch-given-up", "batch-given-up-by-temporal")
	b.rests(t, "batch-in-review")
	made.save(t, b.installation, "batch-in-review")

	b.review(t, retry, "batch-in-review-again")
	b.comes(t, "batch-in-review-again", inReview, 2)
	b.rests(t, "batch-in-review-again")
	b.rests(t, "batch-postponed")
	b.review(t, gnomonv1.ReviewBatchRequest_RESCHEDULE, "batch-postponed")
	b.happens(t, "batch-postponed", sleeps, 2)
	b.rests(t, "batch-postponed")
	made.save(t, b.installation, "batch-in-review-again", "batch-postponed")

	b.judge.says(false, "batch-retried", "batch-retried-by-signal")
	b.review(t, retry, "batch-retried")
	b.signal(t, "batch-retried-by-signal", workflowv1.CommandReview, map[string]any{"decision": "RETRY"})
	b.review(t, gnomonv1.ReviewBatchRequest_CANCEL, "batch-given-up")
	b.cancel(t, "batch-given-up-by-temporal")
	b.closed(t, "batch-retried", "batch-retried-by-signal", "batch-given-up", "batch-given-up-by-temporal")
}

// TestBatchUntold records batches in review that people could not be told of, and
// decisions that come before they are.
func TestBatchUntold(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	b.judge.hears(false)
	all := []string{"batch-in-review-untold", "batch-retried-untold", "batch-retried-twice-untold"}
	b.turnBad(t, all...)
	for _, id := range all {
		b.pends(t, id, workflowv1.NotifyBatchActivity)
	}
	made.save(t, b.installation, "batch-in-review-untold")
	b.review(t, retry, "batch-retried-twice-untold")
	b.comes(t, "batch-retried-twice-untold", inReview, 2)
	b.pends(t, "batch-retried-twice-untold", workflowv1.NotifyBatchActivity)
	made.save(t, b.installation, "batch-retried-twice-untold")
	b.judge.says(false, "batch-retried-untold")
	b.review(t, retry, "batch-retried-untold")
	b.closed(t, "batch-retried-untold")
}

// TestBatchAttemptsSpent records rounds that were begun as often as they may be.
func TestBatchAttemptsSpent(t *testing.T) {
	t.Parallel()
	b := open(t, 2)
	const spent, abandoning = "batch-in-review-by-attempts", "batch-abandoning"
	b.submit(t, spent, b.soon(t), "/ok", "/status/503")
	b.comes(t, spent, inReview, 1)
	b.rests(t, spent)
	made.save(t, b.installation, spent)
	b.submit(t, abandoning, b.soon(t), "/ok", "/status/503")
	b.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutBatch}})
	b.happens(t, abandoning, failed, 1)
	b.pends(t, abandoning, workflowv1.AbandonBatchActivity)
	made.save(t, b.installation, abandoning)
}

// TestBatchContinued records batches whose history grew long while they waited for their
// time and for a person, and their next runs.
func TestBatchContinued(t *testing.T) {
	t.Parallel()
	b := open(t, 0)
	const waiting, reviewed = "batch-waiting-continued", "batch-in-review-continued"
	b.submit(t, waiting, far, "/ok")
	b.happens(t, waiting, sleeps, 1)
	b.turnBad(t, reviewed)
	b.rests(t, reviewed)
	for _, id := range []string{waiting, reviewed} {
		full := b.run(t, id)
		for b.run(t, id) == full {
			b.signal(t, id, "explode", nil)
			b.settles(t, id)
		}
		b.rests(t, id)
		made.saveRun(t, b.installation, id, full, id)
	}
	b.happens(t, waiting, sleeps, 1)
	_, err := b.calls.CancelBatch(t.Context(), &gnomonv1.CancelBatchRequest{Id: waiting})
	require.NoError(t, err)
	b.judge.says(false, reviewed)
	b.review(t, retry, reviewed)
	for _, id := range []string{waiting, reviewed} {
		b.happens(t, id, ends, 1)
		made.saveRun(t, b.installation, id, b.run(t, id), id+"-next")
	}
}
