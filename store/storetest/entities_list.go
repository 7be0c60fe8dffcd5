package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var entityListTests = []entityTest{
	// G-30
	{"pages have each entity of a type once, by id", func(t *testing.T, b *entityBundle) {
		ids := []string{"", "a", "a-1", "a/2", "a_1", "aa", "b", "B", "é", "🌵", "z\x00", "~"}
		for _, id := range ids {
			b.put(t, store.EntityKey{Type: "offer", ID: id}, content("id", id))
			b.put(t, store.EntityKey{Type: "offers", ID: id}, nil)
		}
		for _, id := range []string{"b", "~"} {
			_, err := b.DeleteEntity(t.Context(), store.EntityKey{Type: "offer", ID: id}, 0, secs(2))
			require.NoError(t, err)
		}
		b.put(t, store.EntityKey{Type: "offer", ID: "~"}, content("id", "~"))
		ids = slices.DeleteFunc(slices.Sorted(slices.Values(ids)), func(id string) bool { return id == "b" })
		for limit := 1; limit <= len(ids)+1; limit++ {
			q := store.EntityQuery{Type: "offer", Limit: limit}
			seen := []string{""} // nothing comes before it
			for {
				page, err := b.ListEntities(t.Context(), q)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page), limit)
				for _, e := range page {
					requireProto(t, b.entity(t, store.EntityKey{Type: "offer", ID: e.GetId()}), e)
					seen = append(seen, e.GetId())
				}
				if len(page) < limit {
					break
				}
				q.After = page[limit-1].GetId()
			}
			require.Equal(t, ids, seen, "limit %d", limit)
		}
		_, err := b.ListEntities(t.Context(), store.EntityQuery{Type: "offer"})
		require.ErrorContains(t, err, "EntityQuery.Limit")
		for _, none := range []string{"", "Offer", "\xff"} {
			page, err := b.ListEntities(t.Context(), store.EntityQuery{Type: none, Limit: 10})
			require.NoError(t, err)
			require.Empty(t, page)
		}
	}},
	{"entities are counted by type", func(t *testing.T, b *entityBundle) {
		count := func(of string) uint64 {
			n, err := b.CountEntities(t.Context(), of)
			require.NoError(t, err)
			return n
		}
		require.Zero(t, count("offer"))
		for i := range 5 {
			put(t, b, fmt.Sprint(i))
		}
		b.put(t, store.EntityKey{Type: "order", ID: "1"}, nil)
		_, err := b.DeleteEntity(t.Context(), store.EntityKey{Type: "offer", ID: "2"}, 0, secs(2))
		require.NoError(t, err)
		require.EqualValues(t, 4, count("offer"))
		require.EqualValues(t, 1, count("order"))
		require.Zero(t, count("\xff"))
	}},
}

var entityOutboxTests = []entityTest{
	// G-12
	{"records come in their order until they are published", func(t *testing.T, b *entityBundle) {
		other := put(t, b, "b")
		b.put(t, offer, content("a", 0))
		b.set(t, offer, "s", "mine", 0)
		for i := range 10 {
			b.put(t, offer, content("a", i+1))
		}
		all := b.records(t, offer)
		require.Len(t, all, 12)
		ids := map[string]bool{}
		for i, r := range all {
			require.EqualValues(t, i+1, r.GetSequence())
			require.NotEmpty(t, r.GetCommitId())
			ids[r.GetCommitId()] = true
		}
		require.Len(t, ids, 12, "each commit has its id")
		// G-13: the state is in the record of its stage only.
		requireProto(t, &gnomonv1.SavedRecord{
			Entity: all[0].GetEntity(), Sequence: 2, Stage: "s", State: b.state(t, offer, "s"), CommitTime: timestamppb.New(secs(2)), CommitId: all[1].GetCommitId(),
		}, all[1])
		requireProto(t, b.entity(t, offer), all[11].GetEntity())
		require.True(t, all[11].GetChanged())
		require.Nil(t, all[11].GetState())

		page, err := b.Unpublished(t.Context(), offer, 3)
		require.NoError(t, err)
		requireRecords(t, all[:3], page)
		require.NoError(t, b.Published(t.Context(), offer, 2))
		require.NoError(t, b.Published(t.Context(), offer, 2))
		require.NoError(t, b.Published(t.Context(), offer, 1))
		requireRecords(t, all[2:], b.records(t, offer))
		require.NoError(t, b.Published(t.Context(), offer, 99))
		require.Empty(t, b.records(t, offer))
		require.Len(t, b.records(t, other), 1)
		b.put(t, offer, content("a", "more"))
		require.EqualValues(t, 13, b.records(t, offer)[0].GetSequence())
		_, err = b.Unpublished(t.Context(), offer, 0)
		require.Error(t, err)
		none, err := b.Unpublished(t.Context(), store.EntityKey{Type: "offer", ID: "\xff"}, 1)
		require.NoError(t, err)
		require.Empty(t, none)
	}},
	{"a deletion is recorded", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		result, err := b.DeleteEntity(t.Context(), offer, 1, secs(5))
		require.NoError(t, err)
		last := b.records(t, offer)[1]
		requireProto(t, &gnomonv1.SavedRecord{
			Entity: result.Entity, Sequence: 2, Changed: true, Deleted: true, CommitTime: timestamppb.New(secs(5)), CommitId: last.GetCommitId(),
		}, last)
	}},
	{"what is not published for long is found, each entity once", func(t *testing.T, b *entityBundle) {
		var want []store.EntityVersion
		for i := range 6 {
			key := store.EntityKey{Type: []string{"offer", "order"}[i/3], ID: fmt.Sprint(i)}
			for n := range i + 1 { // up to more than a page of each
				b.put(t, key, content("n", n))
			}
			want = append(want, store.EntityVersion{Key: key, Version: int64(i + 1)})
		}
		published := store.EntityKey{Type: "offer", ID: "published"}
		b.put(t, published, nil)
		require.NoError(t, b.Published(t.Context(), published, 1))
		fresh := store.EntityKey{Type: "offer", ID: "fresh"}
		_, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(fresh, nil), At: secs(5)})
		require.NoError(t, err)
		deleted := want[1].Key
		_, err = b.DeleteEntity(t.Context(), deleted, 0, secs(5))
		require.NoError(t, err)
		want[1].Version = 3
		for limit := 1; limit <= 7; limit++ {
			var seen []store.EntityVersion
			after := store.EntityKey{}
			for {
				page, err := b.Forgotten(t.Context(), secs(5), after, limit)
				require.NoError(t, err)
				require.LessOrEqual(t, len(page), limit)
				seen = append(seen, page...)
				if len(page) < limit {
					break
				}
				after = page[limit-1].Key
			}
			require.Equal(t, want, seen, "limit %d", limit)
		}
		page, err := b.Forgotten(t.Context(), secs(1), store.EntityKey{}, 10)
		require.NoError(t, err)
		require.Empty(t, page)
		_, err = b.Forgotten(t.Context(), secs(5), store.EntityKey{}, 0)
		require.Error(t, err)
	}},
}

func requireRecords(t require.TestingT, want, got []*gnomonv1.SavedRecord) {
	require.Len(t, got, len(want))
	for i := range want {
		requireProto(t, want[i], got[i])
	}
}

var entityQueueTests = []entityTest{
	// G-34, G-36
	{"a queue is read oldest first, page by page", func(t *testing.T, b *entityBundle) {
		var want []store.QueueEntry
		for i := range 12 {
			key := store.EntityKey{Type: []string{"a", "b"}[i%2], ID: fmt.Sprint(i)}
			e := store.QueueEntry{Key: key, Stage: "s", EnqueueTime: secs(-(i / 4)), Background: i%3 == 0} // ties
			require.NoError(t, b.PutQueue(t.Context(), store.QueueWrite{
				Key: key, Revision: at(1), Entries: []store.QueueEntry{{Stage: "s", EnqueueTime: e.EnqueueTime, Background: e.Background}, {Stage: "s2", EnqueueTime: secs(i)}},
			}))
			want = append(want, e)
		}
		slices.SortFunc(want, func(a, b store.QueueEntry) int {
			return cmp.Or(a.EnqueueTime.Compare(b.EnqueueTime), strings.Compare(a.Key.Type, b.Key.Type), strings.Compare(a.Key.ID, b.Key.ID))
		})
		for limit := 1; limit <= 13; limit++ {
			requireQueue(t, b, want, store.QueueQuery{Stage: "s", Limit: limit})
		}
		requireQueue(t, b, nil, store.QueueQuery{Stage: "none", Limit: 1})
		requireQueue(t, b, nil, store.QueueQuery{Stage: "\xff", Limit: 1})
		_, err := b.PeekQueue(t.Context(), store.QueueQuery{Stage: "s"})
		require.ErrorContains(t, err, "QueueQuery.Limit")
	}},
	// G-04, G-34
	{"the rows of an entity are replaced by a newer write only", func(t *testing.T, b *entityBundle) {
		other := store.EntityKey{Type: "offer", ID: "b"}
		one := func(second int, background bool) []store.QueueEntry {
			return []store.QueueEntry{{Stage: "s", EnqueueTime: secs(second), Background: background}}
		}
		write := func(key store.EntityKey, r store.Revision, entries []store.QueueEntry) {
			require.NoError(t, b.PutQueue(t.Context(), store.QueueWrite{Key: key, Revision: r, Entries: entries}))
		}
		stands := func(want ...store.QueueEntry) {
			t.Helper()
			requireQueue(t, b, want, store.QueueQuery{Stage: "s", Limit: 5})
		}
		entry := func(key store.EntityKey, e []store.QueueEntry) store.QueueEntry {
			e[0].Key = key
			return e[0]
		}
		write(other, at(9), one(7, false))
		theirs := entry(other, one(7, false))
		write(offer, at(2), one(1, true))
		stands(entry(offer, one(1, true)), theirs)
		write(offer, at(1), one(3, false))
		write(offer, at(2), nil)
		stands(entry(offer, one(1, true)), theirs)
		write(offer, at(3), one(1, false))
		stands(entry(offer, one(1, false)), theirs)
		write(offer, at(10), append(one(9, false), store.QueueEntry{Stage: "s2", EnqueueTime: secs(1)}))
		stands(theirs, entry(offer, one(9, false)))
		write(offer, at(11), []store.QueueEntry{{Stage: "s2", EnqueueTime: secs(2)}})
		stands(theirs)
		write(offer, store.Revision{Incarnation: secs(1), Sequence: 1}, nil) // of a workflow begun anew
		requireQueue(t, b, nil, store.QueueQuery{Stage: "s2", Limit: 5})
		write(offer, at(99), one(1, false))
		stands(theirs)
	}},
}

// requireQueue reads a queue page by page.
func requireQueue(t *testing.T, b *entityBundle, want []store.QueueEntry, q store.QueueQuery) {
	t.Helper()
	var seen []store.QueueEntry
	for {
		page, err := b.PeekQueue(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), q.Limit)
		for i := range page {
			page[i].EnqueueTime = page[i].EnqueueTime.UTC()
		}
		seen = append(seen, page...)
		if len(page) < q.Limit {
			break
		}
		q.After = &page[q.Limit-1]
	}
	require.Equal(t, want, seen, "limit %d", q.Limit)
}

var entityRewalkTests = []entityTest{
	{"only a newer revision of a walk is written", func(t *testing.T, b *entityBundle) {
		_, err := b.GetRewalk(t.Context(), "s")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = b.GetRewalk(t.Context(), "\xff")
		require.ErrorIs(t, err, store.ErrNotFound)
		walk := &gnomonv1.Rewalk{Stage: "s", State: gnomonv1.Rewalk_RUNNING, Walked: 1, Position: "a", StartTime: timestamppb.New(epoch)}
		stands := func(walked uint64) {
			t.Helper()
			w, err := b.GetRewalk(t.Context(), "s")
			require.NoError(t, err)
			want := proto.CloneOf(walk)
			want.Walked = walked
			requireProto(t, want, w)
		}
		for _, w := range []struct {
			revision store.Revision
			walked   uint64
			stands   uint64
		}{
			{at(2), 2, 2},
			{at(1), 1, 2},
			{at(2), 3, 2},
			{at(10), 4, 4},
			{store.Revision{Incarnation: secs(1), Sequence: 1}, 5, 5},
			{at(99), 6, 5},
		} {
			written := proto.CloneOf(walk)
			written.Walked = w.walked
			require.NoError(t, b.PutRewalk(t.Context(), written, w.revision))
			stands(w.stands)
		}
		_, err = b.GetRewalk(t.Context(), "s2")
		require.ErrorIs(t, err, store.ErrNotFound)
	}},
}
