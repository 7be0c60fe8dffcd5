package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// history remembers what a fake was asked, and may refuse it.
type history struct {
	mu       sync.Mutex
	requests []proto.Message
	// refuse, if set, may answer any request with an error.
	refuse func(proto.Message) error
}

func (h *history) accept(request proto.Message) error {
	h.requests = append(h.requests, proto.Clone(request))
	if h.refuse != nil {
		return h.refuse(request)
	}
	return nil
}

// sentTo are the requests of type M to a fake, in their order.
func sentTo[M proto.Message](h *history) []M {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []M
	for _, request := range h.requests {
		if request, ok := request.(M); ok {
			found = append(found, request)
		}
	}
	return found
}

// fakeClusters is a ClusterService in memory with one cluster for every name.
type fakeClusters struct {
	gnomonv1.UnimplementedClusterServiceServer
	history

	nodes   map[string]*gnomonv1.Node
	actions map[string]*gnomonv1.NodeAction
	// changes is what WatchNodeAction sends; it ends when the channel is closed.
	changes chan *gnomonv1.NodeAction
}

func newFakeClusters() *fakeClusters {
	return &fakeClusters{nodes: map[string]*gnomonv1.Node{}, actions: map[string]*gnomonv1.NodeAction{}, changes: make(chan *gnomonv1.NodeAction, 16)}
}

func (f *fakeClusters) put(actions ...*gnomonv1.NodeAction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range actions {
		f.actions[a.GetId()] = a
	}
}

func (f *fakeClusters) GetCluster(_ context.Context, r *gnomonv1.GetClusterRequest) (*gnomonv1.Cluster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	c := &gnomonv1.Cluster{Id: r.GetCluster(), LastCycle: &gnomonv1.Cycle{
		Number: 7, StartTime: timestamppb.New(testNow.Add(-3 * time.Second)), Duration: durationpb.New(120 * time.Millisecond),
		Visited: 2, Pushed: 1, Changed: 3, Errors: []*gnomonv1.Cycle_NodeError{{Node: "node-2", Message: "it does not \x1b[31manswer"}},
	}}
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		c.Nodes = append(c.Nodes, f.nodes[name])
	}
	return c, nil
}

func (f *fakeClusters) RegisterNode(_ context.Context, r *gnomonv1.RegisterNodeRequest) (*gnomonv1.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	f.nodes[r.GetNode().GetName()] = r.GetNode()
	return r.GetNode(), nil
}

func (f *fakeClusters) RemoveNode(_ context.Context, r *gnomonv1.RemoveNodeRequest) (*gnomonv1.RemoveNodeResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	delete(f.nodes, r.GetNode())
	return &gnomonv1.RemoveNodeResponse{}, nil
}

func (f *fakeClusters) NudgeCluster(_ context.Context, r *gnomonv1.NudgeClusterRequest) (*gnomonv1.NudgeClusterResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &gnomonv1.NudgeClusterResponse{Cycle: 8}, f.accept(r)
}

func (f *fakeClusters) ScheduleNodeAction(_ context.Context, r *gnomonv1.ScheduleNodeActionRequest) (*gnomonv1.NodeAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	a := proto.CloneOf(r.GetAction())
	a.Id = cmp.Or(a.GetId(), "minted-"+strconv.Itoa(len(f.actions)+1))
	a.CreateTime, a.Origin = timestamppb.New(testNow), gnomonv1.NodeAction_USER
	a.State = gnomonv1.NodeAction_PENDING_SCHEDULE
	if a.GetApprove() {
		a.State = gnomonv1.NodeAction_PENDING_APPROVE
	}
	a.Class = playbook.Class(a.GetState())
	if !r.GetValidateOnly() {
		f.actions[a.GetId()] = a
	}
	return a, nil
}

// command answers with the action after a change.
func (f *fakeClusters) command(r interface {
	proto.Message
	GetId() string
}, change func(*gnomonv1.NodeAction),
) (*gnomonv1.NodeAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	a := f.actions[r.GetId()]
	if a == nil {
		return nil, status.Errorf(codes.NotFound, "no action %q", r.GetId())
	}
	change(a)
	a.Class = playbook.Class(a.GetState())
	return proto.CloneOf(a), nil
}

func (f *fakeClusters) GetNodeAction(_ context.Context, r *gnomonv1.GetNodeActionRequest) (*gnomonv1.NodeAction, error) {
	return f.command(r, func(*gnomonv1.NodeAction) {})
}

func (f *fakeClusters) ApproveNodeAction(_ context.Context, r *gnomonv1.ApproveNodeActionRequest) (*gnomonv1.NodeAction, error) {
	return f.command(r, func(a *gnomonv1.NodeAction) {
		a.State, a.DecidedBy = gnomonv1.NodeAction_PENDING_SCHEDULE, r.GetDecidedBy()
	})
}

func (f *fakeClusters) RejectNodeAction(_ context.Context, r *gnomonv1.RejectNodeActionRequest) (*gnomonv1.NodeAction, error) {
	return f.command(r, func(a *gnomonv1.NodeAction) {
		a.State, a.DecidedBy, a.Reason = gnomonv1.NodeAction_CANCELLED, r.GetDecidedBy(), r.GetReason()
	})
}

func (f *fakeClusters) CancelNodeAction(_ context.Context, r *gnomonv1.CancelNodeActionRequest) (*gnomonv1.NodeAction, error) {
	return f.command(r, func(a *gnomonv1.NodeAction) {
		if a.Reason = r.GetReason(); playbook.OnAgent(a.GetState()) {
			a.CancelRequested = true
			return
		}
		a.State = gnomonv1.NodeAction_CANCELLED
	})
}

func (f *fakeClusters) ListNodeActions(_ context.Context, r *gnomonv1.ListNodeActionsRequest) (*gnomonv1.ListNodeActionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(r.GetPageToken())
	size := int(cmp.Or(r.GetPageSize(), 50))
	reply := &gnomonv1.ListNodeActionsResponse{}
	for i, id := range slices.Sorted(maps.Keys(f.actions)) {
		switch {
		case i < from:
		case i >= from+size:
			reply.NextPageToken = strconv.Itoa(from + size)
			return reply, nil
		default:
			reply.Actions = append(reply.Actions, f.actions[id])
		}
	}
	return reply, nil
}

func (f *fakeClusters) WatchNodeAction(r *gnomonv1.WatchNodeActionRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchNodeActionResponse]) error {
	f.mu.Lock()
	err := f.accept(r)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return relay(stream.Context(), f.changes, func(a *gnomonv1.NodeAction) error {
		return stream.Send(&gnomonv1.WatchNodeActionResponse{Action: a})
	})
}

// restart is an action in a state.
func restart(t *testing.T, state gnomonv1.NodeAction_State) *gnomonv1.NodeAction {
	t.Helper()
	a := parse(t, &gnomonv1.NodeAction{}, `{
		"id": "restart-7", "cluster": "prod", "node": "node-1", "origin": "USER", "requestedBy": "ann", "labels": {"team": "a"},
		"exec": {"argv": ["systemctl", "restart", "web server"]}, "createTime": "2026-11-20T09:59:00Z"}`)
	a.State, a.Class = state, playbook.Class(state)
	if playbook.Finished(state) {
		a.StartTime, a.FinishTime = timestamppb.New(testNow.Add(-2*time.Second)), timestamppb.New(testNow.Add(-time.Second))
	}
	switch state {
	case gnomonv1.NodeAction_DONE:
		a.Result = &gnomonv1.NodeAction_Result{Output: "up again\nand \x1b[31mwell\n"}
	case gnomonv1.NodeAction_FAILED:
		a.Reason, a.Result = "the program ended with exit status 3", &gnomonv1.NodeAction_Result{Code: 3, Output: "no\n", OutputDroppedBytes: 9}
	default:
	}
	return a
}
