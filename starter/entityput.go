package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/entity"
	"gnomon/rule"
	"gnomon/stages/wake"
	"gnomon/store"
)

// PutEntity implements the service. Once the store has the entity it is accepted, with a
// record in the outbox of which the worker sees that the workflow hears: if the workflow
// cannot be told now, that only takes longer.
func (s *Entities) PutEntity(ctx context.Context, req *gnomonv1.PutEntityRequest) (*gnomonv1.Entity, error) {
	if err := invalid(putRules(req), ""); err != nil {
		return nil, err
	}
	wanted := &gnomonv1.Entity{
		Type: req.GetEntity().GetType(), Id: req.GetEntity().GetId(), Content: req.GetEntity().GetContent(),
	}
	key := store.EntityKey{Type: wanted.GetType(), ID: wanted.GetId()}
	if req.GetValidateOnly() {
		return s.allowed(ctx, req, key, wanted)
	}
	digest, err := putDigest(req)
	if err != nil {
		return nil, err
	}
	result, err := s.Store.PutEntity(ctx, store.EntityPut{
		Entity: wanted, Version: req.GetEntity().GetVersion(), CreateOnly: req.GetCreateOnly(),
		RequestID: req.GetRequestId(), Digest: digest, At: s.Now(),
	})
	if err != nil {
		return nil, fromPut(ctx, err, key)
	}
	s.tell(ctx, key, result)
	return result.Entity, nil
}

// putRules are what a put breaks.
func putRules(req *gnomonv1.PutEntityRequest) []rule.Violation {
	e := req.GetEntity()
	bad := rule.Violations(entity.ValidateKey("entity.type", e.GetType(), "entity.id", e.GetId()))
	bad = append(bad, entity.ValidateContent("entity.content", e.GetContent())...)
	bad = append(bad, versionRule("entity.version", e.GetVersion())...)
	if req.GetCreateOnly() && e.GetVersion() > 0 {
		bad.Add("entity.version", ruleContradiction, "must not be set with create_only: there is no version to have seen")
	}
	return append(bad, requestIDRule(req.GetRequestId())...)
}

// versionRule checks a version that the caller says to have seen.
func versionRule(field string, version int64) []rule.Violation {
	var v rule.Violations
	if version < 0 {
		v.Add(field, rule.OutOfRange, "must not be negative, is %d", version)
	}
	return v
}

// putDigest tells one put from another under the same request_id.
func putDigest(req *gnomonv1.PutEntityRequest) (string, error) {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(req.GetEntity().GetContent())
	if err != nil {
		return "", internal("ENCODING", "the content cannot be encoded", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %t %q",
		req.GetEntity().GetType(), req.GetEntity().GetId(), req.GetEntity().GetVersion(), req.GetCreateOnly(), content))
	return hex.EncodeToString(sum[:16]), nil
}

// allowed says whether a put would be accepted as things stand, and answers with what it
// would make, without a version.
func (s *Entities) allowed(ctx context.Context, req *gnomonv1.PutEntityRequest, key store.EntityKey, wanted *gnomonv1.Entity) (*gnomonv1.Entity, error) {
	stands, err := s.Store.GetEntity(ctx, key)
	seen := req.GetEntity().GetVersion()
	switch {
	case errors.Is(err, store.ErrNotFound) && seen == 0:
		return wanted, nil
	case errors.Is(err, store.ErrNotFound):
		return nil, versionMismatch(key)
	case err != nil:
		return nil, fromStore(ctx, err)
	case req.GetCreateOnly():
		return nil, entityExists(key)
	case seen != 0 && seen != stands.GetVersion():
		return nil, versionMismatch(key)
	}
	return wanted, nil
}

// fromPut maps why the store did not take a put.
func fromPut(ctx context.Context, err error, key store.EntityKey) error {
	switch {
	case errors.Is(err, store.ErrEntityExists):
		return entityExists(key)
	case errors.Is(err, store.ErrVersion), errors.Is(err, store.ErrNotFound):
		return versionMismatch(key)
	case errors.Is(err, store.ErrRequestReused):
		return invalidField("request_id", "REQUEST_ID_REUSED", "was used for another put")
	}
	return fromStore(ctx, err)
}

// DeleteEntity implements the service.
func (s *Entities) DeleteEntity(ctx context.Context, req *gnomonv1.DeleteEntityRequest) (*gnomonv1.DeleteEntityResponse, error) {
	bad := append(entity.ValidateKey("type", req.GetType(), "id", req.GetId()), versionRule("version", req.GetVersion())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	key := store.EntityKey{Type: req.GetType(), ID: req.GetId()}
	result, err := s.Store.DeleteEntity(ctx, key, req.GetVersion(), s.Now())
	if err != nil {
		return nil, fromEntityStore(ctx, err, key)
	}
	s.tell(ctx, key, result)
	return &gnomonv1.DeleteEntityResponse{}, nil
}

// tell tells an entity's workflow of a change. If Temporal does not take it the change
// stands all the same, and its record in the outbox has the worker tell it.
func (s *Entities) tell(ctx context.Context, key store.EntityKey, r store.EntityResult) {
	if !r.Changed {
		return
	}
	wait, cancel := s.untilTold(ctx)
	defer cancel()
	if err := wake.Changed(wait, s.Client, s.TaskQueue, key, r.Entity.GetVersion(), r.Fields); err != nil {
		s.Untold()
		s.Logger.LogAttrs(ctx, slog.LevelWarn, "An entity is stored and its workflow could not be told; a worker tells it later.",
			slog.Int64("version", r.Entity.GetVersion()), slog.String("error", err.Error()))
	}
}
