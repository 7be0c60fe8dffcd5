package starter

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/entity"
	"gnomon/rule"
)

// badEntityRequests are requests with one fault each, its field and its rule.
func badEntityRequests(t *testing.T) map[string]struct {
	call        func(*Entities) error
	field, rule string
} {
	t.Helper()
	type bad = struct {
		call        func(*Entities) error
		field, rule string
	}
	put := func(field, broken string, change func(*gnomonv1.PutEntityRequest)) bad {
		return bad{func(s *Entities) error {
			req := &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: "offer", Id: "o", Content: &structpb.Struct{}}}
			change(req)
			_, err := s.PutEntity(t.Context(), req)
			return err
		}, field, broken}
	}
	state := func(field, broken string, change func(*gnomonv1.UpdateStageStateRequest)) bad {
		return bad{func(s *Entities) error {
			req := &gnomonv1.UpdateStageStateRequest{Type: "offer", Id: "o", Stage: "price"}
			change(req)
			_, err := s.UpdateStageState(t.Context(), req)
			return err
		}, field, broken}
	}
	call := func(field, broken string, send func(*Entities) error) bad { return bad{send, field, broken} }
	deep := structpb.NewNullValue()
	for range entity.MaxDepth {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	return map[string]bad{
		"no type":         put("entity.type", rule.Required, func(r *gnomonv1.PutEntityRequest) { r.Entity.Type = "" }),
		"capital type":    put("entity.type", rule.InvalidCharacter, func(r *gnomonv1.PutEntityRequest) { r.Entity.Type = "Offer" }),
		"type of a digit": put("entity.type", rule.InvalidCharacter, func(r *gnomonv1.PutEntityRequest) { r.Entity.Type = "1offer" }),
		"long type":       put("entity.type", rule.TooLong, func(r *gnomonv1.PutEntityRequest) { r.Entity.Type = strings.Repeat("a", 64) }),
		"no id":           put("entity.id", rule.Required, func(r *gnomonv1.PutEntityRequest) { r.Entity.Id = "" }),
		"id with a slash": put("entity.id", rule.InvalidCharacter, func(r *gnomonv1.PutEntityRequest) { r.Entity.Id = "a/b" }),
		"long id":         put("entity.id", rule.TooLong, func(r *gnomonv1.PutEntityRequest) { r.Entity.Id = strings.Repeat("a", 201) }),
		"no content":      put("entity.content", rule.Required, func(r *gnomonv1.PutEntityRequest) { r.Entity.Content = nil }),
		"big content": put("entity.content", rule.TooLong, func(r *gnomonv1.PutEntityRequest) {
			r.Entity.Content = content(t, map[string]any{"a": strings.Repeat("x", entity.MaxContent)})
		}),
		"deep content": put("entity.content", "TOO_NESTED", func(r *gnomonv1.PutEntityRequest) { r.Entity.Content.Fields = map[string]*structpb.Value{"a": deep} }),
		"not a number": put("entity.content", rule.NotFinite, func(r *gnomonv1.PutEntityRequest) {
			r.Entity.Content.Fields = map[string]*structpb.Value{"a": structpb.NewNumberValue(math.NaN())}
		}),
		"value of nothing": put("entity.content", rule.Required, func(r *gnomonv1.PutEntityRequest) { r.Entity.Content.Fields = map[string]*structpb.Value{"a": {}} }),
		"negative version": put("entity.version", rule.OutOfRange, func(r *gnomonv1.PutEntityRequest) { r.Entity.Version = -1 }),
		"create a version": put("entity.version", ruleContradiction, func(r *gnomonv1.PutEntityRequest) { r.Entity.Version, r.CreateOnly = 1, true }),
		"blank request id": put("request_id", ruleMalformed, func(r *gnomonv1.PutEntityRequest) { r.RequestId = "a b" }),
		"big state": state("state", rule.TooLong, func(r *gnomonv1.UpdateStageStateRequest) {
			r.State = &anypb.Any{TypeUrl: "x/y", Value: make([]byte, entity.MaxState)}
		}),
		"state of no type":  state("state.type_url", rule.Required, func(r *gnomonv1.UpdateStageStateRequest) { r.State = &anypb.Any{} }),
		"state of bad type": state("state.type_url", rule.InvalidCharacter, func(r *gnomonv1.UpdateStageStateRequest) { r.State = &anypb.Any{TypeUrl: "acme"} }),
		"state of long type": state("state.type_url", rule.TooLong, func(r *gnomonv1.UpdateStageStateRequest) {
			r.State = &anypb.Any{TypeUrl: "/" + strings.Repeat("a", 512)}
		}),
		"state below zero": state("version", rule.OutOfRange, func(r *gnomonv1.UpdateStageStateRequest) { r.Version = -1 }),
		"bad stage":        state("stage", rule.InvalidCharacter, func(r *gnomonv1.UpdateStageStateRequest) { r.Stage = "Price" }),
		"get without a type": call("type", rule.Required, func(s *Entities) error {
			_, err := s.GetEntity(t.Context(), &gnomonv1.GetEntityRequest{Id: "o"})
			return err
		}),
		"delete below zero": call("version", rule.OutOfRange, func(s *Entities) error {
			_, err := s.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o", Version: -1})
			return err
		}),
		"watch of no id": call("id", rule.Required, func(s *Entities) error {
			return s.WatchEntity(&gnomonv1.WatchEntityRequest{Type: "offer"}, nil)
		}),
		"check of no id": call("id", rule.Required, func(s *Entities) error {
			_, err := s.CheckEntity(t.Context(), &gnomonv1.CheckEntityRequest{Type: "offer"})
			return err
		}),
		"page too big": call("page_size", rule.OutOfRange, func(s *Entities) error {
			_, err := s.ListEntities(t.Context(), &gnomonv1.ListEntitiesRequest{Type: "offer", PageSize: 1001})
			return err
		}),
		"list of no type": call("type", rule.Required, func(s *Entities) error {
			_, err := s.ListEntities(t.Context(), &gnomonv1.ListEntitiesRequest{})
			return err
		}),
		"queue page below zero": call("page_size", rule.OutOfRange, func(s *Entities) error {
			_, err := s.PeekStageQueue(t.Context(), &gnomonv1.PeekStageQueueRequest{Stage: "price", PageSize: -1})
			return err
		}),
		"walk of no stage": call("stage", rule.Required, func(s *Entities) error {
			_, err := s.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{})
			return err
		}),
		"walk backwards": call("rate", rule.OutOfRange, func(s *Entities) error {
			_, err := s.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price", Rate: -1})
			return err
		}),
		"walk of no number": call("rate", rule.OutOfRange, func(s *Entities) error {
			_, err := s.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price", Rate: math.NaN()})
			return err
		}),
		"walk too slow": call("rate", rule.OutOfRange, func(s *Entities) error {
			_, err := s.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price", Rate: 0.001})
			return err
		}),
		"walk too fast": call("rate", rule.OutOfRange, func(s *Entities) error {
			_, err := s.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "price", Rate: 10_001})
			return err
		}),
	}
}

// Bad requests each get their field and rule, and leave nothing behind.
func TestBadEntityRequests(t *testing.T) {
	t.Parallel()
	f := newEntityFacade(t)
	t.Cleanup(func() {
		require.Empty(t, f.rows.all)
		require.Empty(t, f.temporal.started)
	})
	for name, bad := range badEntityRequests(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireViolation(t, bad.call(f.Entities), bad.field, bad.rule)
		})
	}
	_, err := NewEntities(Config{Client: f.temporal})
	require.ErrorContains(t, err, "Store must be set")
}
