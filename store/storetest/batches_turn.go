package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var turnTests = []batchTest{
	{"an attempt that takes its turn gets everything", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 2)
		b.accept(t, want)
		row := b.take(t, want, store.FenceOf(1, 3))
		require.Len(t, row.Batch.GetChanges(), 2)
		require.Equal(t, store.FenceOf(1, 3), row.Fence)
		st := row.Batch.GetStatus()
		require.Equal(t, gnomonv1.BatchStatus_PROCESSING, st.GetState(), "the round's head may not have been written before")
		require.EqualValues(t, 1, st.GetRound())
		require.EqualValues(t, 3, st.GetAttempts())
		require.True(t, st.GetStartTime().AsTime().Equal(epoch))
		requireProto(t, row.Batch, b.get(t, "a").Batch)
		again := b.take(t, want, store.FenceOf(1, 3))
		requireProto(t, row.Batch, again.Batch)
		// The workflow's own write of the round's head, that comes late, changes nothing.
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 1, gnomonv1.BatchStatus_PROCESSING, 1)})
		require.NoError(t, err)
		requireProto(t, row.Batch, b.get(t, "a").Batch)
	}},
	// V-12: the single status is stored, and counted.
	{"changes are begun and recorded", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 3)
		b.accept(t, want)
		fence := store.FenceOf(1, 1)
		b.take(t, want, fence)
		st, err := b.BeginChange(t.Context(), beginning(want, 1, fence))
		require.NoError(t, err)
		require.Equal(t, gnomonv1.ChangeStatus_PENDING, st.GetState())
		require.EqualValues(t, 1, st.GetAttempts())
		require.Equal(t, "a/uid-1/1", st.GetIdempotencyKey())
		require.Equal(t, "worker-1", st.GetWorker())
		row := b.get(t, "a")
		require.Equal(t, []store.Lease{{Index: 1, Fence: fence, Expires: epoch.Add(2 * time.Minute)}}, row.Leases)
		requireProto(t, st, row.Batch.GetChanges()[1].GetStatus())

		st, err = b.RecordChange(t.Context(), ending(want, 1, fence, "no such host"))
		require.NoError(t, err)
		require.Equal(t, gnomonv1.ChangeStatus_FAILED, st.GetState())
		require.Equal(t, "no such host", st.GetError())
		require.True(t, st.GetFinishTime().AsTime().Equal(epoch.Add(time.Minute+time.Second)))
		st = b.apply(t, want, 0, fence, "")
		require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, st.GetState())
		row = b.get(t, "a")
		require.Empty(t, row.Leases)
		counts := row.Batch.GetStatus()
		require.Equal(t, []uint32{1, 1, 1}, []uint32{counts.GetPendingChanges(), counts.GetCompleteChanges(), counts.GetFailedChanges()})
		require.EqualValues(t, 1, row.Revision, "changes are no revision of the head")
	}},
	{"what comes again, since its answer was lost, counts once", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		fence := store.FenceOf(1, 1)
		b.take(t, want, fence)
		for range 2 {
			st, err := b.BeginChange(t.Context(), beginning(want, 0, fence))
			require.NoError(t, err)
			require.EqualValues(t, 1, st.GetAttempts())
		}
		for range 2 {
			st, err := b.RecordChange(t.Context(), ending(want, 0, fence, ""))
			require.NoError(t, err)
			require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, st.GetState())
		}
		require.EqualValues(t, 1, b.get(t, "a").Batch.GetStatus().GetCompleteChanges())
	}},
	// V-14: a stale worker can neither apply nor record.
	{"a later attempt shuts out the earlier one", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 3)
		b.accept(t, want)
		first, second := store.FenceOf(1, 1), store.FenceOf(1, 2)
		b.take(t, want, first)
		_, err := b.BeginChange(t.Context(), beginning(want, 0, first))
		require.NoError(t, err)
		row := b.take(t, want, second)
		require.Len(t, row.Leases, 1, "it may still be applied by the first")

		_, err = b.TakeTurn(t.Context(), turn(want, first))
		require.ErrorIs(t, err, store.ErrStale)
		_, err = b.BeginChange(t.Context(), beginning(want, 1, first))
		require.ErrorIs(t, err, store.ErrStale)
		_, err = b.RecordChange(t.Context(), ending(want, 0, first, "too late"))
		require.ErrorIs(t, err, store.ErrStale)
		_, err = b.RecordChange(t.Context(), ending(want, 0, second, ""))
		require.ErrorIs(t, err, store.ErrStale, "it was not begun by the second")

		again := beginning(want, 0, second)
		again.Expires = again.Expires.Add(time.Minute)
		st, err := b.BeginChange(t.Context(), again)
		require.NoError(t, err)
		require.EqualValues(t, 2, st.GetAttempts())
		require.Equal(t, "a/uid-1/0", st.GetIdempotencyKey(), "the key is the same")
		st, err = b.RecordChange(t.Context(), ending(want, 0, second, ""))
		require.NoError(t, err)
		require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, st.GetState())
		_, err = b.RecordChange(t.Context(), ending(want, 0, first, "too late"))
		require.ErrorIs(t, err, store.ErrStale)
	}},
	{"an attempt that had no answer leaves the change in doubt and its lease", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		fence := store.FenceOf(1, 1)
		b.take(t, want, fence)
		_, err := b.BeginChange(t.Context(), beginning(want, 0, fence))
		require.NoError(t, err)
		doubt := ending(want, 0, fence, "")
		doubt.Doubt = "no answer"
		st, err := b.RecordChange(t.Context(), doubt)
		require.NoError(t, err)
		require.Equal(t, gnomonv1.ChangeStatus_PENDING, st.GetState())
		require.Equal(t, "no answer", st.GetError())
		row := b.get(t, "a")
		require.Equal(t, []store.Lease{{Index: 0, Fence: fence, Expires: doubt.At}}, row.Leases)
		require.EqualValues(t, 1, row.Batch.GetStatus().GetPendingChanges())
		again := beginning(want, 0, fence)
		again.Expires = again.Expires.Add(time.Minute)
		_, err = b.BeginChange(t.Context(), again)
		require.NoError(t, err)
		st, err = b.RecordChange(t.Context(), ending(want, 0, fence, ""))
		require.NoError(t, err)
		require.Empty(t, st.GetError())
		require.EqualValues(t, 2, st.GetAttempts())
	}},
	{"a change that is finished is never begun again", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 2)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 1))
		b.apply(t, want, 0, store.FenceOf(1, 1), "")
		b.apply(t, want, 1, store.FenceOf(1, 1), "no")
		b.take(t, want, store.FenceOf(2, 1))
		for index := range 2 {
			_, err := b.BeginChange(t.Context(), beginning(want, index, store.FenceOf(2, 1)))
			require.ErrorIs(t, err, store.ErrStale)
		}
	}},
	// V-19: the end of a round shuts out all its attempts.
	{"a head can shut out the attempts before it", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 101))
		_, err := b.PutBatch(t.Context(), store.BatchWrite{
			Head: headOf(want, 2, gnomonv1.BatchStatus_MANUAL_REVIEW, 1), Raise: store.FenceOf(2, 0),
		})
		require.NoError(t, err)
		_, err = b.BeginChange(t.Context(), beginning(want, 0, store.FenceOf(1, 101)))
		require.ErrorIs(t, err, store.ErrStale)
		_, err = b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 2, gnomonv1.BatchStatus_COMPLETE, 1), Fence: store.FenceOf(1, 101)})
		require.ErrorIs(t, err, store.ErrStale)
		row := b.take(t, want, store.FenceOf(2, 1))
		require.EqualValues(t, 1, row.Batch.GetStatus().GetAttempts())
		require.EqualValues(t, 2, row.Batch.GetStatus().GetRound())
	}},
	{"a round that is over is not begun again", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 1))
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(want, 2, gnomonv1.BatchStatus_COMPLETE, 1), Fence: store.FenceOf(1, 1)})
		require.NoError(t, err)
		before := b.get(t, "a")
		row := b.take(t, want, store.FenceOf(1, 2))
		require.EqualValues(t, 2, row.Revision)
		require.Equal(t, store.FenceOf(1, 1), row.Fence)
		requireProto(t, before.Batch, b.get(t, "a").Batch)
	}},
	{"what does not stand is not found", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		other := aBatch("a", "uid-2", 1)
		_, err := b.TakeTurn(t.Context(), turn(other, store.FenceOf(1, 1)))
		require.ErrorIs(t, err, store.ErrNotFound)
		b.take(t, want, store.FenceOf(1, 1))
		_, err = b.BeginChange(t.Context(), beginning(other, 0, store.FenceOf(1, 1)))
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.BeginChange(t.Context(), beginning(want, 1, store.FenceOf(1, 1)))
		require.ErrorIs(t, err, store.ErrNotFound, "there is no such change")
		_, err = b.RecordChange(t.Context(), ending(aBatch("z", "uid-1", 1), 0, store.FenceOf(1, 1), ""))
		require.ErrorIs(t, err, store.ErrNotFound)
	}},
}
