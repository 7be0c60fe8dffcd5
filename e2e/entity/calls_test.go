package entity

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// G-09, G-22: an outside writer changes the entity while a stage works on it: what the
// stage made of the old version is dropped, and it works on the new one.
func TestAStageMeetsAnOutsideWriter(t *testing.T) {
	t.Parallel()
	price := pricing()
	plain := price.process
	release, entered := make(chan struct{}), make(chan struct{}, 16)
	price.process = func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		entered <- struct{}{}
		if r.GetEntity().GetVersion() == 1 {
			select {
			case <-release:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return plain(ctx, r)
	}
	s := open(t, stage("price", price, nil))
	s.put("o", map[string]any{"model": "a4"})
	<-entered
	s.put("o", map[string]any{"model": "a5"})
	close(release)
	e := s.reaches("o", 3)
	require.Equal(t, map[string]any{"model": "a5", "price": 100.0}, e.GetContent().AsMap())
	s.settles("o")
	require.Equal(t, []int64{1, 2}, price.seen("o"))
	st, err := s.calls.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: s.kind, Id: "o", Stage: "price"})
	require.NoError(t, err)
	require.EqualValues(t, 1, st.GetVersion(), "the dropped result left no state")
}

// G-18, G-19: who sets a state while its stage works on it is not overwritten.
func TestACompareAndSetBesideAVisit(t *testing.T) {
	t.Parallel()
	price := pricing()
	plain := price.process
	release, entered := make(chan struct{}), make(chan struct{}, 16)
	price.process = func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		entered <- struct{}{}
		if r.GetState().GetVersion() == 0 {
			select {
			case <-release:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return plain(ctx, r)
	}
	s := open(t, stage("price", price, nil))
	s.put("o", map[string]any{"model": "a4"})
	<-entered
	forty, err := anypb.New(wrapperspb.Int64(40))
	require.NoError(t, err)
	set, err := s.calls.UpdateStageState(t.Context(), &gnomonv1.UpdateStageStateRequest{Type: s.kind, Id: "o", Stage: "price", State: forty})
	require.NoError(t, err)
	require.True(t, set.GetUpdated())
	close(release)
	s.reaches("o", 2)
	s.settles("o")
	st, err := s.calls.GetStageState(t.Context(), &gnomonv1.GetStageStateRequest{Type: s.kind, Id: "o", Stage: "price"})
	require.NoError(t, err)
	visits := &wrapperspb.Int64Value{}
	require.NoError(t, st.GetState().UnmarshalTo(visits))
	require.EqualValues(t, 41, visits.GetValue())
	require.EqualValues(t, 2, st.GetVersion())
}

// A visit that fails is seen, with its error, until it succeeds (G-10, G-34).
func TestATroubledVisitIsSeen(t *testing.T) {
	t.Parallel()
	price := pricing()
	plain := price.process
	price.process = func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		return nil, errors.New("the model is not there")
	}
	s := open(t, stage("price", price, nil))
	s.put("o", map[string]any{"model": "a4"})
	var pending *gnomonv1.CheckEntityResponse_Pending
	s.becomes("it has failed", func() bool {
		if all := s.check("o").GetPending(); len(all) == 1 {
			pending = all[0]
		}
		return pending.GetFailures() > 0
	})
	require.Contains(t, pending.GetError(), "the model is not there")
	require.NotNil(t, pending.GetNotBefore())
	price.set(func(p *played) { p.process = plain })
	s.reaches("o", 2)
	s.settles("o")
}

// The conditions of puts and deletions, on the real store.
func TestConditions(t *testing.T) {
	t.Parallel()
	s := open(t)
	put := func(r *gnomonv1.PutEntityRequest, price float64) (*gnomonv1.Entity, error) {
		if r.GetEntity() == nil {
			r.Entity = &gnomonv1.Entity{}
		}
		r.Entity.Type, r.Entity.Id = s.kind, "o"
		r.Entity.Content = &structpb.Struct{Fields: map[string]*structpb.Value{"price": structpb.NewNumberValue(price)}}
		return s.calls.PutEntity(t.Context(), r)
	}
	_, err := put(&gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Version: 1}}, 1)
	require.Equal(t, codes.Aborted, status.Code(err), "%v", err)
	e, err := put(&gnomonv1.PutEntityRequest{CreateOnly: true, RequestId: "r"}, 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, e.GetVersion())
	again, err := put(&gnomonv1.PutEntityRequest{CreateOnly: true, RequestId: "r"}, 1)
	require.NoError(t, err)
	require.Equal(t, e.GetCreateTime().AsTime(), again.GetCreateTime().AsTime())
	_, err = put(&gnomonv1.PutEntityRequest{CreateOnly: true, RequestId: "r"}, 2)
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	_, err = put(&gnomonv1.PutEntityRequest{CreateOnly: true}, 1)
	require.Equal(t, codes.AlreadyExists, status.Code(err), "%v", err)
	e, err = put(&gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Version: 1}}, 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, e.GetVersion())
	_, err = put(&gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Version: 1}}, 3)
	require.Equal(t, codes.Aborted, status.Code(err), "%v", err)
	_, err = s.calls.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: s.kind, Id: "o", Version: 1})
	require.Equal(t, codes.Aborted, status.Code(err), "%v", err)
	_, err = s.calls.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: s.kind, Id: "o", Version: 2})
	require.NoError(t, err)
	_, err = s.calls.GetEntity(t.Context(), &gnomonv1.GetEntityRequest{Type: s.kind, Id: "o"})
	require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
	e, err = put(&gnomonv1.PutEntityRequest{CreateOnly: true}, 9)
	require.NoError(t, err)
	require.EqualValues(t, 4, e.GetVersion())
}

// Lists and queues are paged through, on the real store.
func TestPages(t *testing.T) {
	t.Parallel()
	slow := &played{}
	release := make(chan struct{})
	slow.process = held(release, nil)
	s := open(t, stage("slow", slow, nil))
	const all = 25
	for i := range all {
		s.put(fmt.Sprintf("o-%02d", i), map[string]any{"i": float64(i)})
	}
	var ids []string
	for req := (&gnomonv1.ListEntitiesRequest{Type: s.kind, PageSize: 10}); ; {
		page, err := s.calls.ListEntities(t.Context(), req)
		require.NoError(t, err)
		for _, e := range page.GetEntities() {
			ids = append(ids, e.GetId())
		}
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	require.Len(t, ids, all)
	require.IsIncreasing(t, ids)
	peek := func() (found []*gnomonv1.PeekStageQueueResponse_Entry) {
		for req := (&gnomonv1.PeekStageQueueRequest{Stage: "slow", PageSize: 4}); ; {
			page, err := s.calls.PeekStageQueue(t.Context(), req)
			require.NoError(t, err)
			found = append(found, page.GetEntries()...)
			if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
				return found
			}
		}
	}
	s.becomes("all wait", func() bool { return len(peek()) == all })
	found := peek()
	for i := 1; i < len(found); i++ {
		require.False(t, found[i].GetEnqueueTime().AsTime().Before(found[i-1].GetEnqueueTime().AsTime()), "G-36: the oldest first")
	}
	close(release)
	s.becomes("none waits", func() bool { return len(peek()) == 0 })
}
