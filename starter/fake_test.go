package starter

import (
	"context"
	"slices"
	"strings"
	"sync"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// fakeService is an ActionService that answers without Temporal. It does what the
// parts under test do, and remembers what it was sent.
type fakeService struct {
	gnomonv1.UnimplementedActionServiceServer

	store *fakeStore
	// changes are what Watch sends; it ends with the context.
	changes chan *gnomonv1.ScheduledAction
	// entered gets the context of each call of Get, which waits for release.
	entered chan context.Context
	release chan struct{}

	mu      sync.Mutex
	created []*gnomonv1.CreateActionRequest
	updated []*gnomonv1.UpdateActionRequest
	deleted []*gnomonv1.DeleteActionRequest
}

func newFakeService() *fakeService {
	return &fakeService{
		store: &fakeStore{}, changes: make(chan *gnomonv1.ScheduledAction),
		entered: make(chan context.Context, 1), release: make(chan struct{}),
	}
}

func (f *fakeService) CreateAction(_ context.Context, req *gnomonv1.CreateActionRequest) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.created = append(f.created, req)
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: req.GetAction().GetMeta().GetId(), Guid: "g-1"}, Spec: req.GetAction().GetSpec()}, nil
}

// GetAction fails in the way that the id names.
func (f *fakeService) GetAction(ctx context.Context, req *gnomonv1.GetActionRequest) (*gnomonv1.ScheduledAction, error) {
	if failure, ok := namedErrors[req.GetId()]; ok {
		return nil, failure()
	}
	switch req.GetId() {
	case "panic":
		panic("a secret payload")
	case "wait":
		f.entered <- ctx
		<-f.release
	}
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: req.GetId(), Guid: "g-1"}}, nil
}

func (f *fakeService) ListActions(ctx context.Context, req *gnomonv1.ListActionsRequest) (*gnomonv1.ListActionsResponse, error) {
	return list(ctx, f.store, req)
}

func (f *fakeService) UpdateAction(_ context.Context, req *gnomonv1.UpdateActionRequest) (*gnomonv1.ScheduledAction, error) {
	if _, err := updatePaths(req.GetUpdateMask()); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.updated = append(f.updated, req)
	return req.GetAction(), nil
}

func (f *fakeService) DeleteAction(_ context.Context, req *gnomonv1.DeleteActionRequest) (*gnomonv1.ScheduledAction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = append(f.deleted, req)
	return &gnomonv1.ScheduledAction{}, nil
}

func (f *fakeService) PauseAction(_ context.Context, req *gnomonv1.PauseActionRequest) (*gnomonv1.ScheduledAction, error) {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: req.GetId()}}, nil
}

func (f *fakeService) WatchAction(_ *gnomonv1.WatchActionRequest, stream gnomonv1.ActionService_WatchActionServer) error {
	for {
		select {
		case change := <-f.changes:
			if err := stream.Send(&gnomonv1.WatchActionResponse{Action: change}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (f *fakeService) PreviewOccurrences(_ context.Context, req *gnomonv1.PreviewOccurrencesRequest) (*gnomonv1.PreviewOccurrencesResponse, error) {
	return preview(req, "", req.GetSpec(), noon)
}

// calls says how many commands have come through.
func (f *fakeService) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.created) + len(f.updated) + len(f.deleted)
}

// fakeStore lists rows that are given in order, and remembers what it was asked.
type fakeStore struct {
	store.Store

	rows []store.Row
	err  error

	mu      sync.Mutex
	queries []store.ActionQuery
}

func (s *fakeStore) ListActions(_ context.Context, q store.ActionQuery) ([]store.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, q)
	rows := s.rows
	if q.After != nil {
		rows = rows[slices.IndexFunc(rows, func(row store.Row) bool {
			return strings.Compare(row.Action.GetMeta().GetId(), q.After.ID) > 0
		}):]
	}
	return rows[:min(len(rows), q.Limit)], s.err
}
