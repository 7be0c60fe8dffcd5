package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var batchTogetherTests = []batchTest{
	{"of many that accept one id exactly one wins", func(t *testing.T, b *batchBundle) {
		var won atomic.Int32
		together(t, func(client int) error {
			one := aBatch("a", fmt.Sprintf("uid-%d", client), 1)
			if err := b.StageBatch(t.Context(), one, ""); err != nil {
				return err
			}
			_, err := b.AcceptBatch(t.Context(), "a", one.GetUid())
			if err == nil {
				won.Add(1)
			}
			if errors.Is(err, store.ErrBatchExists) {
				return nil
			}
			return err
		})
		require.EqualValues(t, 1, won.Load())
	}},
	// V-13, V-14: however attempts overlap, each change is recorded once, and by the
	// attempt that has the turn.
	{"of many attempts only the last goes on", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		together(t, func(client int) error {
			fence := store.FenceOf(1, uint32(client+1))
			_, err := b.TakeTurn(t.Context(), turn(want, fence))
			if err == nil {
				_, err = b.BeginChange(t.Context(), beginning(want, 0, fence))
			}
			if err == nil && client != writers-1 {
				return nil // it is lost in the middle
			}
			if err == nil {
				_, err = b.RecordChange(t.Context(), ending(want, 0, fence, ""))
			}
			if errors.Is(err, store.ErrStale) && client != writers-1 {
				return nil
			}
			return err
		})
		row := b.get(t, "a")
		require.Equal(t, store.FenceOf(1, writers), row.Fence)
		require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, row.Batch.GetChanges()[0].GetStatus().GetState())
		require.EqualValues(t, 1, row.Batch.GetStatus().GetCompleteChanges())
	}},
	{"changes of many batches are counted", func(t *testing.T, b *batchBundle) {
		together(t, func(client int) error {
			one := aBatch(fmt.Sprintf("b-%d", client), fmt.Sprintf("uid-%d", client), 2)
			b.accept(t, one)
			b.take(t, one, store.FenceOf(1, 1))
			b.apply(t, one, 0, store.FenceOf(1, 1), "")
			b.apply(t, one, 1, store.FenceOf(1, 1), "no")
			return nil
		})
		rows, err := b.ListBatches(t.Context(), store.BatchQuery{Limit: 1000})
		require.NoError(t, err)
		require.Len(t, rows, writers)
		for _, row := range rows {
			st := row.Batch.GetStatus()
			require.Equal(t, []uint32{0, 1, 1}, []uint32{st.GetPendingChanges(), st.GetCompleteChanges(), st.GetFailedChanges()})
		}
	}},
}

// batchCalls is every method that takes a context.
func batchCalls(s store.Batches) map[string]func(context.Context) error {
	want := aBatch("a", "uid-1", 1)
	return map[string]func(context.Context) error{
		"StageBatch": func(ctx context.Context) error { return s.StageBatch(ctx, aBatch("b", "uid-9", 1), "") },
		"AcceptBatch": func(ctx context.Context) error {
			_, err := s.AcceptBatch(ctx, "a", "uid-1")
			return err
		},
		"GetBatch": func(ctx context.Context) error {
			_, err := s.GetBatch(ctx, "a")
			return err
		},
		"GetBatchHead": func(ctx context.Context) error {
			_, err := s.GetBatchHead(ctx, "a")
			return err
		},
		"ListBatches": func(ctx context.Context) error {
			_, err := s.ListBatches(ctx, store.BatchQuery{Limit: 1})
			return err
		},
		"PutBatch": func(ctx context.Context) error {
			_, err := s.PutBatch(ctx, store.BatchWrite{Head: headOf(want, 9, gnomonv1.BatchStatus_CANCELLED, 0)})
			return err
		},
		"TakeTurn": func(ctx context.Context) error {
			_, err := s.TakeTurn(ctx, turn(want, store.FenceOf(1, 2)))
			return err
		},
		"BeginChange": func(ctx context.Context) error {
			_, err := s.BeginChange(ctx, beginning(want, 0, store.FenceOf(1, 1)))
			return err
		},
		"RecordChange": func(ctx context.Context) error {
			_, err := s.RecordChange(ctx, ending(want, 0, store.FenceOf(1, 1), ""))
			return err
		},
		"PurgeStaged": func(ctx context.Context) error {
			_, err := s.PurgeStaged(ctx, epoch.Add(time.Hour), 1)
			return err
		},
	}
}

var batchLifecycleTests = []batchTest{
	{"a context that has ended does nothing", func(t *testing.T, b *batchBundle) {
		want := aBatch("a", "uid-1", 1)
		b.accept(t, want)
		b.take(t, want, store.FenceOf(1, 1))
		before := b.get(t, "a").Batch
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		late, done := context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer done()
		for name, call := range batchCalls(b) {
			require.ErrorIs(t, call(cancelled), context.Canceled, name)
			require.ErrorIs(t, call(late), context.DeadlineExceeded, name)
		}
		requireProto(t, before, b.get(t, "a").Batch)
	}},
	{"a closed store refuses every call", func(t *testing.T, b *batchBundle) {
		b.accept(t, aBatch("a", "uid-1", 1))
		require.NoError(t, b.Close())
		for name, call := range batchCalls(b) {
			require.Error(t, call(t.Context()), name)
		}
	}},
	{"closing amid calls leaves none hanging", func(t *testing.T, b *batchBundle) {
		together(t, func(client int) error {
			if client == writers/2 {
				return b.Close()
			}
			_ = b.StageBatch(t.Context(), aBatch("a", fmt.Sprintf("uid-%d", client), 1), "") // done or refused
			return nil
		})
	}},
}
