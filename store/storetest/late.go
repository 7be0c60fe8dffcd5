package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Writes that come late, twice, together or from clocks that differ: M-61, F6 and
// the skew of faults.md.
var lateTests = []test{
	{"a late write of an attempt does not undo what came after it", func(t *testing.T, b *bundle) {
		began := store.Revision{Incarnation: epoch, Sequence: 3, Attempt: 1, Phase: store.PhaseCurrent}
		ended := store.Revision{Incarnation: epoch, Sequence: 3, Attempt: 1, Phase: store.PhaseLast}
		again := store.Revision{Incarnation: epoch, Sequence: 3, Attempt: 2, Phase: store.PhaseCurrent}
		workflow := store.Revision{Incarnation: epoch, Sequence: 4}
		b.putAll(t, row("a", revision(ended), counted(1)))
		require.False(t, b.put(t, row("a", revision(began))))
		b.putAll(t, row("a", revision(again), counted(2)))
		require.False(t, b.put(t, row("a", revision(ended), counted(1))))
		b.putAll(t, row("a", revision(workflow), counted(3)))
		for _, late := range []store.Revision{began, ended, again, workflow} {
			require.False(t, b.put(t, row("a", revision(late), counted(9))))
		}
		b.requireRow(t, row("a", revision(workflow), counted(3)))
	}},
	{"late writes of all earlier incarnations stay refused", func(t *testing.T, b *bundle) {
		incarnation := func(n int, sequence uint64) store.Revision {
			return store.Revision{Incarnation: epoch.Add(time.Duration(n) * time.Minute), Sequence: sequence}
		}
		for n := range 3 {
			name := chain(fmt.Sprint(n))
			if n > 0 {
				require.True(t, b.insert(t, row("a", name)))
			}
			b.putAll(t, row("a", name, revision(incarnation(n, 5))), row("a", name, revision(incarnation(n, 6)), ended))
			for before := range n + 1 {
				require.False(t, b.put(t, row("a", chain(fmt.Sprint(before)), revision(incarnation(before, 6)))))
				require.False(t, b.put(t, row("a", chain(fmt.Sprint(before)), revision(incarnation(before, 5)), ended)))
			}
		}
		require.Empty(t, b.list(t, store.ActionQuery{}))
		b.requireRow(t, row("a", chain("2"), revision(incarnation(2, 6)), ended))
	}},
	{"of equal revisions in one call the first applies", func(t *testing.T, b *bundle) {
		applied, err := b.PutActions(t.Context(), []store.Row{
			row("a", counted(1)), row("a", counted(2)), row("a", ended), row("b", ended), row("b", counted(2)),
		})
		require.NoError(t, err)
		require.Equal(t, []bool{true, false, false, true, false}, applied)
		b.requireRow(t, row("a", counted(1)))
		b.requireRow(t, row("b", ended))
	}},
	{"a call that holds everything twice is written once", func(t *testing.T, b *bundle) {
		var rows []store.Row
		for i := range 50 {
			rows = append(rows, row(rowName(i)))
		}
		applied, err := b.PutActions(t.Context(), append(slices.Clone(rows), rows...))
		require.NoError(t, err)
		for i, ok := range applied {
			require.Equal(t, i < 50, ok, "row %d", i)
		}
		applied, err = b.PutActions(t.Context(), rows)
		require.NoError(t, err)
		require.NotContains(t, applied, true)
		require.Len(t, b.list(t, store.ActionQuery{}), 50)
	}},
	{"a tombstone in the middle of one call is written over by what is newer", func(t *testing.T, b *bundle) {
		applied, err := b.PutActions(t.Context(), []store.Row{
			row("a", revision(at(1))), row("a", revision(at(2)), ended), row("a", revision(at(1))), row("a", revision(at(3)), counted(3)),
		})
		require.NoError(t, err)
		require.Equal(t, []bool{true, true, false, true}, applied)
		b.clock.advance(10 * ttl)
		b.requireRow(t, row("a", revision(at(3)), counted(3)))
	}},
	{"whose deletion a tombstone is stands until it expires", func(t *testing.T, b *bundle) {
		deleted := row("a", revision(at(2)), chain("old"), ended)
		deleted.DeletedBy = "r-1"
		b.putAll(t, row("a", chain("old")), deleted)
		require.True(t, b.insert(t, row("a", chain("new"))))
		want := row("a", chain("new"), revision(at(3)))
		b.putAll(t, want)
		want.DeletedBy = "r-1"
		b.requireRow(t, want)

		again := row("a", chain("new"), revision(at(4)), ended)
		again.DeletedBy = "r-2"
		b.putAll(t, again)
		b.requireRow(t, again)
		b.clock.advance(ttl)
		b.putAll(t, row("a", chain("third")))
		b.requireRow(t, row("a", chain("third")))
	}},
	{"revisions of clocks that differ are ordered by themselves, not by the store's", func(t *testing.T, b *bundle) {
		for i, year := range []int{1971, 2025, 2026, 2027, 2200} {
			when := time.Date(year, 1, 1, 0, 0, 0, i, time.UTC)
			newer := row("a", revision(store.Revision{Incarnation: when}), due(when), counted(uint64(i)))
			b.putAll(t, newer)
			require.False(t, b.put(t, row("a", revision(store.Revision{Incarnation: when.Add(-time.Nanosecond), Sequence: 99}))))
			b.clock.advance(time.Minute)
			b.requireRow(t, newer)
		}
	}},
	{"a tombstone expires by the clock of the store that wrote it, whatever its times say", func(t *testing.T, b *bundle) {
		for i, when := range []time.Time{time.Unix(1, 0), epoch.AddDate(50, 0, 0)} {
			r := row(rowName(i), revision(store.Revision{Incarnation: when}), due(when), ended)
			b.putAll(t, r)
			b.requireRow(t, r)
		}
		b.clock.advance(ttl - time.Microsecond)
		require.Len(t, b.list(t, store.ActionQuery{ShowFinished: true}), 2)
		b.clock.advance(time.Microsecond)
		require.Empty(t, b.list(t, store.ActionQuery{ShowFinished: true}))
	}},
	{"of a tombstone and writes that race the newest stands", func(t *testing.T, b *bundle) {
		together(t, func(client int) error {
			for i := range 4 {
				r := row(rowName(i), revision(at(uint64((client+i)%writers+1))), counted(uint64((client+i)%writers)))
				if (client+i)%writers == writers-1 {
					ended(&r)
				}
				if _, err := b.PutActions(t.Context(), []store.Row{r}); err != nil {
					return err
				}
			}
			return nil
		})
		for i := range 4 {
			b.requireRow(t, row(rowName(i), revision(at(writers)), counted(writers-1), ended))
		}
	}},
	{"of inserts and writes of the new incarnation that race the writes stand", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(5)), chain("old"), ended))
		var inserted, written atomic.Int32
		together(t, func(client int) error {
			if client%2 == 0 {
				applied, err := b.InsertAction(t.Context(), row("a", chain("new")))
				if applied {
					inserted.Add(1)
				}
				return err
			}
			applied, err := b.PutActions(t.Context(), []store.Row{row("a", chain("new"), revision(at(uint64(5+client))), counted(uint64(client)))})
			if err == nil && applied[0] {
				written.Add(1)
			}
			return err
		})
		require.LessOrEqual(t, inserted.Load(), int32(1))
		require.Positive(t, written.Load())
		b.requireRow(t, row("a", chain("new"), revision(at(5+writers-1)), counted(writers-1)))
	}},
	{"paging while others write sees each row that stands exactly once", func(t *testing.T, b *bundle) {
		const standing = 60
		for i := range standing {
			b.putAll(t, row(rowName(2*i), due(epoch.Add(time.Duration(i/7)*time.Second))))
		}
		var next atomic.Uint64
		together(t, func(client int) error {
			if client%8 > 0 { // a writer: rows that come, change and end between those that stand
				n := next.Add(1)
				r := row(rowName(2*int(n%standing)+1), revision(at(n)), due(epoch.Add(time.Duration(n%11)*time.Second)), state(gnomonv1.Status_RUNNING))
				r.Tombstone = n%3 == 0
				_, err := b.PutActions(t.Context(), []store.Row{r})
				return err
			}
			q := store.ActionQuery{Order: store.ActionOrder(client / 8 % 2), Descending: client/16%2 == 0, Limit: 7, States: []gnomonv1.Status_State{gnomonv1.Status_SCHEDULED}}
			seen := map[string]int{}
			for {
				page, err := b.ListActions(t.Context(), q)
				if err != nil {
					return err
				}
				for _, id := range ids(page) {
					seen[id]++
				}
				if len(page) < q.Limit {
					break
				}
				q.After = position(page[len(page)-1])
			}
			for i := range standing {
				if seen[rowName(2*i)] != 1 || len(seen) != standing {
					return fmt.Errorf("%s was seen %d times, of %d rows", rowName(2*i), seen[rowName(2*i)], len(seen))
				}
			}
			return nil
		})
	}},
}
