package starter

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/store"
)

// lagging is a Temporal whose workflow refuses so many commands before it has heard that
// its round is over.
type lagging struct {
	client.Client

	refusals int32
	reason   string
	asked    atomic.Int32
	ids      map[string]bool
}

// UpdateWorkflow implements client.Client.
func (l *lagging) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	l.ids[o.UpdateID] = true
	if l.asked.Add(1) <= l.refusals {
		return nil, temporal.NewNonRetryableApplicationError("no", l.reason, nil, gnomonv1.BatchStatus_PROCESSING.String())
	}
	return caughtUp{}, nil
}

// caughtUp is the answer of a workflow that has heard.
type caughtUp struct{ client.WorkflowUpdateHandle }

// Get implements client.WorkflowUpdateHandle.
func (caughtUp) Get(_ context.Context, into any) error {
	proto.Merge(into.(proto.Message), &workflowv1.BatchHead{Id: "b", Status: &gnomonv1.BatchStatus{State: gnomonv1.BatchStatus_PROCESSING, Round: 2}})
	return nil
}

// V-18: the end of a round is stored before the workflow hears of it. A review that the
// store allows is asked for until the workflow knows too, each time as another update; one
// that the store does not allow is refused at once.
func TestReviewWaitsForTheWorkflowToCatchUp(t *testing.T) {
	t.Parallel()
	review := func(t *testing.T, l *lagging, stored gnomonv1.BatchStatus_State, etag bool) error {
		t.Helper()
		f := newBatchFacade(t)
		l.ids = map[string]bool{}
		f.Client = l
		b := wantedBatch("b", "http://fine")
		b.Uid = "7b0b1f3e-6c1e-4f6e-9a55-0f6d5a2f8a10"
		require.NoError(t, f.Store.StageBatch(t.Context(), b, ""))
		_, err := f.Store.AcceptBatch(t.Context(), "b", b.GetUid())
		require.NoError(t, err)
		head := batch.New(b, noon, "").GetHead()
		head.Revision, head.Status.State = 9, stored
		row, err := f.Store.PutBatch(t.Context(), store.BatchWrite{Head: head})
		require.NoError(t, err)
		req := &gnomonv1.ReviewBatchRequest{Id: "b", Decision: gnomonv1.ReviewBatchRequest_RETRY}
		if etag {
			req.Etag = row.Batch.GetEtag()
		}
		_, err = f.ReviewBatch(t.Context(), req)
		return err
	}
	for _, reason := range []string{workflowv1.RefusedState, workflowv1.RefusedEtag} {
		l := &lagging{refusals: 3, reason: reason}
		require.NoError(t, review(t, l, gnomonv1.BatchStatus_MANUAL_REVIEW, true), reason)
		require.EqualValues(t, 4, l.asked.Load())
		require.Len(t, l.ids, 4)
	}
	l := &lagging{refusals: 3, reason: workflowv1.RefusedState}
	err := review(t, l, gnomonv1.BatchStatus_PROCESSING, false)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
	require.EqualValues(t, 1, l.asked.Load())

	// A workflow that never hears is given up on.
	l = &lagging{refusals: 1 << 30, reason: workflowv1.RefusedState}
	began := time.Now()
	err = review(t, l, gnomonv1.BatchStatus_MANUAL_REVIEW, false)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
	require.Greater(t, l.asked.Load(), int32(1))
	require.Less(t, time.Since(began), time.Minute)
}
