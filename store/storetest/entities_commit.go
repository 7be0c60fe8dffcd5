package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

var entityCommitTests = []entityTest{
	// G-08, G-22
	{"content, state and record are stored together", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1, "b", 1))
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.Content, c.State = anEntity(store.EntityKey{}, content("a", 2, "b", 1)), private("mine")
		result := b.commit(t, c)
		requireProto(t, &workflowv1.VisitResult{Version: 2, Changed: true, Fields: []string{"a"}, Timer: timestamppb.New(secs(99))}, result)
		e := b.entity(t, offer)
		requireProto(t, &gnomonv1.Entity{
			Type: "offer", Id: "a_1", Content: content("a", 2, "b", 1), Version: 2, CreateTime: timestamppb.New(secs(1)),
			UpdateTime: timestamppb.New(secs(11)), ChangedByStage: "s",
		}, e)
		state := b.state(t, offer, "s")
		require.Equal(t, "mine", textOf(t, state))
		require.EqualValues(t, 1, state.GetVersion())
		require.True(t, state.GetUpdateTime().AsTime().Equal(secs(11)))
		requireProto(t, &gnomonv1.SavedRecord{
			Entity: e, Sequence: 2, Stage: "s", State: state, Changed: true, CommitTime: timestamppb.New(secs(11)), CommitId: "v",
		}, b.records(t, offer)[1])
		require.Empty(t, b.put(t, offer, content("c", 1)).Entity.GetChangedByStage(), "a put is nobody's")
	}},
	{"a commit ends the turn", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		b.commit(t, commitOf(v, b.begin(t, v)))
		require.ErrorIs(t, b.KeepTurn(t.Context(), offer, v.Holder, secs(99)), store.ErrTurnLost)
		b.begin(t, visit(offer, "s2", "v2"))
	}},
	// G-24
	{"content that stays asks nobody, though the state is stored", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		before := b.entity(t, offer)
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.Content, c.State = anEntity(offer, content("a", 1)), private("mine")
		result := b.commit(t, c)
		require.False(t, result.GetChanged())
		require.Empty(t, result.GetFields())
		require.EqualValues(t, 1, result.GetVersion())
		requireProto(t, before, b.entity(t, offer))
		require.Equal(t, "mine", textOf(t, b.state(t, offer, "s")))
		records := b.records(t, offer)
		require.Len(t, records, 2)
		require.False(t, records[1].GetChanged())
		requireProto(t, before, records[1].GetEntity())
	}},
	{"a commit of nothing writes no record", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "mine", 0)
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.State = private("mine") // as it is
		require.EqualValues(t, 1, b.commit(t, c).GetVersion())
		require.Len(t, b.records(t, offer), 2)
		require.EqualValues(t, 1, b.state(t, offer, "s").GetVersion())
		// It is recognised all the same.
		begun, err := b.BeginVisit(t.Context(), v)
		require.NoError(t, err)
		require.NotNil(t, begun.Committed)
	}},
	{"a state may be removed by a commit, or stay", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "mine", 0)
		v := visit(offer, "s", "v")
		b.commit(t, commitOf(v, b.begin(t, v)))
		require.Equal(t, "mine", textOf(t, b.state(t, offer, "s")))
		v = visit(offer, "s", "v2")
		c := commitOf(v, b.begin(t, v))
		c.State = &gnomonv1.StageState{}
		b.commit(t, c)
		state := b.state(t, offer, "s")
		require.Nil(t, state.GetState())
		require.EqualValues(t, 2, state.GetVersion())
		require.Len(t, b.records(t, offer), 3)
	}},
	// G-22, G-19
	{"what changed meanwhile makes a visit stale, and nothing of it is stored", func(t *testing.T, b *entityBundle) {
		for name, meanwhile := range map[string]func(key store.EntityKey){
			"a put":             func(key store.EntityKey) { b.put(t, key, content("a", 2)) },
			"the state":         func(key store.EntityKey) { b.set(t, key, "s", "theirs", 1) },
			"the state removed": func(key store.EntityKey) { removeAndRestore(t, b, key) },
			"deleted and put again": func(key store.EntityKey) {
				_, err := b.DeleteEntity(t.Context(), key, 0, secs(12))
				require.NoError(t, err)
				b.put(t, key, content("a", 1))
			},
		} {
			key := put(t, b, name)
			b.set(t, key, "s", "mine", 0)
			v := visit(key, "s", "v")
			c := commitOf(v, b.begin(t, v))
			c.Content, c.State = anEntity(key, content("a", 3)), private("new")
			meanwhile(key)
			entity, state, records := b.entity(t, key), b.state(t, key, "s"), len(b.records(t, key))
			_, err := b.CommitVisit(t.Context(), c)
			require.ErrorIs(t, err, store.ErrVersion, name)
			requireProto(t, entity, b.entity(t, key))
			requireProto(t, state, b.state(t, key, "s"))
			require.Len(t, b.records(t, key), records)
			// The turn is kept: it begins anew and commits.
			_, err = b.BeginVisit(t.Context(), visit(key, "other", "v2"))
			require.ErrorIs(t, err, store.ErrBusy, name)
			again := commitOf(v, b.begin(t, v))
			again.Content, again.State = c.Content, c.State
			require.True(t, b.commit(t, again).GetChanged(), name)
		}
	}},
	{"the state of another stage is no conflict", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		b.set(t, offer, "other", "theirs", 0)
		c.State = private("mine")
		b.commit(t, c)
		require.Equal(t, "theirs", textOf(t, b.state(t, offer, "other")))
	}},
	// G-11
	{"a visit that was committed is not committed again", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.Content, c.State = anEntity(offer, content("a", 2)), private("mine")
		first := b.commit(t, c)
		b.begin(t, visit(offer, "s2", "v2")) // others go on
		again := c
		again.Content, again.State, again.Holder = anEntity(offer, content("a", 3)), private("another"), "v/2"
		requireProto(t, first, b.commit(t, again))
		retry := v
		retry.Holder = "v/2"
		begun, err := b.BeginVisit(t.Context(), retry)
		require.NoError(t, err, "it needs no turn")
		requireProto(t, first, begun.Committed)
		requireProto(t, b.entity(t, offer), begun.Entity)
		require.Equal(t, "mine", textOf(t, begun.State))
		require.Len(t, b.records(t, offer), 2)
		require.NoError(t, b.KeepTurn(t.Context(), offer, "v2/1", secs(30)), "the other's turn is untouched")
		// A state that was set from outside hides no commit.
		b.set(t, offer, "s", "theirs", 1)
		requireProto(t, first, b.commit(t, c))
		// The next visit of the stage is another one.
		require.NoError(t, b.EndVisit(t.Context(), offer, "v2/1"))
		next := visit(offer, "s", "v3")
		b.commit(t, commitOf(next, b.begin(t, next)))
	}},
	{"a visit of another stage is another one", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		b.commit(t, commitOf(v, b.begin(t, v)))
		b.begin(t, visit(offer, "s2", "v"))
	}},
	{"a commit may delete the entity", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "other", "theirs", 0)
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.Delete, c.Content, c.State = true, anEntity(offer, content("a", 2)), private("mine")
		result := b.commit(t, c)
		requireProto(t, &workflowv1.VisitResult{Version: 2, Gone: true, Changed: true, Fields: []string{"a"}, Timer: timestamppb.New(secs(99))}, result)
		_, err := b.GetEntity(t.Context(), offer)
		require.ErrorIs(t, err, store.ErrNotFound)
		last := b.records(t, offer)[2]
		requireProto(t, &gnomonv1.SavedRecord{
			Entity: &gnomonv1.Entity{
				Type: "offer", Id: "a_1", Version: 2, CreateTime: timestamppb.New(secs(1)), UpdateTime: timestamppb.New(secs(11)), ChangedByStage: "s",
			}, Sequence: 3, Stage: "s", Changed: true, Deleted: true, CommitTime: timestamppb.New(secs(11)), CommitId: "v",
		}, last)
		requireProto(t, result, b.commit(t, c))
		begun, err := b.BeginVisit(t.Context(), v)
		require.NoError(t, err)
		requireProto(t, result, begun.Committed)
		require.Nil(t, begun.Entity)
		b.put(t, offer, content("a", 1))
		for _, stage := range []string{"s", "other"} {
			requireProto(t, &gnomonv1.StageState{}, b.state(t, offer, stage))
		}
		// Deleted by its next visit too, which has no state of this life.
		v = visit(offer, "s", "v2")
		c = commitOf(v, b.begin(t, v))
		c.Delete = true
		result = b.commit(t, c)
		requireProto(t, result, b.commit(t, c))
	}},
}

// removeAndRestore leaves the state as it was, but not its version.
func removeAndRestore(t *testing.T, b *entityBundle, key store.EntityKey) {
	t.Helper()
	result, err := b.UpdateStageState(t.Context(), store.StateUpdate{Key: key, Stage: "s", Version: 1, At: secs(12)})
	require.NoError(t, err)
	require.True(t, b.set(t, key, "s", "mine", result.Current.GetVersion()).Updated)
}
