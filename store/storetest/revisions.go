package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/store"
)

// ascending are revisions of which each is newer than the one before, by every
// one of their parts.
var ascending = []store.Revision{
	{},
	{Phase: 1},
	{Sequence: 1},
	{Incarnation: epoch},
	{Incarnation: epoch, Phase: store.PhaseCurrent},
	{Incarnation: epoch, Phase: store.PhaseLast},
	{Incarnation: epoch, Attempt: 1},
	{Incarnation: epoch, Attempt: 9, Phase: store.PhaseLast},
	{Incarnation: epoch, Attempt: 10},
	{Incarnation: epoch, Sequence: 9, Attempt: 1<<32 - 1, Phase: 1<<32 - 1},
	{Incarnation: epoch, Sequence: 10},
	{Incarnation: epoch, Sequence: 1<<64 - 1},
	{Incarnation: epoch.Add(time.Nanosecond)},
	{Incarnation: epoch.Add(time.Second), Sequence: 1},
}

var revisionTests = []test{
	// M-61, P-05: each write carries a revision and never goes back to an older one.
	{"only a newer revision applies", func(t *testing.T, b *bundle) {
		for i, standing := range ascending {
			for j, arriving := range ascending {
				id := fmt.Sprintf("%d-%d", i, j)
				first := row(id, revision(standing), counted(1))
				second := row(id, revision(arriving), counted(2))
				require.True(t, b.put(t, first), "onto nothing: %v", standing)
				require.Equal(t, j > i, b.put(t, second), "%v onto %v", arriving, standing)
				if j > i {
					b.requireRow(t, second)
				} else {
					b.requireRow(t, first)
				}
			}
		}
	}},
	{"an equal revision does not apply whatever it holds", func(t *testing.T, b *bundle) {
		want := row("a", revision(at(5)))
		b.putAll(t, want)
		require.False(t, b.put(t, row("a", revision(at(5)), counted(7), chain("other"))))
		require.False(t, b.put(t, row("a", revision(at(5)), ended)))
		b.requireRow(t, want)
	}},
	{"rows of one id in one call apply in their order", func(t *testing.T, b *bundle) {
		applied, err := b.PutActions(t.Context(), []store.Row{
			row("a", revision(at(2))),
			row("b", revision(at(1))),
			row("a", revision(at(1))),
			row("a", revision(at(3)), counted(3)),
			row("a", revision(at(3)), counted(4)),
			row("b", revision(at(2)), counted(2)),
		})
		require.NoError(t, err)
		require.Equal(t, []bool{true, true, false, true, false, true}, applied)
		b.requireRow(t, row("a", revision(at(3)), counted(3)))
		b.requireRow(t, row("b", revision(at(2)), counted(2)))
	}},
	{"writes of one id leave others alone", func(t *testing.T, b *bundle) {
		other := row("aa", revision(at(1)))
		b.putAll(t, other, row("a", revision(at(9)), ended))
		b.requireRow(t, other)
	}},
	// F6 of faults.md: mirror writes doubled and shuffled.
	{"shuffled and doubled writes converge to the newest", func(t *testing.T, b *bundle) {
		var iteration int
		rapid.Check(t, func(t *rapid.T) {
			iteration++
			id := fmt.Sprintf("converge-%d", iteration)
			drawn := rapid.SliceOfN(revisions(), 1, 12).Draw(t, "revisions")
			var writes []store.Row
			newest := row(id, revision(drawn[0]), counted(0))
			for i, r := range drawn {
				w := row(id, revision(r), counted(uint64(i)), chain(fmt.Sprint(i)))
				w.Tombstone = rapid.Bool().Draw(t, "tombstone")
				// What is doubled is the same write, and of two different writes with
				// one revision, which the workflow never makes, the first would win.
				if i == 0 || newer(r, newest.Revision) {
					newest = w
				} else if r == newest.Revision {
					continue
				}
				for range rapid.IntRange(1, 3).Draw(t, "times") {
					writes = append(writes, w)
				}
			}
			seed := rapid.Uint64().Draw(t, "order")
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(writes), func(i, j int) {
				writes[i], writes[j] = writes[j], writes[i]
			})
			for len(writes) > 0 {
				n := rapid.IntRange(1, len(writes)).Draw(t, "call")
				_, err := b.PutActions(background, writes[:n])
				require.NoError(t, err)
				writes = writes[n:]
			}
			b.requireRow(t, newest)
		})
	}},
}

// revisions draws from few values, so that parts are often equal.
func revisions() *rapid.Generator[store.Revision] {
	return rapid.Custom(func(t *rapid.T) store.Revision {
		return store.Revision{
			Incarnation: epoch.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "incarnation"))),
			Sequence:    rapid.Uint64Range(0, 17).Draw(t, "sequence"),
			Attempt:     rapid.Uint32Range(0, 17).Draw(t, "attempt"),
			Phase:       rapid.Uint32Range(0, 2).Draw(t, "phase"),
		}
	})
}

// newer is the order of revisions, written out as their documentation says it.
func newer(a, b store.Revision) bool {
	switch {
	case !a.Incarnation.Equal(b.Incarnation):
		return a.Incarnation.After(b.Incarnation)
	case a.Sequence != b.Sequence:
		return a.Sequence > b.Sequence
	case a.Attempt != b.Attempt:
		return a.Attempt > b.Attempt
	default:
		return a.Phase > b.Phase
	}
}
