package entity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// pricing adds a price to an offer that has none, and counts its visits in its state.
func pricing() *played {
	return &played{
		should: func(r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
			return answer(r.GetEntity().GetContent().GetFields()["price"] == nil), nil
		},
		process: func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
			visits := &wrapperspb.Int64Value{}
			if r.GetState().GetState() != nil {
				if err := r.GetState().GetState().UnmarshalTo(visits); err != nil {
					return nil, err
				}
			}
			visits.Value++
			state, err := anypb.New(visits)
			return &gnomonv1.ProcessResponse{
				EntityUpdate: &gnomonv1.ProcessResponse_Content{Content: with(r.GetEntity().GetContent(), "price", 100)}, State: state,
			}, err
		},
	}
}

// Issue 7, the whole way: an offer is put, a stage enriches it, its state stands beside it,
// nothing is pending any more, and what was saved is published in order.
func TestPutToPublished(t *testing.T) {
	t.Parallel()
	price, bystander := pricing(), &played{should: func(*gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		return answer(false), nil
	}}
	s := open(t, stage("price", price, nil), stage("bystander", bystander, nil))
	require.EqualValues(t, 1, s.put("o", map[string]any{"model": "a4"}).GetVersion())
	e := s.reaches("o", 2)
	require.Equal(t, map[string]any{"model": "a4", "price": 100.0}, e.GetContent().AsMap())
	require.Equal(t, "price", e.GetChangedByStage())
	require.Empty(t, s.settles("o").GetTimers())
	require.Equal(t, []int64{1}, price.seen("o"), "G-23: the stage is not asked about what it made")
	require.Empty(t, bystander.seen("o"))

	st, err := s.calls.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: s.kind, Id: "o", Stage: "price"})
	require.NoError(t, err)
	require.EqualValues(t, 1, st.GetVersion())
	visits := &wrapperspb.Int64Value{}
	require.NoError(t, st.GetState().UnmarshalTo(visits))
	require.EqualValues(t, 1, visits.GetValue())
	st, err = s.calls.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: s.kind, Id: "o", Stage: "bystander"})
	require.NoError(t, err)
	require.True(t, proto.Equal(&gnomonv1.StageState{}, st), "G-07")

	s.becomes("it is published", func() bool { return len(s.saved.of(s.kind+"/o")) == 2 })
	records := s.saved.of(s.kind + "/o")
	require.EqualValues(t, 1, records[0].GetSequence())
	require.Empty(t, records[0].GetStage())
	require.EqualValues(t, 2, records[1].GetEntity().GetVersion())
	require.Equal(t, "price", records[1].GetStage())
	require.True(t, records[1].GetChanged())

	// The same content again asks nobody and publishes nothing (G-24).
	asked := len(bystander.asked)
	require.EqualValues(t, 2, s.put("o", map[string]any{"model": "a4", "price": 100.0}).GetVersion())
	s.settles("o")
	require.Len(t, bystander.asked, asked)
	require.Len(t, s.saved.of(s.kind+"/o"), 2)
}
