package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/store"
)

var headTests = []batchTest{
	{"a newer head is written, an older or equal one is not", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		later := headOf(want, 2, gnomonv1.BatchStatus_CANCELLED, 0)
		later.ScheduledAt = timestamppb.New(epoch.Add(5 * time.Hour))
		later.Status.LastDecision = &gnomonv1.BatchDecision{Decision: "cancel"}
		row, err := b.PutBatch(t.Context(), store.BatchWrite{Head: later})
		require.NoError(t, err)
		require.EqualValues(t, 2, row.Revision)
		require.Equal(t, gnomonv1.BatchStatus_CANCELLED, row.Batch.GetStatus().GetState())
		require.Equal(t, batch.Etag("uid-1", 2), row.Batch.GetEtag())
		for _, revision := range []uint64{1, 2} {
			row, err = b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, revision, gnomonv1.BatchStatus_PENDING, 0)})
			require.NoError(t, err)
			require.Equal(t, gnomonv1.BatchStatus_CANCELLED, row.Batch.GetStatus().GetState(), "what stands is told")
		}
		got := b.get(t, "a").Batch
		require.True(t, got.GetScheduledAt().AsTime().Equal(epoch.Add(5*time.Hour)))
		require.Equal(t, "cancel", got.GetStatus().GetLastDecision().GetDecision())
		require.EqualValues(t, 1, got.GetStatus().GetPendingChanges(), "the counts are the store's")
	}},
	{"a head of another batch finds nothing", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 1, gnomonv1.BatchStatus_CANCELLED, 0)})
		require.ErrorIs(t, err, store.ErrNotFound)
		b.accept(t, want)
		_, err = b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(aBatch("a", "uid-2", 1), 1, gnomonv1.BatchStatus_CANCELLED, 0)})
		require.ErrorIs(t, err, store.ErrNotFound)
		require.Equal(t, gnomonv1.BatchStatus_PENDING, b.get(t, "a").Batch.GetStatus().GetState())
	}},
	// V-09: the problems are stored with the status, and with the change they are about.
	{"problems stand as long as the review", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 2)
		b.accept(t, want)
		index := int32(1)
		problems := []*gnomonv1.Problem{
			{Severity: gnomonv1.Problem_SOFT, Code: "WHOLE"},
			{ChangeIndex: &index, Severity: gnomonv1.Problem_HARD, Code: "RECORD_EXISTS", Message: "é"},
		}
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 2, gnomonv1.BatchStatus_MANUAL_REVIEW, 1), Problems: problems})
		require.NoError(t, err)
		got := b.get(t, "a").Batch
		require.Len(t, got.GetStatus().GetProblems(), 2)
		require.Empty(t, got.GetChanges()[0].GetStatus().GetProblems())
		require.Len(t, got.GetChanges()[1].GetStatus().GetProblems(), 1)
		requireProto(t, problems[1], got.GetChanges()[1].GetStatus().GetProblems()[0])

		_, err = b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 3, gnomonv1.BatchStatus_MANUAL_REVIEW, 1)})
		require.NoError(t, err)
		require.Len(t, b.get(t, "a").Batch.GetStatus().GetProblems(), 2, "nothing was said of them")
		_, err = b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 4, gnomonv1.BatchStatus_PENDING, 1)})
		require.NoError(t, err)
		got = b.get(t, "a").Batch
		require.Empty(t, got.GetStatus().GetProblems())
		require.Empty(t, got.GetChanges()[1].GetStatus().GetProblems())
	}},
	{"only so many problems are kept", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		problems := make([]*gnomonv1.Problem, batch.MaxProblems+1)
		for i := range problems {
			problems[i] = &gnomonv1.Problem{Code: "X"}
		}
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 2, gnomonv1.BatchStatus_MANUAL_REVIEW, 1), Problems: problems})
		require.NoError(t, err)
		require.Len(t, b.get(t, "a").Batch.GetStatus().GetProblems(), batch.MaxProblems)
	}},
	// V-14: neither status nor problems of a batch are a stale attempt's to write.
	{"only the attempt that has the turn writes where one is asked for", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 2))
		w := store.BatchWrite{Head: headOf(want, 2, gnomonv1.BatchStatus_COMPLETE, 1), Fence: store.FenceOf(1, 1)}
		_, err := b.PutBatch(t.Context(), w)
		require.ErrorIs(t, err, store.ErrStale)
		w.Fence = store.FenceOf(1, 2)
		row, err := b.PutBatch(t.Context(), w)
		require.NoError(t, err)
		require.Equal(t, gnomonv1.BatchStatus_COMPLETE, row.Batch.GetStatus().GetState())
		row, err = b.PutBatch(t.Context(), w)
		require.NoError(t, err, "its answer may have been lost")
		require.EqualValues(t, 2, row.Revision)
	}},
}
