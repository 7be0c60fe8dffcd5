package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/entity"
	"gnomon/stages"
	"gnomon/store"
)

// Entities is the facade of entities and their stages (seed 004): it validates, writes the
// store, which is the truth of entities, and tells their workflows. It calls no stage and
// holds no state.
type Entities struct {
	gnomonv1.UnimplementedEntityServiceServer

	Config
}

// NewEntities returns the service.
func NewEntities(c Config) (*Entities, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	return &Entities{Config: c}, nil
}

// addressed is a request about one entity.
type addressed interface {
	GetType() string
	GetId() string
}

// keyIn is the entity that a request is about, or why it is none.
func keyIn(req addressed) (store.EntityKey, error) {
	err := invalid(entity.ValidateKey("type", req.GetType(), "id", req.GetId()), "")
	return store.EntityKey{Type: req.GetType(), ID: req.GetId()}, err
}

// GetEntity implements the service.
func (s *Entities) GetEntity(ctx context.Context, req *gnomonv1.GetEntityRequest) (*gnomonv1.Entity, error) {
	key, err := keyIn(req)
	if err != nil {
		return nil, err
	}
	e, err := s.Store.GetEntity(ctx, key)
	if err != nil {
		return nil, fromEntityStore(ctx, err, key)
	}
	return e, nil
}

// listChunk is how many entities are read at a time: one may have 256 KiB.
const listChunk = 50

// ListEntities implements the service.
func (s *Entities) ListEntities(ctx context.Context, req *gnomonv1.ListEntitiesRequest) (*gnomonv1.ListEntitiesResponse, error) {
	if err := invalid(entity.ValidateName("type", req.GetType()), ""); err != nil {
		return nil, err
	}
	size, err := readPageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	list := listing(fmt.Sprintf("entities %q", req.GetType()))
	position, err := list.readPageToken(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	after := ""
	if position != nil {
		after = position.ID
	}
	page, bytes := &gnomonv1.ListEntitiesResponse{}, 0
	for {
		// One more than the page holds tells whether there is a next page.
		limit := min(listChunk, size+1-len(page.GetEntities()))
		some, err := s.Store.ListEntities(ctx, store.EntityQuery{Type: req.GetType(), After: after, Limit: limit})
		if err != nil {
			return nil, fromStore(ctx, err)
		}
		for _, e := range some {
			bytes += proto.Size(e)
			if len(page.GetEntities()) == size || len(page.GetEntities()) > 0 && bytes > maxPageBytes {
				page.NextPageToken = list.pageToken(store.ActionPosition{ID: after})
				return page, nil
			}
			page.Entities, after = append(page.Entities, e), e.GetId()
		}
		if len(some) < limit {
			return page, nil
		}
	}
}

// errDeleted ends a watch.
var errDeleted = errors.New("the entity was deleted")

// WatchEntity implements the service by looking at the store every WatchInterval.
func (s *Entities) WatchEntity(req *gnomonv1.WatchEntityRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchEntityResponse]) error {
	key, err := keyIn(req)
	if err != nil {
		return err
	}
	seen := false
	err = watched(stream.Context(), s.WatchInterval, func(ctx context.Context) (*gnomonv1.Entity, bool, error) {
		e, err := s.Store.GetEntity(ctx, key)
		switch {
		case seen && errors.Is(err, store.ErrNotFound):
			return nil, false, errDeleted
		case err != nil:
			return nil, false, fromEntityStore(ctx, err, key)
		}
		seen = true
		return e, false, nil
	}, func(e *gnomonv1.Entity) error { return stream.Send(&gnomonv1.WatchEntityResponse{Entity: e}) })
	if errors.Is(err, errDeleted) {
		return nil
	}
	return err
}

// declared is a stage that is declared, or why there is none.
func (c Config) declared(name string) (*stages.Declared, error) {
	if err := invalid(entity.ValidateName("stage", name), ""); err != nil {
		return nil, err
	}
	if d := c.Stages.Named(name); d != nil {
		return d, nil
	}
	return nil, stageNotFound(name)
}

// untilTold bounds what telling a workflow may take after the store was written: the
// caller's leaving does not end it.
func (c Config) untilTold(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.ApplyTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/applyShare)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
