package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// fakeEntities is an EntityService in memory.
type fakeEntities struct {
	gnomonv1.UnimplementedEntityServiceServer
	history

	all    map[string]*gnomonv1.Entity // by type and id
	states map[string]*gnomonv1.StageState
	// checks are answered one after another, the last again and again.
	checks []*gnomonv1.CheckEntityResponse
	// walks are answered by GetRewalk in the same way.
	walks []*gnomonv1.Rewalk
	queue []*gnomonv1.PeekStageQueueResponse_Entry
	// deleted has the next watch end after its first message.
	deleted bool
	// changes is what WatchEntity sends.
	changes chan *gnomonv1.Entity
}

func newFakeEntities() *fakeEntities {
	return &fakeEntities{
		all: map[string]*gnomonv1.Entity{}, states: map[string]*gnomonv1.StageState{}, changes: make(chan *gnomonv1.Entity, 16),
		checks: []*gnomonv1.CheckEntityResponse{{}}, walks: []*gnomonv1.Rewalk{{Stage: "price", State: gnomonv1.Rewalk_DONE, Walked: 3, Total: 3}},
	}
}

func (f *fakeEntities) deletesSoon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = true
}

func (f *fakeEntities) find(r interface {
	GetType() string
	GetId() string
},
) (*gnomonv1.Entity, error) {
	if e := f.all[r.GetType()+"/"+r.GetId()]; e != nil {
		return e, nil
	}
	return nil, status.Errorf(codes.NotFound, "no %s %q", r.GetType(), r.GetId())
}

func (f *fakeEntities) PutEntity(_ context.Context, r *gnomonv1.PutEntityRequest) (*gnomonv1.Entity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	e := proto.CloneOf(r.GetEntity())
	if r.GetValidateOnly() {
		return e, nil
	}
	key := e.GetType() + "/" + e.GetId()
	e.Version = f.all[key].GetVersion() + 1
	e.CreateTime, e.UpdateTime = timestamppb.New(testNow), timestamppb.New(testNow)
	f.all[key] = e
	return e, nil
}

func (f *fakeEntities) GetEntity(_ context.Context, r *gnomonv1.GetEntityRequest) (*gnomonv1.Entity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	return f.find(r)
}

func (f *fakeEntities) ListEntities(_ context.Context, r *gnomonv1.ListEntitiesRequest) (*gnomonv1.ListEntitiesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	var of []*gnomonv1.Entity
	for _, key := range slices.Sorted(maps.Keys(f.all)) {
		if f.all[key].GetType() == r.GetType() {
			of = append(of, f.all[key])
		}
	}
	from, _ := strconv.Atoi(r.GetPageToken())
	to := len(of)
	if size := int(r.GetPageSize()); size > 0 {
		to = min(to, from+size)
	}
	reply := &gnomonv1.ListEntitiesResponse{Entities: of[from:to]}
	if to < len(of) {
		reply.NextPageToken = strconv.Itoa(to)
	}
	return reply, nil
}

func (f *fakeEntities) DeleteEntity(_ context.Context, r *gnomonv1.DeleteEntityRequest) (*gnomonv1.DeleteEntityResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	_, err := f.find(r)
	delete(f.all, r.GetType()+"/"+r.GetId())
	return &gnomonv1.DeleteEntityResponse{}, err
}

func (f *fakeEntities) WatchEntity(r *gnomonv1.WatchEntityRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchEntityResponse]) error {
	f.mu.Lock()
	e, err := f.find(r)
	deleted := f.deleted
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err := stream.Send(&gnomonv1.WatchEntityResponse{Entity: e}); err != nil || deleted {
		return err
	}
	return relay(stream.Context(), f.changes, func(e *gnomonv1.Entity) error {
		return stream.Send(&gnomonv1.WatchEntityResponse{Entity: e})
	})
}

func (f *fakeEntities) CheckEntity(_ context.Context, r *gnomonv1.CheckEntityRequest) (*gnomonv1.CheckEntityResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	now := f.checks[0]
	if len(f.checks) > 1 {
		f.checks = f.checks[1:]
	}
	return now, nil
}

func (f *fakeEntities) GetStageState(_ context.Context, r *gnomonv1.GetStageStateRequest) (*gnomonv1.StageState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	if st := f.states[r.GetStage()]; st != nil {
		return st, nil
	}
	return &gnomonv1.StageState{}, nil
}

func (f *fakeEntities) UpdateStageState(_ context.Context, r *gnomonv1.UpdateStageStateRequest) (*gnomonv1.UpdateStageStateResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	stands := f.states[r.GetStage()]
	if stands.GetVersion() != r.GetVersion() {
		return &gnomonv1.UpdateStageStateResponse{Updated: new(false), Current: stands}, nil
	}
	f.states[r.GetStage()] = &gnomonv1.StageState{State: r.GetState(), Version: r.GetVersion() + 1, UpdateTime: timestamppb.New(testNow)}
	return &gnomonv1.UpdateStageStateResponse{Updated: new(true), Current: f.states[r.GetStage()]}, nil
}

func (f *fakeEntities) ListStages(_ context.Context, r *gnomonv1.ListStagesRequest) (*gnomonv1.ListStagesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &gnomonv1.ListStagesResponse{Stages: []*gnomonv1.Stage{
		{Name: "audit", EntityType: "order"},
		{Name: "price", EntityType: "offer", Address: "127.0.0.1:7900", Fields: []string{"model", "year"}, RateLimit: 2.5, Parallelism: 4},
		{Name: "withdraw", EntityType: "offer"},
	}}, f.accept(r)
}

func (f *fakeEntities) PeekStageQueue(_ context.Context, r *gnomonv1.PeekStageQueueRequest) (*gnomonv1.PeekStageQueueResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &gnomonv1.PeekStageQueueResponse{Entries: f.queue}, f.accept(r)
}

func (f *fakeEntities) RewalkStage(_ context.Context, r *gnomonv1.RewalkStageRequest) (*gnomonv1.Rewalk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &gnomonv1.Rewalk{Stage: r.GetStage(), State: gnomonv1.Rewalk_RUNNING, Total: 3, StartTime: timestamppb.New(testNow)}, f.accept(r)
}

func (f *fakeEntities) GetRewalk(_ context.Context, r *gnomonv1.GetRewalkRequest) (*gnomonv1.Rewalk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.walks[0]
	if len(f.walks) > 1 {
		f.walks = f.walks[1:]
	}
	return now, f.accept(r)
}

func (f *fakeEntities) CancelRewalk(_ context.Context, r *gnomonv1.CancelRewalkRequest) (*gnomonv1.Rewalk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &gnomonv1.Rewalk{Stage: r.GetStage(), State: gnomonv1.Rewalk_CANCELLED, Walked: 1, Total: 3}, f.accept(r)
}
