package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
)

// Budget of a batch of the greatest size, in events and bytes of history. Temporal warns
// at 4,096 events and 2 MiB, and at payloads of 256 KiB.
const (
	largeEvents  = 120
	largeHistory = 48 << 10
	largeEvent   = 4 << 10
)

// Issue 5, 'It is done when': 1,000 changes in one batch, with bodies as great as a batch
// may be, stay within the limits of histories and payloads, since none of them passes
// through Temporal (V-06); and progress is visible while it runs: in the batch, to those
// who watch, and in the current details of the Web UI.
func TestBatchOfTheGreatestSize(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	wanted := b.of(id, batch.MaxChanges, 5*time.Second)
	fill(t, wanted)
	release := b.other.hold(place(id, 500))
	b.submit(t, wanted)
	now, seen := b.watch(t, id)

	b.other.begun(t, place(id, 500))
	got := b.get(t, id)
	require.Equal(t, gnomonv1.BatchStatus_PROCESSING, got.GetStatus().GetState())
	require.EqualValues(t, 500, got.GetStatus().GetCompleteChanges())
	require.Equal(t, made, got.GetChanges()[499].GetStatus().GetState())
	require.Equal(t, unfinished, got.GetChanges()[500].GetStatus().GetState())
	require.EqualValues(t, 1, got.GetChanges()[500].GetStatus().GetAttempts())
	eventually(t, startWithin, "the current details show the progress", func() bool {
		for n := 451; n <= 500; n++ { // to the twentieth
			if b.shows(t, id, fmt.Sprintf("| progress | %d of 1000 changes are finished", n)) {
				return true
			}
		}
		return false
	})
	running, err := b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
	require.NoError(t, err)
	require.Contains(t, string(running.GetExecutionConfig().GetUserMetadata().GetSummary().GetData()), "1000 changes at ")
	eventually(t, startWithin, "those who watch see it grow", func() bool { return now() == 500 })
	release()
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
	require.Len(t, b.other.of(id), batch.MaxChanges)

	counts := seen()
	for n := 1; n < len(counts); n++ {
		require.GreaterOrEqual(t, counts[n], counts[n-1])
	}
	require.EqualValues(t, batch.MaxChanges, counts[len(counts)-1])

	ended, err := b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
	require.NoError(t, err)
	info := ended.GetWorkflowExecutionInfo()
	largest := 0
	for _, e := range b.history(t, workflowv1.BatchWorkflowID(id)) {
		largest = max(largest, proto.Size(e))
	}
	t.Logf("%d changes, %d bytes: %d events, %d bytes of history, the largest event %d bytes",
		batch.MaxChanges, proto.Size(wanted), info.GetHistoryLength(), info.GetHistorySizeBytes(), largest)
	require.LessOrEqual(t, info.GetHistoryLength(), int64(largeEvents))
	require.LessOrEqual(t, info.GetHistorySizeBytes(), int64(largeHistory))
	require.LessOrEqual(t, largest, largeEvent)
}

// fill gives the changes bodies, until the batch is almost as great as it may be.
func fill(t *testing.T, wanted *gnomonv1.Batch) {
	t.Helper()
	text := make([]byte, 580)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	for _, c := range wanted.GetChanges() {
		c.GetHttpChange().Body = structpb.NewStringValue(string(text))
	}
	require.Greater(t, proto.Size(wanted), batch.MaxSize*9/10)
	require.LessOrEqual(t, proto.Size(wanted), batch.MaxSize)
}

// watch watches a batch to its end. now tells how many changes were finished when it
// changed last; all waits for the end and tells all of these.
func (b *bureau) watch(t *testing.T, id string) (now func() uint32, all func() []uint32) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*startWithin)
	t.Cleanup(cancel)
	stream, err := b.calls.WatchBatch(ctx, &gnomonv1.WatchBatchRequest{Id: id, OmitChanges: true})
	require.NoError(t, err)
	ended := make(chan []uint32, 1)
	var newest atomic.Uint32
	go func() {
		var counts []uint32
		for {
			reply, err := stream.Recv()
			if err != nil {
				ended <- counts
				return
			}
			newest.Store(reply.GetBatch().GetStatus().GetCompleteChanges())
			counts = append(counts, newest.Load())
		}
	}()
	return newest.Load, func() []uint32 { return <-ended }
}
