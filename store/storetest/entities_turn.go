package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var entityTurnTests = []entityTest{
	// G-21
	{"a visit gets the entity and its own state", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "mine", 0)
		b.set(t, offer, "other", "another's", 0)
		begun := b.begin(t, visit(offer, "s", "v"))
		requireProto(t, b.entity(t, offer), begun.Entity)
		require.Equal(t, "mine", textOf(t, begun.State))
		require.EqualValues(t, 1, begun.State.GetVersion())
		begun = b.begin(t, visit(put(t, b, "b"), "s", "v2"))
		requireProto(t, &gnomonv1.StageState{}, begun.State)
	}},
	// G-25
	{"one visit at a time works on an entity", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		first := visit(offer, "s", "v")
		b.begin(t, first)
		b.begin(t, first)
		for _, other := range []store.VisitBegin{visit(offer, "s2", "v2"), {
			Key: offer, Stage: "s", VisitID: "v", Holder: "v/2", At: secs(19), Until: secs(29), // another attempt of it
		}} {
			_, err := b.BeginVisit(t.Context(), other)
			require.ErrorIs(t, err, store.ErrBusy)
			other.At = secs(20)
			other.Until = secs(30)
		}
		b.begin(t, visit(put(t, b, "b"), "s", "v2")) // another entity's
		require.NoError(t, b.EndVisit(t.Context(), offer, "v2/1"))
		_, err := b.BeginVisit(t.Context(), visit(offer, "s2", "v2"))
		require.ErrorIs(t, err, store.ErrBusy, "the turn was not the other's to end")
		require.NoError(t, b.EndVisit(t.Context(), offer, "v/1"))
		require.NoError(t, b.EndVisit(t.Context(), offer, "v/1"))
		b.begin(t, visit(offer, "s2", "v2"))
	}},
	{"a turn ends with its time, unless it is kept", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.begin(t, visit(offer, "s", "v"))
		require.NoError(t, b.KeepTurn(t.Context(), offer, "v/1", secs(25)))
		require.NoError(t, b.KeepTurn(t.Context(), offer, "v/1", secs(22)), "it makes no turn shorter")
		require.ErrorIs(t, b.KeepTurn(t.Context(), offer, "v/2", secs(99)), store.ErrTurnLost)
		require.ErrorIs(t, b.KeepTurn(t.Context(), store.EntityKey{Type: "offer", ID: "none"}, "v/1", secs(99)), store.ErrTurnLost)
		next := visit(offer, "s2", "v2")
		next.At, next.Until = secs(24), secs(40)
		_, err := b.BeginVisit(t.Context(), next)
		require.ErrorIs(t, err, store.ErrBusy)
		next.At = secs(25)
		begun := b.begin(t, next)
		require.ErrorIs(t, b.KeepTurn(t.Context(), offer, "v/1", secs(99)), store.ErrTurnLost)
		require.NoError(t, b.EndVisit(t.Context(), offer, "v/1"))
		_, err = b.CommitVisit(t.Context(), commitOf(visit(offer, "s", "v"), begun))
		require.ErrorIs(t, err, store.ErrTurnLost)
		b.commit(t, commitOf(next, begun))
	}},
	{"who is late and has not lost the turn still has it", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		begun := b.begin(t, v)
		require.NoError(t, b.KeepTurn(t.Context(), offer, "v/1", secs(20)))
		c := commitOf(v, begun)
		c.At = secs(50)
		b.commit(t, c)
	}},
	{"a turn that is over is over", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		begun := b.begin(t, v)
		require.NoError(t, b.EndVisit(t.Context(), offer, v.Holder))
		require.ErrorIs(t, b.KeepTurn(t.Context(), offer, v.Holder, secs(99)), store.ErrTurnLost)
		_, err := b.CommitVisit(t.Context(), commitOf(v, begun))
		require.ErrorIs(t, err, store.ErrTurnLost)
		require.Len(t, b.records(t, offer), 1)
	}},
	// G-25: a visit may go on although the entity was deleted and put again meanwhile.
	{"a turn outlives the entity", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		v := visit(offer, "s", "v")
		begun := b.begin(t, v)
		_, err := b.DeleteEntity(t.Context(), offer, 0, secs(11))
		require.NoError(t, err)
		_, err = b.CommitVisit(t.Context(), commitOf(v, begun))
		require.ErrorIs(t, err, store.ErrNotFound)
		b.put(t, offer, content("a", 1))
		_, err = b.BeginVisit(t.Context(), visit(offer, "s2", "v2"))
		require.ErrorIs(t, err, store.ErrBusy)
		_, err = b.CommitVisit(t.Context(), commitOf(v, begun))
		require.ErrorIs(t, err, store.ErrVersion)
		b.commit(t, commitOf(v, b.begin(t, v)))
	}},
}

// put makes another offer.
func put(t *testing.T, b *entityBundle, id string) store.EntityKey {
	t.Helper()
	key := store.EntityKey{Type: "offer", ID: id}
	b.put(t, key, content("a", 1))
	return key
}

var entitySlotTests = []entityTest{
	// G-33
	{"no more slots are taken than there are", func(t *testing.T, b *entityBundle) {
		take := func(stage, holder string, limit uint32, at, until int) error {
			return b.TakeSlot(t.Context(), store.SlotTake{Stage: stage, Holder: holder, Limit: limit, At: secs(at), Until: secs(until)})
		}
		require.ErrorIs(t, take("s", "x", 0, 1, 10), store.ErrBusy)
		require.NoError(t, take("s", "a", 2, 1, 10))
		require.NoError(t, take("s", "b", 2, 1, 20))
		require.ErrorIs(t, take("s", "c", 2, 9, 20), store.ErrBusy)
		require.NoError(t, take("s2", "c", 1, 1, 20), "another stage has its own")
		require.NoError(t, take("s", "b", 1, 2, 20), "who has one keeps it, though there are fewer now")
		require.NoError(t, b.ReleaseSlot(t.Context(), "s", "b"))
		require.NoError(t, b.ReleaseSlot(t.Context(), "s", "b"))
		require.NoError(t, b.ReleaseSlot(t.Context(), "s2", "a"))
		require.NoError(t, take("s", "c", 2, 2, 20))
		require.ErrorIs(t, take("s", "b", 2, 9, 20), store.ErrBusy)
		require.NoError(t, take("s", "b", 2, 10, 20), "the time of a is up")
		require.ErrorIs(t, take("s", "a", 2, 10, 20), store.ErrBusy, "another has taken its place")
		require.NoError(t, take("s", "c", 2, 19, 30), "it keeps it longer")
		require.NoError(t, take("s", "a", 2, 20, 30))
		require.ErrorIs(t, take("s", "b", 2, 29, 40), store.ErrBusy)
	}},
	// G-32
	{"no more calls are granted than the rate allows, whatever the clocks", func(t *testing.T, b *entityBundle) {
		// Two in twelve seconds, three after each other at least, up to six ahead.
		take := func(stage, name string, now int, want int, busy bool) {
			t.Helper()
			at, err := b.TakeToken(t.Context(), store.TokenTake{
				Stage: stage, Name: name, Limit: 2, Span: 12 * time.Second, At: secs(now), Ahead: 6 * time.Second,
			})
			require.Equal(t, busy, errors.Is(err, store.ErrBusy), err)
			if !busy {
				require.NoError(t, err)
			}
			require.WithinDuration(t, secs(want), at, 0)
		}
		take("s", "a", 100, 100, false)
		take("s", "b", 100, 103, false)
		take("s", "b", 102, 103, false) // it keeps its own
		take("s", "c", 105, 112, true)
		take("s", "c", 106, 112, false)
		take("s2", "c", 106, 106, false) // another stage has its own
		take("s", "d", 50, 115, true)    // by a clock that is behind
		take("s", "d", 130, 130, false)
		take("s", "e", 131, 133, false)
		take("s", "f", 120, 142, true) // by a clock that is behind
		take("s", "f", 136, 142, false)
		take("s", "g", 1, 1, false) // all clocks were set back
	}},
}
