package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// design.md, The mirror row: a finished action leaves a tombstone that expires, so
// that a late write revives nothing and people can list what finished.
var tombstoneTests = []test{
	{"it is listed only when asked for and found until it expires", func(t *testing.T, b *bundle) {
		want := row("a", ended)
		b.putAll(t, want, row("b"))
		b.requireRow(t, want)
		require.Equal(t, []string{"b"}, b.list(t, store.ActionQuery{}))
		require.Equal(t, []string{"a", "b"}, b.list(t, store.ActionQuery{ShowFinished: true}))

		b.clock.advance(ttl - time.Microsecond)
		b.requireRow(t, want)
		require.Equal(t, []string{"a", "b"}, b.list(t, store.ActionQuery{ShowFinished: true}))

		// Before anything has purged it.
		b.clock.advance(time.Microsecond)
		b.requireNone(t, "a")
		require.Equal(t, []string{"b"}, b.list(t, store.ActionQuery{ShowFinished: true}))
		require.Empty(t, b.list(t, store.ActionQuery{ShowFinished: true, ID: "a"}))
	}},
	{"a live row does not expire", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"))
		b.clock.advance(1000 * ttl)
		b.requireRow(t, row("a"))
	}},
	// M-61: a late status write must not resurrect a deleted row.
	{"an older write does not revive it", func(t *testing.T, b *bundle) {
		want := row("a", revision(at(5)), ended)
		b.putAll(t, want)
		require.False(t, b.put(t, row("a", revision(at(4)))))
		require.False(t, b.put(t, row("a", revision(at(5)))))
		b.requireRow(t, want)
	}},
	{"a newer write revives it and it no longer expires", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(5)), ended))
		b.clock.advance(ttl / 2)
		want := row("a", revision(at(6)))
		b.putAll(t, want)
		b.clock.advance(10 * ttl)
		b.requireRow(t, want)
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{}))
	}},
	{"a newer tombstone expires later", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(5)), ended))
		b.clock.advance(ttl / 2)
		want := row("a", revision(at(6)), ended)
		b.putAll(t, want)
		b.clock.advance(ttl / 2)
		b.requireRow(t, want)
		b.clock.advance(ttl / 2)
		b.requireNone(t, "a")
	}},
	{"an older tombstone does not lengthen its time", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(5)), ended))
		b.clock.advance(ttl / 2)
		require.False(t, b.put(t, row("a", revision(at(5)), ended)))
		require.False(t, b.put(t, row("a", revision(at(4)), ended)))
		b.clock.advance(ttl / 2)
		b.requireNone(t, "a")
	}},
	// Whether a purge has passed yet must make no difference.
	{"an expired one gives way to an older write, purged or not", func(t *testing.T, b *bundle) {
		b.putAll(t, row("purged", revision(at(5)), ended))
		b.clock.advance(ttl)
		_, err := b.PurgeActions(t.Context(), 10)
		require.NoError(t, err)
		b.putAll(t, row("unpurged", revision(at(5)), ended))
		b.clock.advance(ttl)
		for _, id := range []string{"purged", "unpurged"} {
			want := row(id, revision(at(4)))
			b.putAll(t, want)
			b.requireRow(t, want)
		}
	}},
	{"a purge removes what has expired and nothing else", func(t *testing.T, b *bundle) {
		for i := range 5 {
			b.putAll(t, row(fmt.Sprintf("expired-%d", i), ended))
		}
		b.clock.advance(ttl)
		b.putAll(t, row("living"), row("fresh", ended))

		for _, want := range []int{2, 2, 1, 0} {
			purged, err := b.PurgeActions(t.Context(), 2)
			require.NoError(t, err)
			require.Equal(t, want, purged)
		}
		b.requireRow(t, row("living"))
		b.requireRow(t, row("fresh", ended))
		require.Equal(t, []string{"fresh", "living"}, b.list(t, store.ActionQuery{ShowFinished: true}))
	}},
	{"a purge of none removes none", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", ended))
		b.clock.advance(ttl)
		for _, limit := range []int{0, -1} {
			purged, err := b.PurgeActions(t.Context(), limit)
			require.NoError(t, err)
			require.Zero(t, purged)
		}
		purged, err := b.PurgeActions(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, 1, purged)
	}},
}
