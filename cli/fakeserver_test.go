package cli

import (
	"cmp"
	"context"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// fakeServer is an ActionService in memory: it keeps actions, fills in a few
// defaults as the real one does, and remembers what it was asked.
type fakeServer struct {
	gnomonv1.UnimplementedActionServiceServer
	address string
	// batches is the BatchService beside it.
	batches *fakeBatches
	// clusters and playbooks are the services of node actions beside it.
	clusters  *fakeClusters
	playbooks *fakePlaybooks
	// entities is the EntityService beside it.
	entities *fakeEntities
	// health is shown by the gRPC health protocol, SERVING at the start.
	health *health.Server

	mu       sync.Mutex
	actions  map[string]*gnomonv1.ScheduledAction
	requests []proto.Message
	guids    int
	// refuse, if set, may answer any request with an error.
	refuse func(proto.Message) error
	// conditions are put into every reply.
	conditions []*gnomonv1.Condition
	// changes is what WatchAction sends; it ends when the channel is closed.
	changes chan *gnomonv1.ScheduledAction
	// occurrences is what PreviewOccurrences answers.
	occurrences []time.Time
}

func startFake(t *testing.T) *fakeServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	fake := &fakeServer{
		address:   listener.Addr().String(),
		batches:   newFakeBatches(),
		clusters:  newFakeClusters(),
		playbooks: newFakePlaybooks(),
		entities:  newFakeEntities(),
		actions:   map[string]*gnomonv1.ScheduledAction{},
		changes:   make(chan *gnomonv1.ScheduledAction, 16),
		health:    health.NewServer(),
	}
	server := grpc.NewServer()
	gnomonv1.RegisterActionServiceServer(server, fake)
	gnomonv1.RegisterBatchServiceServer(server, fake.batches)
	gnomonv1.RegisterClusterServiceServer(server, fake.clusters)
	gnomonv1.RegisterPlaybookServiceServer(server, fake.playbooks)
	gnomonv1.RegisterEntityServiceServer(server, fake.entities)
	healthv1.RegisterHealthServer(server, fake.health)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return fake
}

func (f *fakeServer) accept(request proto.Message) error {
	f.requests = append(f.requests, proto.Clone(request))
	if f.refuse != nil {
		return f.refuse(request)
	}
	return nil
}

// requestsOf are the requests of type M, in their order.
func requestsOf[M proto.Message](f *fakeServer) []M {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []M
	for _, request := range f.requests {
		if request, ok := request.(M); ok {
			found = append(found, request)
		}
	}
	return found
}

func (f *fakeServer) put(actions ...*gnomonv1.ScheduledAction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, action := range actions {
		f.actions[action.GetMeta().GetId()] = action
	}
}

func (f *fakeServer) find(id string) (*gnomonv1.ScheduledAction, error) {
	if action := f.actions[id]; action != nil {
		return action, nil
	}
	return nil, status.Errorf(codes.NotFound, "no action %q", id)
}

func (f *fakeServer) reply(action *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	reply := proto.CloneOf(action)
	if len(f.conditions) > 0 && reply.GetStatus() != nil {
		reply.Status.Conditions = f.conditions
	}
	return reply
}

// accepted is what a spec becomes: with defaults, a guid and a fresh status.
func (f *fakeServer) accepted(action *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	f.guids++
	n := proto.CloneOf(action)
	n.Meta.Guid = "guid-" + strconv.Itoa(f.guids)
	n.Meta.CreateTime = timestamppb.New(testNow)
	n.Meta.UpdateTime = timestamppb.New(testNow)
	if once := n.GetSpec().GetSendPolicy().GetSendOncePolicy(); once != nil && once.GetRetryPolicy() == nil {
		once.RetryPolicy = &gnomonv1.RetryPolicy{MinRestartPeriod: durationpb.New(time.Second), MaxRestartPeriod: durationpb.New(time.Second)}
	}
	if request := n.GetSpec().GetAction().GetHttpRequest(); request != nil {
		request.Method = cmp.Or(request.GetMethod(), "POST")
	}
	n.Status = &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED, ScheduledAt: n.GetSpec().GetStartPolicy().GetStartAt()}
	return n
}

func tooOld(action *gnomonv1.ScheduledAction) error {
	if start := action.GetSpec().GetStartPolicy().GetStartAt().AsTime(); start.Before(testNow.Add(-10 * time.Minute)) {
		return status.Error(codes.InvalidArgument, "action.spec.start_policy.start_at: must be at most 10 minutes in the past")
	}
	return nil
}

func (f *fakeServer) CreateAction(_ context.Context, r *gnomonv1.CreateActionRequest) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmp.Or(f.accept(r), tooOld(r.GetAction())); err != nil {
		return nil, err
	}
	id := r.GetAction().GetMeta().GetId()
	if f.actions[id] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "an action %q is alive", id)
	}
	action := f.accepted(r.GetAction())
	if !r.GetValidateOnly() {
		f.actions[id] = action
	}
	return f.reply(action), nil
}

func (f *fakeServer) GetAction(_ context.Context, r *gnomonv1.GetActionRequest) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	action, err := f.find(r.GetId())
	if err != nil {
		return nil, err
	}
	return f.reply(action), nil
}

func (f *fakeServer) ListActions(_ context.Context, r *gnomonv1.ListActionsRequest) (*gnomonv1.ListActionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(r.GetPageToken())
	size := int(cmp.Or(r.GetPageSize(), 50))
	ids := slices.Sorted(maps.Keys(f.actions))[from:]
	reply := &gnomonv1.ListActionsResponse{}
	if len(ids) > size {
		ids = ids[:size]
		reply.NextPageToken = strconv.Itoa(from + size)
	}
	for _, id := range ids {
		reply.Actions = append(reply.Actions, f.reply(f.actions[id]))
	}
	return reply, nil
}

func (f *fakeServer) UpdateAction(_ context.Context, r *gnomonv1.UpdateActionRequest) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	id := r.GetAction().GetMeta().GetId()
	stands, err := f.find(id)
	if err != nil && !r.GetAllowMissing() {
		return nil, err
	}
	if stands != nil && r.GetEtag() != "" && r.GetEtag() != stands.GetMeta().GetGuid() {
		return nil, status.Errorf(codes.Aborted, "action %q has changed since its etag was read", id)
	}
	if paths := r.GetUpdateMask().GetPaths(); slices.Equal(paths, []string{"meta.labels"}) {
		stands.Meta.Labels = r.GetAction().GetMeta().GetLabels()
		return f.reply(stands), nil
	}
	if err := tooOld(r.GetAction()); err != nil {
		return nil, err
	}
	action := f.accepted(r.GetAction())
	if slices.Equal(r.GetUpdateMask().GetPaths(), []string{"spec"}) {
		action.Meta.Labels = stands.GetMeta().GetLabels()
	}
	if !r.GetValidateOnly() {
		f.actions[id] = action
	}
	return f.reply(action), nil
}

func (f *fakeServer) command(r interface {
	proto.Message
	GetId() string
}, state gnomonv1.Status_State,
) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	action, err := f.find(r.GetId())
	if err != nil {
		return nil, err
	}
	action.Status.State = state
	return f.reply(action), nil
}

func (f *fakeServer) DeleteAction(_ context.Context, r *gnomonv1.DeleteActionRequest) (*gnomonv1.ScheduledAction, error) {
	action, err := f.command(r, gnomonv1.Status_DELETED)
	if status.Code(err) == codes.NotFound && r.GetAllowMissing() {
		return &gnomonv1.ScheduledAction{}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.actions, r.GetId())
	return action, err
}

func (f *fakeServer) PauseAction(_ context.Context, r *gnomonv1.PauseActionRequest) (*gnomonv1.ScheduledAction, error) {
	return f.command(r, gnomonv1.Status_PAUSED)
}

func (f *fakeServer) ResumeAction(_ context.Context, r *gnomonv1.ResumeActionRequest) (*gnomonv1.ScheduledAction, error) {
	return f.command(r, gnomonv1.Status_SCHEDULED)
}

func (f *fakeServer) TriggerAction(_ context.Context, r *gnomonv1.TriggerActionRequest) (*gnomonv1.ScheduledAction, error) {
	return f.command(r, gnomonv1.Status_RUNNING)
}

func (f *fakeServer) WatchAction(r *gnomonv1.WatchActionRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchActionResponse]) error {
	f.mu.Lock()
	err := f.accept(r)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return relay(stream.Context(), f.changes, func(action *gnomonv1.ScheduledAction) error {
		return stream.Send(&gnomonv1.WatchActionResponse{Action: action})
	})
}

func (f *fakeServer) PreviewOccurrences(_ context.Context, r *gnomonv1.PreviewOccurrencesRequest) (*gnomonv1.PreviewOccurrencesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	reply := &gnomonv1.PreviewOccurrencesResponse{}
	for _, at := range f.occurrences {
		reply.Occurrences = append(reply.Occurrences, timestamppb.New(at))
	}
	return reply, nil
}
