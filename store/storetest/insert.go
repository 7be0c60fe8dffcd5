package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// design.md, The mirror row: the facade's own write on create has the lowest
// revision and applies only where nothing or a tombstone stands.
var insertTests = []test{
	{"onto nothing it applies with the zero revision", func(t *testing.T, b *bundle) {
		require.True(t, b.insert(t, row("a", revision(at(9)))))
		b.requireRow(t, row("a", revision(store.Revision{})))
		require.True(t, b.put(t, row("a", revision(store.Revision{Phase: 1}))), "any revision is newer")
	}},
	{"onto a live row it does not apply", func(t *testing.T, b *bundle) {
		want := row("a", revision(at(1)), chain("old"))
		b.putAll(t, want)
		require.False(t, b.insert(t, row("a", chain("old"), counted(1))), "of its chain")
		require.False(t, b.insert(t, row("a", chain("new"), counted(1))), "of another chain")
		b.requireRow(t, want)
	}},
	{"onto an inserted row it does not apply", func(t *testing.T, b *bundle) {
		require.True(t, b.insert(t, row("a", chain("old"))))
		require.False(t, b.insert(t, row("a", chain("new"), counted(1))))
		b.requireRow(t, row("a", chain("old"), revision(store.Revision{})))
	}},
	// M-60: deletion followed at once by creation with the same id must work.
	{"onto a tombstone of another chain it applies and keeps its revision", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(7)), chain("old"), ended))
		require.True(t, b.insert(t, row("a", chain("new"), counted(1))))
		b.requireRow(t, row("a", chain("new"), counted(1), revision(at(7))))
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{}))

		// M-61: late writes of the old incarnation stay refused.
		require.False(t, b.put(t, row("a", revision(at(6)), chain("old"))))
		require.False(t, b.put(t, row("a", revision(at(7)), chain("old"), ended)))
		require.True(t, b.put(t, row("a", revision(at(8)), chain("new"))))
	}},
	// The run was so quick that it ended before the facade wrote.
	{"onto a tombstone of its own chain it does not apply", func(t *testing.T, b *bundle) {
		want := row("a", revision(at(7)), chain("quick"), ended)
		b.putAll(t, want)
		require.False(t, b.insert(t, row("a", chain("quick"), counted(1))))
		b.requireRow(t, want)
	}},
	{"onto an expired tombstone it applies as onto nothing", func(t *testing.T, b *bundle) {
		for _, name := range []string{"old", "new"} {
			b.putAll(t, row(name, revision(at(7)), chain("old"), ended))
		}
		b.clock.advance(ttl)
		for _, name := range []string{"old", "new"} {
			require.True(t, b.insert(t, row(name, chain(name))), "of the chain %s", name)
			b.requireRow(t, row(name, chain(name), revision(store.Revision{})))
		}
	}},
	{"what it applied no longer expires", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(7)), chain("old"), ended))
		require.True(t, b.insert(t, row("a", chain("new"))))
		b.clock.advance(2 * ttl)
		purged, err := b.PurgeActions(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, purged)
		b.requireRow(t, row("a", chain("new"), revision(at(7))))
	}},
}
