package starter

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store"
)

// Playbooks is the facade of playbooks: it validates, starts or commands the workflow,
// and reads the store. It holds no state.
type Playbooks struct {
	gnomonv1.UnimplementedPlaybookServiceServer

	Config
}

// NewPlaybooks returns the service.
func NewPlaybooks(c Config) (*Playbooks, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	return &Playbooks{Config: c}, nil
}

// GetPlaybook implements the service.
func (s *Playbooks) GetPlaybook(ctx context.Context, req *gnomonv1.GetPlaybookRequest) (*gnomonv1.Playbook, error) {
	id := req.GetId()
	if err := invalid(idRule(id), ""); err != nil {
		return nil, err
	}
	if req.GetFresh() {
		p := &gnomonv1.Playbook{}
		switch err := s.query(ctx, workflowv1.PlaybookWorkflowID(id), p, workflowv1.QueryPlaybook); {
		case err == nil:
			return p, nil
		case errors.Is(err, errNoWorker):
			return nil, noWorker(err)
		case !missing(err): // Temporal may have forgotten what the store has
			return nil, fromTemporal(err, id)
		}
	}
	row, err := s.Store.GetPlaybook(ctx, id)
	if err != nil {
		return nil, fromPlaybookStore(ctx, err, id)
	}
	return row.Playbook, nil
}

func fromPlaybookStore(ctx context.Context, err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return playbookNotFound(id)
	}
	return fromStore(ctx, err)
}

// ListPlaybooks implements the service.
func (s *Playbooks) ListPlaybooks(ctx context.Context, req *gnomonv1.ListPlaybooksRequest) (*gnomonv1.ListPlaybooksResponse, error) {
	bad := stateRules(req.GetStates(), gnomonv1.PlaybookStatus_State_name)
	if req.GetCluster() != "" {
		bad = append(bad, playbook.ValidateCluster("cluster", req.GetCluster())...)
	}
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	size, err := readPageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	list := listing(fmt.Sprintf("playbooks %q %v", req.GetCluster(), req.GetStates()))
	after, err := list.readPageToken(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListPlaybooks(ctx, store.PlaybookQuery{Cluster: req.GetCluster(), States: req.GetStates(), After: after, Limit: size + 1})
	if err != nil {
		return nil, fromStore(ctx, err)
	}
	all := make([]*gnomonv1.Playbook, len(rows))
	for i, row := range rows {
		all[i] = row.Playbook
	}
	page, next := pageOf(all, size, list)
	return &gnomonv1.ListPlaybooksResponse{Playbooks: page, NextPageToken: next}, nil
}

// WatchPlaybook implements the service by looking at the store every WatchInterval.
func (s *Playbooks) WatchPlaybook(req *gnomonv1.WatchPlaybookRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchPlaybookResponse]) error {
	id := req.GetId()
	if err := invalid(idRule(id), ""); err != nil {
		return err
	}
	return watched(stream.Context(), s.WatchInterval, func(ctx context.Context) (*gnomonv1.Playbook, bool, error) {
		row, err := s.Store.GetPlaybook(ctx, id)
		if err != nil {
			return nil, false, fromPlaybookStore(ctx, err, id)
		}
		return row.Playbook, playbook.Ended(row.Playbook.GetStatus().GetState()), nil
	}, func(p *gnomonv1.Playbook) error { return stream.Send(&gnomonv1.WatchPlaybookResponse{Playbook: p}) })
}
