package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var entityStateTests = []entityTest{
	// G-18
	{"a state is replaced only if its version was seen", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		requireProto(t, &gnomonv1.StageState{}, b.state(t, offer, "s"))
		result := b.set(t, offer, "s", "one", 0)
		require.True(t, result.Updated)
		require.EqualValues(t, 1, result.EntityVersion, "it is no change of the entity")
		require.EqualValues(t, 1, result.Current.GetVersion())
		require.True(t, result.Current.GetUpdateTime().AsTime().Equal(secs(2)))
		requireProto(t, result.Current, b.state(t, offer, "s"))

		for _, stale := range []int64{0, 2, -1} {
			refused := b.set(t, offer, "s", "stale", stale)
			require.False(t, refused.Updated)
			requireProto(t, result.Current, refused.Current)
			require.EqualValues(t, 1, refused.EntityVersion)
		}
		result = b.set(t, offer, "s", "two", 1)
		require.True(t, result.Updated)
		require.EqualValues(t, 2, result.Current.GetVersion())
		require.Equal(t, "two", textOf(t, b.state(t, offer, "s")))
		require.Len(t, b.records(t, offer), 3)
	}},
	// G-07
	{"each stage has its own", func(t *testing.T, b *entityBundle) {
		other := store.EntityKey{Type: "offer", ID: "a_2"}
		b.put(t, offer, content("a", 1))
		b.put(t, other, content("a", 1))
		b.set(t, offer, "s", "one", 0)
		b.set(t, offer, "s2", "two", 0)
		b.set(t, other, "s", "three", 0)
		require.Equal(t, "one", textOf(t, b.state(t, offer, "s")))
		require.Equal(t, "two", textOf(t, b.state(t, offer, "s2")))
		require.Equal(t, "three", textOf(t, b.state(t, other, "s")))
		requireProto(t, &gnomonv1.StageState{}, b.state(t, other, "s2"))
		requireProto(t, &gnomonv1.StageState{}, b.state(t, other, "\xff"))
	}},
	{"a state that is removed is none, of a version", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "one", 0)
		result, err := b.UpdateStageState(t.Context(), store.StateUpdate{Key: offer, Stage: "s", Version: 1, At: secs(3)})
		require.NoError(t, err)
		require.True(t, result.Updated)
		require.Nil(t, result.Current.GetState())
		require.EqualValues(t, 2, result.Current.GetVersion())
		requireProto(t, result.Current, b.state(t, offer, "s"))
		require.False(t, b.set(t, offer, "s", "stale", 0).Updated)
		require.True(t, b.set(t, offer, "s", "again", 2).Updated)
	}},
	{"a state that equals what stands changes nothing", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		first := b.set(t, offer, "s", "one", 0)
		again := b.set(t, offer, "s", "one", 1)
		require.True(t, again.Updated)
		requireProto(t, first.Current, again.Current)
		result, err := b.UpdateStageState(t.Context(), store.StateUpdate{Key: offer, Stage: "none", At: secs(3)})
		require.NoError(t, err)
		require.True(t, result.Updated)
		requireProto(t, &gnomonv1.StageState{}, result.Current)
		require.Len(t, b.records(t, offer), 2)
	}},
}
