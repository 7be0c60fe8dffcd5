package storetest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var entityPutTests = []entityTest{
	{"what is put is read, whole", func(t *testing.T, b *entityBundle) {
		c := content("title", "it's 🌵\x00", "price", 1.5, "photos", []any{"1", map[string]any{"angle": 3.0}}, "sold", nil, "", true)
		result := b.put(t, offer, c)
		want := &gnomonv1.Entity{
			Type: "offer", Id: "a_1", Content: c, Version: 1, CreateTime: timestamppb.New(secs(1)), UpdateTime: timestamppb.New(secs(1)),
		}
		requireProto(t, want, result.Entity)
		require.True(t, result.Changed)
		require.Equal(t, []string{"", "photos", "price", "sold", "title"}, result.Fields)
		requireProto(t, want, b.entity(t, offer))
	}},
	{"a change is a version and says its fields", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1, "b", 2, "c", map[string]any{"x": 1.0}, "d", nil))
		result, err := b.PutEntity(t.Context(), store.EntityPut{
			Entity: anEntity(offer, content("a", 1, "c", map[string]any{"x": 2.0}, "d", nil, "e", nil)), At: secs(5),
		})
		require.NoError(t, err)
		require.True(t, result.Changed)
		require.Equal(t, []string{"b", "c", "e"}, result.Fields)
		require.EqualValues(t, 2, result.Entity.GetVersion())
		require.True(t, result.Entity.GetCreateTime().AsTime().Equal(secs(1)))
		require.True(t, result.Entity.GetUpdateTime().AsTime().Equal(secs(5)))
		requireProto(t, result.Entity, b.entity(t, offer))
	}},
	// G-24
	{"content that equals what stands changes nothing", func(t *testing.T, b *entityBundle) {
		c := content("a", 1, "nan", math.NaN(), "deep", map[string]any{"x": []any{1.0, "2", nil}})
		before := b.put(t, offer, c)
		result, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, proto.CloneOf(c)), At: secs(5), Version: 1})
		require.NoError(t, err)
		require.False(t, result.Changed)
		require.Empty(t, result.Fields)
		requireProto(t, before.Entity, result.Entity)
		require.Len(t, b.records(t, offer), 1)
	}},
	{"an entity may be empty", func(t *testing.T, b *entityBundle) {
		result := b.put(t, offer, nil)
		require.True(t, result.Changed)
		require.Empty(t, result.Fields)
		require.NotNil(t, b.entity(t, offer).GetContent(), "only what is deleted has none")
		require.False(t, b.put(t, offer, &structpb.Struct{}).Changed)
		require.Equal(t, []string{"a"}, b.put(t, offer, content("a", 1)).Fields)
		require.Equal(t, []string{"a"}, b.put(t, offer, nil).Fields)
	}},
	{"a put of another version than the current one does nothing", func(t *testing.T, b *entityBundle) {
		put := func(version int64, c *structpb.Struct) error {
			_, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, c), Version: version, At: secs(1)})
			return err
		}
		require.ErrorIs(t, put(1, content("a", 1)), store.ErrVersion, "there is none")
		_, err := b.GetEntity(t.Context(), offer)
		require.ErrorIs(t, err, store.ErrNotFound)
		b.put(t, offer, content("a", 1))
		require.NoError(t, put(1, content("a", 2)))
		before := b.entity(t, offer)
		require.ErrorIs(t, put(1, content("a", 3)), store.ErrVersion)
		require.ErrorIs(t, put(3, content("a", 2)), store.ErrVersion, "not even what equals")
		requireProto(t, before, b.entity(t, offer))
		require.Len(t, b.records(t, offer), 2)
	}},
	{"a put that only creates replaces nothing", func(t *testing.T, b *entityBundle) {
		p := store.EntityPut{Entity: anEntity(offer, content("a", 1)), CreateOnly: true, At: secs(1)}
		_, err := b.PutEntity(t.Context(), p)
		require.NoError(t, err)
		_, err = b.PutEntity(t.Context(), p)
		require.ErrorIs(t, err, store.ErrEntityExists)
		_, err = b.DeleteEntity(t.Context(), offer, 0, secs(2))
		require.NoError(t, err)
		result, err := b.PutEntity(t.Context(), p)
		require.NoError(t, err)
		require.EqualValues(t, 3, result.Entity.GetVersion())
	}},
	{"a request_id answers as at first", func(t *testing.T, b *entityBundle) {
		p := store.EntityPut{Entity: anEntity(offer, content("a", 1)), RequestID: "r", Digest: "d", Version: 0, CreateOnly: true, At: secs(1)}
		first, err := b.PutEntity(t.Context(), p)
		require.NoError(t, err)
		b.put(t, offer, content("a", 2))
		again, err := b.PutEntity(t.Context(), p)
		require.NoError(t, err)
		requireProto(t, first.Entity, again.Entity)
		require.True(t, again.Changed)
		require.Equal(t, []string{"a"}, again.Fields)
		require.EqualValues(t, 2, b.entity(t, offer).GetVersion())

		other := p
		other.Digest = "other"
		_, err = b.PutEntity(t.Context(), other)
		require.ErrorIs(t, err, store.ErrRequestReused)

		_, err = b.DeleteEntity(t.Context(), offer, 0, secs(3))
		require.NoError(t, err)
		again, err = b.PutEntity(t.Context(), p)
		require.NoError(t, err)
		requireProto(t, first.Entity, again.Entity)
		_, err = b.GetEntity(t.Context(), offer)
		require.ErrorIs(t, err, store.ErrNotFound, "it is not put again")
	}},
	{"a request_id of a put that changed nothing says so again", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		for range 2 {
			result, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, content("a", 1)), RequestID: "r", At: secs(1)})
			require.NoError(t, err)
			require.False(t, result.Changed)
			require.EqualValues(t, 1, result.Entity.GetVersion())
			b.put(t, offer, content("a", 2))
		}
	}},
	{"a put that was refused has not used its request_id", func(t *testing.T, b *entityBundle) {
		p := store.EntityPut{Entity: anEntity(offer, content("a", 1)), RequestID: "r", Version: 7, At: secs(1)}
		_, err := b.PutEntity(t.Context(), p)
		require.ErrorIs(t, err, store.ErrVersion)
		p.Version, p.Digest = 0, "other"
		_, err = b.PutEntity(t.Context(), p)
		require.NoError(t, err)
	}},
	{"a request_id belongs to its entity", func(t *testing.T, b *entityBundle) {
		for _, key := range []store.EntityKey{offer, {Type: "offer", ID: "a_2"}, {Type: "order", ID: "a_1"}} {
			result, err := b.PutEntity(t.Context(), store.EntityPut{
				Entity: anEntity(key, content("a", 1)), RequestID: "r", Digest: key.Type + key.ID, At: secs(1),
			})
			require.NoError(t, err)
			require.True(t, result.Changed)
		}
	}},
	{"old request_ids are removed, so many at a time", func(t *testing.T, b *entityBundle) {
		put := func(request string, second int, digest string) error {
			_, err := b.PutEntity(t.Context(), store.EntityPut{
				Entity: anEntity(offer, content("a", request)), RequestID: request, Digest: digest, At: secs(second),
			})
			return err
		}
		for second, request := range []string{"r-0", "r-1", "r-2", "r-3"} {
			require.NoError(t, put(request, second, "d"))
		}
		for _, want := range []int{2, 1, 0} {
			n, err := b.PurgeEntityRequests(t.Context(), secs(3), 2)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		n, err := b.PurgeEntityRequests(t.Context(), secs(9), 0)
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, put("r-0", 9, "other"))
		require.ErrorIs(t, put("r-3", 9, "other"), store.ErrRequestReused)
	}},
	{"an id belongs to its type", func(t *testing.T, b *entityBundle) {
		// The hash of both begins with the same text.
		one, other := store.EntityKey{Type: "a", ID: "b/c"}, store.EntityKey{Type: "a/b", ID: "c"}
		b.put(t, one, content("one", 1))
		_, err := b.GetEntity(t.Context(), other)
		require.ErrorIs(t, err, store.ErrNotFound)
		b.put(t, other, content("other", 1))
		require.Contains(t, b.entity(t, one).GetContent().GetFields(), "one")
		require.Contains(t, b.entity(t, other).GetContent().GetFields(), "other")
	}},
	{"what is not there is not found", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, nil)
		for _, key := range []store.EntityKey{{Type: "offer", ID: "a"}, {Type: "offer", ID: "A_1"}, {Type: "Offer", ID: "a_1"}, {}, {Type: "offer", ID: "\xff"}} {
			_, err := b.GetEntity(t.Context(), key)
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
			_, err = b.GetStageState(t.Context(), key, "s")
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
			_, err = b.DeleteEntity(t.Context(), key, 0, secs(1))
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
			_, err = b.UpdateStageState(t.Context(), store.StateUpdate{Key: key, Stage: "s", State: private("x")})
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
			_, err = b.BeginVisit(t.Context(), visit(key, "s", "v"))
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
			_, err = b.CommitVisit(t.Context(), commitOf(visit(key, "s", "v"), store.VisitBegun{}))
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
		}
	}},
}

var entityDeleteTests = []entityTest{
	{"what is deleted is gone with its states, and its versions go on", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1, "b", 2))
		b.set(t, offer, "s", "secret", 0)
		_, err := b.DeleteEntity(t.Context(), offer, 2, secs(5))
		require.ErrorIs(t, err, store.ErrVersion)
		result, err := b.DeleteEntity(t.Context(), offer, 1, secs(5))
		require.NoError(t, err)
		require.True(t, result.Changed)
		require.Equal(t, []string{"a", "b"}, result.Fields)
		requireProto(t, &gnomonv1.Entity{
			Type: "offer", Id: "a_1", Version: 2, CreateTime: timestamppb.New(secs(1)), UpdateTime: timestamppb.New(secs(5)),
		}, result.Entity)
		_, err = b.GetEntity(t.Context(), offer)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.GetStageState(t.Context(), offer, "s")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.DeleteEntity(t.Context(), offer, 0, secs(5))
		require.ErrorIs(t, err, store.ErrNotFound)

		again, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, content("a", 1)), At: secs(6)})
		require.NoError(t, err)
		require.EqualValues(t, 3, again.Entity.GetVersion())
		require.Equal(t, []string{"a"}, again.Fields)
		require.True(t, again.Entity.GetCreateTime().AsTime().Equal(secs(6)))
		requireProto(t, &gnomonv1.StageState{}, b.state(t, offer, "s"))
		records := b.records(t, offer)
		require.Len(t, records, 4)
		for i, r := range records {
			require.EqualValues(t, i+1, r.GetSequence())
		}
	}},
	// G-19: whoever has seen a state of the entity that was deleted notices.
	{"a state of the entity put again is of a new version", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "one", 0)
		b.set(t, offer, "s", "two", 1)
		_, err := b.DeleteEntity(t.Context(), offer, 0, secs(5))
		require.NoError(t, err)
		b.put(t, offer, content("a", 1))
		require.False(t, b.set(t, offer, "s", "stale", 2).Updated)
		result := b.set(t, offer, "s", "new", 0)
		require.True(t, result.Updated)
		require.EqualValues(t, 3, result.Current.GetVersion())
	}},
}
