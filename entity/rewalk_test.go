package entity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

// G-30: a walk goes on where its last page ended, counts what it passed, and ends once.
func TestWalk(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := &workflowv1.RewalkState{Walk: &gnomonv1.Rewalk{Stage: "price"}, EntityType: "offer", Rate: 2.5, Unconditional: true}
	entity.BeginWalk(s, 7, at)
	require.True(t, proto.Equal(&workflowv1.RewalkPageInput{Stage: "price", EntityType: "offer", Limit: 25, Rate: 2.5, Unconditional: true}, entity.NextPage(s)))
	entity.Walked(s, &workflowv1.RewalkPageResult{Position: "o-3", Walked: 3, Enqueued: 1}, at)
	require.Equal(t, "o-3", entity.NextPage(s).GetAfter())
	entity.Walked(s, &workflowv1.RewalkPageResult{}, at) // a page that was given up at once
	require.Equal(t, "o-3", entity.NextPage(s).GetAfter())
	entity.Walked(s, &workflowv1.RewalkPageResult{Position: "o-7", Walked: 4, Enqueued: 2, End: true}, at.Add(time.Minute))
	entity.CancelWalk(s, at.Add(time.Hour))
	require.True(t, proto.Equal(&gnomonv1.Rewalk{
		Stage: "price", State: gnomonv1.Rewalk_DONE, Walked: 7, Enqueued: 3, Total: 7, Position: "o-7",
		StartTime: timestamppb.New(at), FinishTime: timestamppb.New(at.Add(time.Minute)),
	}, s.GetWalk()), "%v", s.GetWalk())

	cancelled := &workflowv1.RewalkState{}
	entity.BeginWalk(cancelled, 0, at)
	entity.CancelWalk(cancelled, at)
	require.Equal(t, gnomonv1.Rewalk_CANCELLED, cancelled.GetWalk().GetState())
}

// G-30: pages and chunks fit the rate, from the slowest to the fastest.
func TestPaceOfAWalk(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		rate  float64
		limit uint32
		chunk int
	}{{0.01, 1, 1}, {1, 10, 1}, {25, 250, 5}, {100, 1000, 20}, {10_000, 1000, 64}} {
		require.Equal(t, one.limit, entity.NextPage(&workflowv1.RewalkState{Rate: one.rate}).GetLimit())
		pace := entity.PaceOf(one.rate)
		require.Equal(t, one.chunk, pace.Chunk)
		require.InDelta(t, 1/one.rate, pace.After(1).Seconds(), 1e-6)
	}
	require.Zero(t, entity.Pace{}.After(9))
	chunks := entity.Pace{Chunk: 2}.Chunks(make([]*gnomonv1.Entity, 5))
	require.Len(t, chunks, 3)
	require.Len(t, chunks[2], 1)
	require.Empty(t, entity.Pace{}.Chunks(nil))
}
