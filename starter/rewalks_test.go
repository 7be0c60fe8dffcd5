package starter

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// G-30: a walk is one workflow of the stage's name.
func TestWalks(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	_, err := f.GetRewalk(t.Context(), &gnomonv1.GetRewalkRequest{Stage: "price"})
	requireReason(t, err, codes.NotFound, reasonRewalkNotFound)
	running := &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING, Walked: 3}
	f.temporal.open["rewalk/price"] = running
	got, err := f.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price", Unconditional: true})
	require.NoError(t, err)
	require.True(t, proto.Equal(running, got))
	started := f.temporal.started[0]
	require.Equal(t, "rewalk/price", started.ID)
	require.Equal(t, enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING, started.WorkflowIDConflictPolicy)
	require.True(t, proto.Equal(&workflowv1.RewalkState{
		Walk:       &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING, StartTime: timestamppb.New(noon)},
		EntityType: "offer", Rate: 100, Unconditional: true,
	}, f.temporal.inputs[0].(proto.Message)))

	f.temporal.cancelled = func(id string) {
		delete(f.temporal.open, id)
		f.rows.walks["price"] = &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_CANCELLED, Walked: 4}
		f.temporal.ends = map[string]ending{id: {result: f.rows.walks["price"]}}
	}
	for range 2 { // again it is answered as it is
		got, err = f.CancelRewalk(t.Context(), &gnomonv1.CancelRewalkRequest{Stage: "price"})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Rewalk_CANCELLED, got.GetState())
	}
	require.Len(t, f.temporal.told, 1)
	got, err = f.GetRewalk(t.Context(), &gnomonv1.GetRewalkRequest{Stage: "price"})
	require.NoError(t, err)
	require.EqualValues(t, 4, got.GetWalked())

	f.temporal.deaf = true
	got, err = f.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price"})
	require.NoError(t, err, "it goes on when there is a worker")
	require.Equal(t, gnomonv1.Rewalk_RUNNING, got.GetState())
	_, err = f.GetRewalk(t.Context(), &gnomonv1.GetRewalkRequest{Stage: "price"})
	requireReason(t, err, codes.Unavailable, reasonNoWorker)
	f.rows.walks["price"] = running
	got, err = f.GetRewalk(t.Context(), &gnomonv1.GetRewalkRequest{Stage: "price"})
	require.NoError(t, err, "the store knows how far it was")
	require.EqualValues(t, 3, got.GetWalked())
	f.temporal.refuse = serviceerror.NewUnavailable("down")
	_, err = f.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price"})
	requireReason(t, err, codes.Unavailable, "TEMPORAL_UNAVAILABLE")
}

// G-30: who cancels a walk is answered how it ended; of one that was terminated, what is known.
func TestCancellingAWalkWaitsForItsEnd(t *testing.T) {
	t.Parallel()
	const id = "rewalk/price"
	f := newEntityFacade(t)
	cancel := func() (*gnomonv1.Rewalk, error) {
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond) // most of it is the worker's
		defer stop()
		return f.CancelRewalk(ctx, &gnomonv1.CancelRewalkRequest{Stage: "price"})
	}
	_, err := cancel()
	requireReason(t, err, codes.NotFound, reasonRewalkNotFound)
	f.temporal.open[id] = &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING}
	_, err = cancel()
	requireReason(t, err, codes.Unavailable, reasonNoWorker)
	require.Len(t, f.temporal.told, 1, "it ends when somebody hears of it")

	for _, c := range []struct {
		ends ending
		want gnomonv1.Rewalk_State
	}{
		{ending{result: &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_CANCELLED}}, gnomonv1.Rewalk_CANCELLED},
		{ending{result: &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_DONE}}, gnomonv1.Rewalk_DONE},
		{ending{err: &temporal.WorkflowExecutionError{}}, gnomonv1.Rewalk_RUNNING}, // terminated
	} {
		f.temporal.ends = map[string]ending{id: c.ends}
		got, err := cancel()
		require.NoError(t, err)
		require.Equal(t, c.want, got.GetState())
	}
	f.temporal.ends = map[string]ending{id: {err: serviceerror.NewUnavailable("down")}}
	_, err = cancel()
	requireReason(t, err, codes.Unavailable, "TEMPORAL_UNAVAILABLE")
}
