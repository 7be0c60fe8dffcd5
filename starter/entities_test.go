package starter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// G-01, G-27: a change of an entity is stored, and its workflow is told the version and
// the fields; content that is the same changes nothing and wakes nobody.
func TestAPutTellsTheWorkflow(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	e := f.put(t, "o-1", map[string]any{"model": "a", "price": 1.0})
	require.EqualValues(t, 1, e.GetVersion())
	require.Equal(t, noon, e.GetCreateTime().AsTime())
	require.EqualValues(t, 2, f.put(t, "o-1", map[string]any{"model": "b", "price": 1.0}).GetVersion())
	require.EqualValues(t, 2, f.put(t, "o-1", map[string]any{"model": "b", "price": 1.0}).GetVersion())
	require.Len(t, f.temporal.told, 2)
	for i, want := range []*workflowv1.EntityChanged{
		{Version: 1, Fields: []string{"model", "price"}}, {Version: 2, Fields: []string{"model"}},
	} {
		told := f.temporal.told[i]
		require.Equal(t, "entity/offer/o-1", told.workflow)
		require.Equal(t, workflowv1.SignalChanged, told.name)
		require.True(t, proto.Equal(want, told.payload), "%v", told.payload)
		require.Equal(t, workflowv1.DefaultTaskQueue, f.temporal.started[i].TaskQueue)
		require.True(t, proto.Equal(&workflowv1.EntityState{Type: "offer", Id: "o-1"}, f.temporal.inputs[i].(proto.Message)))
	}
	require.Zero(t, *f.untold)

	got, err := f.GetEntity(t.Context(), &gnomonv1.GetEntityRequest{Type: "offer", Id: "o-1"})
	require.NoError(t, err)
	require.EqualValues(t, 2, got.GetVersion())
	_, err = f.GetEntity(t.Context(), &gnomonv1.GetEntityRequest{Type: "offer", Id: "o-2"})
	requireReason(t, err, codes.NotFound, reasonEntityNotFound)
	// A type that no stage watches is put all the same.
	_, err = f.PutEntity(t.Context(), &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: "unheard-of", Id: "1", Content: &structpb.Struct{}}})
	require.NoError(t, err)
}

// More fields than a signal should carry are not named: then everybody is asked.
func TestManyFieldsAreNotNamed(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	fields := map[string]any{}
	for i := range 101 {
		fields[fmt.Sprint("f", i)] = true
	}
	f.put(t, "o-1", fields)
	require.True(t, proto.Equal(&workflowv1.EntityChanged{Version: 1}, f.temporal.told[0].payload))
}

// The conditions of a put: version, create_only, request_id, validate_only.
func TestConditionsOfAPut(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	wanted := func(version int64, price float64) *gnomonv1.PutEntityRequest {
		return &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: "offer", Id: "o", Version: version, Content: content(t, map[string]any{"price": price})}}
	}
	for _, only := range []bool{true, false} {
		none := wanted(1, 1)
		none.ValidateOnly = only
		_, err := f.PutEntity(t.Context(), none)
		requireReason(t, err, codes.Aborted, reasonVersionMismatch)
	}
	f.put(t, "o", map[string]any{"price": 1.0})
	for _, only := range []bool{true, false} {
		stale := wanted(2, 2)
		stale.ValidateOnly = only
		_, err := f.PutEntity(t.Context(), stale)
		requireReason(t, err, codes.Aborted, reasonVersionMismatch)
		again := wanted(0, 2)
		again.CreateOnly, again.ValidateOnly = true, only
		_, err = f.PutEntity(t.Context(), again)
		requireReason(t, err, codes.AlreadyExists, reasonEntityExists)
	}
	valid := wanted(1, 2)
	valid.ValidateOnly = true
	e, err := f.PutEntity(t.Context(), valid)
	require.NoError(t, err)
	require.Zero(t, e.GetVersion())
	got, err := f.GetEntity(t.Context(), &gnomonv1.GetEntityRequest{Type: "offer", Id: "o"})
	require.NoError(t, err)
	require.EqualValues(t, 1, got.GetVersion(), "validate_only puts nothing")

	named := wanted(1, 2)
	named.RequestId = "r-1"
	for range 2 {
		e, err = f.PutEntity(t.Context(), named)
		require.NoError(t, err)
		require.EqualValues(t, 2, e.GetVersion())
	}
	require.Len(t, f.temporal.told, 3, "the repeated call tells again, in case the first did not")
	other := wanted(2, 3)
	other.RequestId = "r-1"
	_, err = f.PutEntity(t.Context(), other)
	requireViolation(t, err, "request_id", "REQUEST_ID_REUSED")
	f.rows.err = errors.New("10.0.0.7 said no")
	_, err = f.PutEntity(t.Context(), wanted(0, 9))
	requireReason(t, err, codes.Unavailable, reasonStoreUnavailable)
	require.NotContains(t, err.Error(), "10.0.0.7")
}

// A Temporal that is down, or that does not answer, does not fail a put that is stored:
// it is told later (the sweeper), and operators see it now.
func TestAPutOutlivesTemporal(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	f.temporal.refuse = serviceerror.NewUnavailable("down")
	require.EqualValues(t, 1, f.put(t, "o", map[string]any{"a": "secret"}).GetVersion())
	f.temporal.silent = true
	require.EqualValues(t, 2, f.put(t, "o", map[string]any{"a": "other"}).GetVersion())
	_, err := f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o", Version: 2})
	require.NoError(t, err)
	require.Equal(t, 3, *f.untold)
	require.Equal(t, 3, strings.Count(f.log.String(), "could not be told"))
	require.NotContains(t, f.log.String(), "secret")
	require.Empty(t, f.temporal.told)
}

// A caller that leaves once its put is stored does not keep the workflow from hearing.
func TestTellingOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.PutEntity(ctx, &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: "offer", Id: "o", Content: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewNullValue()}}}})
	require.NoError(t, err)
	require.Len(t, f.temporal.told, 1)
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	_, err := f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o"})
	requireReason(t, err, codes.NotFound, reasonEntityNotFound)
	f.put(t, "o", map[string]any{"a": 1.0})
	_, err = f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o", Version: 7})
	requireReason(t, err, codes.Aborted, reasonVersionMismatch)
	_, err = f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o", Version: 1})
	require.NoError(t, err)
	require.True(t, proto.Equal(&workflowv1.EntityChanged{Version: 2}, f.temporal.told[1].payload))
	require.EqualValues(t, 3, f.put(t, "o", map[string]any{"a": 1.0}).GetVersion())
}

// Pages of entities in the order of their ids; big ones make a page shorter.
func TestPagesOfEntities(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	for i := range 120 {
		f.put(t, fmt.Sprintf("o-%03d", i), map[string]any{"i": float64(i)})
	}
	read := func(entityType string, size int32) (pages []int, ids []string) {
		req := &gnomonv1.ListEntitiesRequest{Type: entityType, PageSize: size}
		for {
			reply, err := f.ListEntities(t.Context(), req)
			require.NoError(t, err)
			for _, e := range reply.GetEntities() {
				ids = append(ids, e.GetId())
			}
			pages = append(pages, len(reply.GetEntities()))
			if req.PageToken = reply.GetNextPageToken(); req.GetPageToken() == "" {
				return pages, ids
			}
		}
	}
	for size, want := range map[int32][]int{0: {50, 50, 20}, 60: {60, 60}, 119: {119, 1}, 120: {120}, 1000: {120}} {
		pages, ids := read("offer", size)
		require.Equal(t, want, pages, "%d", size)
		require.Len(t, ids, 120)
		require.IsIncreasing(t, ids)
	}
	pages, _ := read("order", 0)
	require.Equal(t, []int{0}, pages)
	for i := range 30 {
		f.put(t, fmt.Sprintf("big-%02d", i), map[string]any{"text": strings.Repeat("x", 200<<10)})
	}
	pages, ids := read("offer", 1000)
	require.Equal(t, []int{15, 135}, pages)
	require.Len(t, ids, 150)

	reply, err := f.ListEntities(t.Context(), &gnomonv1.ListEntitiesRequest{Type: "offer", PageSize: 1})
	require.NoError(t, err)
	_, err = f.ListEntities(t.Context(), &gnomonv1.ListEntitiesRequest{Type: "order", PageToken: reply.GetNextPageToken()})
	requireViolation(t, err, "page_token", ruleOtherQuery)
}

// watching collects what a watch sends.
type watching struct {
	grpc.ServerStreamingServer[gnomonv1.WatchEntityResponse]

	ctx  context.Context
	sent chan *gnomonv1.Entity
}

func (w *watching) Context() context.Context { return w.ctx }

func (w *watching) Send(r *gnomonv1.WatchEntityResponse) error {
	w.sent <- r.GetEntity()
	return nil
}

// A watch tells of every version it sees, and ends when the entity is deleted.
func TestWatchingAnEntity(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	w := &watching{ctx: t.Context(), sent: make(chan *gnomonv1.Entity)}
	requireReason(t, f.WatchEntity(&gnomonv1.WatchEntityRequest{Type: "offer", Id: "o"}, w), codes.NotFound, reasonEntityNotFound)
	f.put(t, "o", map[string]any{"a": 1.0})
	ended := make(chan error, 1)
	go func() { ended <- f.WatchEntity(&gnomonv1.WatchEntityRequest{Type: "offer", Id: "o"}, w) }()
	require.EqualValues(t, 1, (<-w.sent).GetVersion())
	f.put(t, "o", map[string]any{"a": 2.0})
	require.EqualValues(t, 2, (<-w.sent).GetVersion())
	_, err := f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o"})
	require.NoError(t, err)
	require.NoError(t, <-ended)
}

// Seed 004, check: what the workflow says; nothing where none is open.
func TestCheckingAnEntity(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	req := &gnomonv1.CheckEntityRequest{Type: "offer", Id: "o"}
	_, err := f.CheckEntity(t.Context(), req)
	requireReason(t, err, codes.NotFound, reasonEntityNotFound)
	f.put(t, "o", map[string]any{"a": 1.0})
	pending := &gnomonv1.CheckEntityResponse{Pending: []*gnomonv1.CheckEntityResponse_Pending{{Stage: "price", EnqueueTime: timestamppb.New(noon)}}}
	for _, one := range []struct {
		open proto.Message
		want *gnomonv1.CheckEntityResponse
	}{
		{nil, &gnomonv1.CheckEntityResponse{}},
		{&commonpb.WorkflowExecution{}, &gnomonv1.CheckEntityResponse{}}, // it has ended
		{pending, pending},
	} {
		f.temporal.open = map[string]proto.Message{}
		if one.open != nil {
			f.temporal.open["entity/offer/o"] = one.open
		}
		got, err := f.CheckEntity(t.Context(), req)
		require.NoError(t, err)
		require.True(t, proto.Equal(one.want, got), "%v", got)
	}
	// The workflow does not know who is declared.
	for _, one := range []struct {
		entityType string
		said, want *gnomonv1.CheckEntityResponse
	}{
		{"offer", &gnomonv1.CheckEntityResponse{Asking: []string{"*"}}, &gnomonv1.CheckEntityResponse{Asking: []string{"price"}}},
		{"offer", &gnomonv1.CheckEntityResponse{Asking: []string{"*"}, Pending: pending.GetPending()}, pending},
		{"offer", &gnomonv1.CheckEntityResponse{Asking: []string{"price"}}, &gnomonv1.CheckEntityResponse{Asking: []string{"price"}}},
		{"unheard-of", &gnomonv1.CheckEntityResponse{Asking: []string{"*"}}, &gnomonv1.CheckEntityResponse{Asking: []string{"*"}}},
	} {
		f.temporal.open["entity/"+one.entityType+"/o"] = one.said
		got, err := f.CheckEntity(t.Context(), &gnomonv1.CheckEntityRequest{Type: one.entityType, Id: "o"})
		require.NoError(t, err)
		require.True(t, proto.Equal(one.want, got), "%v", got)
	}
	f.temporal.deaf = true
	_, err = f.CheckEntity(t.Context(), req)
	requireReason(t, err, codes.Unavailable, reasonNoWorker)
}
