package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/rule"
	"gnomon/store"
)

// GetNodeAction implements the service.
func (s *Clusters) GetNodeAction(ctx context.Context, req *gnomonv1.GetNodeActionRequest) (*gnomonv1.NodeAction, error) {
	cluster, id := req.GetCluster(), req.GetId()
	if err := invalid(append(playbook.ValidateCluster("cluster", cluster), idRule(id)...), ""); err != nil {
		return nil, err
	}
	if req.GetFresh() {
		a := &gnomonv1.NodeAction{}
		err := s.query(ctx, workflowv1.ClusterWorkflowID(cluster), a, workflowv1.QueryNodeAction, id)
		if err == nil {
			return a, nil
		}
		// What the workflow does not have has finished, and is in the store.
		if _, none := errors.AsType[*serviceerror.QueryFailed](err); (!none || outrun(err)) && !missing(err) {
			return nil, clusterUnasked(err, cluster)
		}
	}
	row, err := s.Store.GetNodeAction(ctx, cluster, id)
	if err != nil {
		return nil, fromNodeStore(ctx, err, cluster, id)
	}
	return row.Action, nil
}

func fromNodeStore(ctx context.Context, err error, cluster, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return nodeActionNotFound(cluster, id)
	}
	return fromStore(ctx, err)
}

// ListNodeActions implements the service.
func (s *Clusters) ListNodeActions(ctx context.Context, req *gnomonv1.ListNodeActionsRequest) (*gnomonv1.ListNodeActionsResponse, error) {
	bad := append(playbook.ValidateCluster("cluster", req.GetCluster()), stateRules(req.GetStates(), gnomonv1.NodeAction_State_name)...)
	if req.GetNode() != "" {
		bad = append(bad, nodeRule("node", req.GetNode())...)
	}
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	size, err := readPageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	list := listing(fmt.Sprintf("node actions %q %q %v %q", req.GetCluster(), req.GetNode(), req.GetStates(), req.GetPlaybook()))
	after, err := list.readPageToken(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	// One more row than the page holds tells whether there is a next page.
	rows, err := s.Store.ListNodeActions(ctx, store.NodeActionQuery{
		Cluster: req.GetCluster(), Node: req.GetNode(), Playbook: req.GetPlaybook(), States: req.GetStates(), After: after, Limit: size + 1,
	})
	if err != nil {
		return nil, fromStore(ctx, err)
	}
	all := make([]*gnomonv1.NodeAction, len(rows))
	for i, row := range rows {
		all[i] = row.Action
	}
	page, next := pageOf(all, size, list)
	return &gnomonv1.ListNodeActionsResponse{Actions: page, NextPageToken: next}, nil
}

// stateRules refuse states that are none.
func stateRules[S ~int32](states []S, known map[int32]string) []rule.Violation {
	var v rule.Violations
	for i, state := range states {
		if _, ok := known[int32(state)]; !ok || state == 0 {
			v.Add(fmt.Sprintf("states[%d]", i), rule.Unsupported, "there is no state %d", state)
		}
	}
	return v
}

// listed is what the rows of these lists have.
type listed interface {
	proto.Message
	GetId() string
	GetCreateTime() *timestamppb.Timestamp
}

// pageOf cuts a page and gives the token of the next one, if there is one. A page is
// shorter than asked where its rows are big.
func pageOf[M listed](all []M, size int, list listing) (page []M, next string) {
	bytes := 0
	for i, one := range all {
		bytes += proto.Size(one)
		if i == size || (i > 0 && bytes > maxPageBytes) {
			last := all[i-1]
			return all[:i], list.pageToken(store.ActionPosition{ID: last.GetId(), ScheduledAt: last.GetCreateTime().AsTime()})
		}
	}
	return all, ""
}

// WatchNodeAction implements the service by looking at the store every WatchInterval.
func (s *Clusters) WatchNodeAction(req *gnomonv1.WatchNodeActionRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchNodeActionResponse]) error {
	cluster, id := req.GetCluster(), req.GetId()
	if err := invalid(append(playbook.ValidateCluster("cluster", cluster), idRule(id)...), ""); err != nil {
		return err
	}
	return watched(stream.Context(), s.WatchInterval, func(ctx context.Context) (*gnomonv1.NodeAction, bool, error) {
		row, err := s.Store.GetNodeAction(ctx, cluster, id)
		if err != nil {
			return nil, false, fromNodeStore(ctx, err, cluster, id)
		}
		return row.Action, playbook.Finished(row.Action.GetState()), nil
	}, func(a *gnomonv1.NodeAction) error { return stream.Send(&gnomonv1.WatchNodeActionResponse{Action: a}) })
}

// watched looks at something every interval and tells what it is when that has changed,
// until its end. States that lasted less may be left out, the last one never is.
func watched[M proto.Message](ctx context.Context, interval time.Duration, look func(context.Context) (M, bool, error), tell func(M) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last M
	for first := true; ; first = false {
		now, ended, err := look(ctx)
		if err != nil {
			return err
		}
		if first || !proto.Equal(now, last) {
			if err := tell(now); err != nil {
				return err
			}
			last = now
		}
		if ended {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fromContext(ctx.Err())
		}
	}
}
