package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var acceptTests = []batchTest{
	// V-04: an accepted batch is Pending and comes back whole.
	{"what is accepted comes back in every field", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 3)
		want.Changes[1] = &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: &gnomonv1.DnsRecordChange{
			Action: gnomonv1.DnsRecordChange_UPDATE, Name: "é.example.", Data: []string{"\"x\"", ""},
		}}}
		row := b.accept(t, want)
		head := accepted(want)
		head.Changes = nil
		requireProto(t, head, row.Batch)
		require.Equal(t, "r-1", row.CreateRequestID)
		require.Zero(t, row.Revision)

		got := b.get(t, "a")
		requireProto(t, accepted(want), got.Batch)
		require.Empty(t, got.Leases)
		only, err := b.GetBatchHead(t.Context(), "a")
		require.NoError(t, err)
		requireProto(t, head, only.Batch)
	}},
	{"nobody sees what is only staged", func(t *testing.T, b *batchBundle) {
		require.NoError(t, b.StageBatch(t.Context(), aBatch("a", "uid-1", 1), ""))
		_, err := b.GetBatch(t.Context(), "a")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.GetBatchHead(t.Context(), "a")
		require.ErrorIs(t, err, store.ErrNotFound)
		rows, err := b.ListBatches(t.Context(), store.BatchQuery{Limit: 10})
		require.NoError(t, err)
		require.Empty(t, rows)
	}},
	{"what was never staged cannot be accepted", func(t *testing.T, b *batchBundle) {
		_, err := b.AcceptBatch(t.Context(), "a", "uid-1")
		require.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, b.StageBatch(t.Context(), aBatch("a", "uid-1", 1), ""))
		_, err = b.AcceptBatch(t.Context(), "b", "uid-1")
		require.ErrorIs(t, err, store.ErrNotFound, "it is another id's")
	}},
	{"of two contents of one id the first that is accepted stands", func(t *testing.T, b *batchBundle) {
		first, second := aBatch("a", "uid-1", 1), aBatch("a", "uid-2", 2)
		require.NoError(t, b.StageBatch(t.Context(), first, ""))
		require.NoError(t, b.StageBatch(t.Context(), second, ""))
		_, err := b.AcceptBatch(t.Context(), "a", "uid-2")
		require.NoError(t, err)
		_, err = b.AcceptBatch(t.Context(), "a", "uid-1")
		require.ErrorIs(t, err, store.ErrBatchExists)
		requireProto(t, accepted(second), b.get(t, "a").Batch)
	}},
	// Facade and workflow both do, and a facade that is repeated.
	{"staging and accepting again changes nothing", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 2)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 1))
		b.apply(t, want, 0, store.FenceOf(1, 1), "")
		before := b.get(t, "a")
		require.NoError(t, b.StageBatch(t.Context(), want, ""))
		row, err := b.AcceptBatch(t.Context(), "a", "uid-1")
		require.NoError(t, err)
		require.Equal(t, before.Revision, row.Revision)
		requireProto(t, before.Batch, b.get(t, "a").Batch)
		purged, err := b.PurgeStaged(t.Context(), epoch.Add(time.Hour), 10)
		require.NoError(t, err)
		require.Zero(t, purged)
		requireProto(t, before.Batch, b.get(t, "a").Batch)
	}},
	{"what was staged long ago is purged with its changes", func(t *testing.T, b *batchBundle) {
		for _, uid := range []string{"uid-1", "uid-2", "uid-3"} {
			require.NoError(t, b.StageBatch(t.Context(), aBatch("a", uid, 2), ""))
			b.clock.advance(time.Minute)
		}
		b.accept(t, aBatch("b", "uid-4", 2))
		purged, err := b.PurgeStaged(t.Context(), epoch.Add(2*time.Minute), 1)
		require.NoError(t, err)
		require.Equal(t, 1, purged)
		purged, err = b.PurgeStaged(t.Context(), epoch.Add(2*time.Minute), 10)
		require.NoError(t, err)
		require.Equal(t, 1, purged)
		_, err = b.AcceptBatch(t.Context(), "a", "uid-1")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.AcceptBatch(t.Context(), "a", "uid-3")
		require.NoError(t, err)
		require.Len(t, b.get(t, "a").Batch.GetChanges(), 2)
		require.Len(t, b.get(t, "b").Batch.GetChanges(), 2)
		again := aBatch("c", "uid-1", 1) // its changes are gone too
		b.accept(t, again)
		require.Len(t, b.get(t, "c").Batch.GetChanges(), 1)
		purged, err = b.PurgeStaged(t.Context(), epoch.Add(time.Hour), 0)
		require.NoError(t, err)
		require.Zero(t, purged)
	}},
	// 1,000 changes of the greatest size in all.
	{"the greatest batch", func(t *testing.T, b *batchBundle) {
		want := aBatch("big", "uid-1", 1000)
		for _, c := range want.GetChanges() {
			c.GetHttpChange().ApplyUrl += "?" + strings.Repeat("x", 700)
		}
		b.accept(t, want)
		got := b.get(t, "big").Batch
		require.Len(t, got.GetChanges(), 1000)
		require.True(t, proto.Equal(accepted(want), got))
	}},
}
