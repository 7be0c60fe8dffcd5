package starter

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// G-18, G-19: a state is read, and changed by compare-and-set only; a mismatch is no error.
func TestStatesAreComparedAndSet(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	f.put(t, "o", map[string]any{"a": 1.0})
	text, err := anypb.New(wrapperspb.String("one"))
	require.NoError(t, err)
	set := func(version int64, visit bool) *gnomonv1.UpdateStageStateResponse {
		r, err := f.UpdateStageState(t.Context(), &gnomonv1.UpdateStageStateRequest{Type: "offer", Id: "o", Stage: "price", State: text, Version: version, Visit: visit})
		require.NoError(t, err)
		return r
	}
	get := &gnomonv1.GetStageStateRequest{Type: "offer", Id: "o", Stage: "price"}
	st, err := f.GetStageState(t.Context(), get)
	require.NoError(t, err)
	require.Zero(t, st.GetVersion())
	r := set(3, true)
	require.False(t, r.GetUpdated())
	require.Zero(t, r.GetCurrent().GetVersion())
	r = set(0, false)
	require.True(t, r.GetUpdated())
	require.EqualValues(t, 1, r.GetCurrent().GetVersion())
	require.Len(t, f.temporal.told, 1, "G-19: it visits nobody by itself, and a mismatch neither")
	require.True(t, set(1, true).GetUpdated())
	require.Equal(t, workflowv1.SignalVisit, f.temporal.told[1].name)
	require.True(t, proto.Equal(&workflowv1.VisitRequested{Stage: "price", Cause: gnomonv1.ProcessRequest_REQUEST, Version: 1}, f.temporal.told[1].payload))
	st, err = f.GetStageState(t.Context(), get)
	require.NoError(t, err)
	require.EqualValues(t, 2, st.GetVersion())
	require.True(t, proto.Equal(text, st.GetState()))

	f.temporal.refuse = serviceerror.NewUnavailable("down")
	_, err = f.UpdateStageState(t.Context(), &gnomonv1.UpdateStageStateRequest{Type: "offer", Id: "o", Stage: "price", Version: 2, Visit: true})
	requireReason(t, err, codes.Unavailable, reasonVisitNotWanted)
	for stage, want := range map[string]string{"nobody": "no stage", "audit": "watches entities of type"} {
		_, err = f.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: "offer", Id: "o", Stage: stage})
		requireReason(t, err, codes.NotFound, reasonStageNotFound)
		require.ErrorContains(t, err, want)
		_, err = f.UpdateStageState(t.Context(), &gnomonv1.UpdateStageStateRequest{Type: "offer", Id: "o", Stage: stage})
		requireReason(t, err, codes.NotFound, reasonStageNotFound)
	}
	_, err = f.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: "offer", Id: "x", Stage: "price"})
	requireReason(t, err, codes.NotFound, reasonEntityNotFound)
}

func TestStagesAreListed(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	reply, err := f.ListStages(t.Context(), &gnomonv1.ListStagesRequest{})
	require.NoError(t, err)
	require.True(t, proto.Equal(&gnomonv1.ListStagesResponse{Stages: []*gnomonv1.Stage{
		{Name: "audit", EntityType: "order"},
		{Name: "price", EntityType: "offer", Address: "127.0.0.1:1", Fields: []string{"model"}, RateLimit: 2.5, Parallelism: 3},
	}}, reply), "%v", reply)
	none, err := NewEntities(Config{Client: f.temporal, Store: f.rows})
	require.NoError(t, err)
	reply, err = none.ListStages(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, reply.GetStages())
}

// G-36: the oldest first, page by page, also where two became due at once.
func TestPeekingAQueue(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	for i := range 5 {
		f.rows.queue = append(f.rows.queue, store.QueueEntry{
			Key: store.EntityKey{Type: "offer", ID: fmt.Sprint("o:", i)}, Stage: "price", EnqueueTime: noon.Add(time.Duration(i/2) * time.Nanosecond), Background: i == 3,
		})
	}
	req := &gnomonv1.PeekStageQueueRequest{Stage: "price", PageSize: 2}
	var got []*gnomonv1.PeekStageQueueResponse_Entry
	for pages := 1; ; pages++ {
		reply, err := f.PeekStageQueue(t.Context(), req)
		require.NoError(t, err)
		got = append(got, reply.GetEntries()...)
		if req.PageToken = reply.GetNextPageToken(); req.GetPageToken() == "" {
			require.Equal(t, 3, pages)
			break
		}
	}
	require.Len(t, got, 5)
	for i, entry := range got {
		want := f.rows.queue[i]
		require.True(t, proto.Equal(&gnomonv1.PeekStageQueueResponse_Entry{Type: "offer", Id: want.Key.ID, EnqueueTime: timestamppb.New(want.EnqueueTime), Background: want.Background}, entry))
	}
	_, err := f.PeekStageQueue(t.Context(), &gnomonv1.PeekStageQueueRequest{Stage: "nobody"})
	requireReason(t, err, codes.NotFound, reasonStageNotFound)
	for _, id := range []string{"x", "1 maybe offer o", "1 true offer .", "x true offer o"} {
		_, err = f.PeekStageQueue(t.Context(), &gnomonv1.PeekStageQueueRequest{Stage: "price", PageToken: listing(`queue "price"`).pageToken(store.ActionPosition{ID: id})})
		requireViolation(t, err, "page_token", ruleMalformed)
	}
}
