package store_test

import (
	"cmp"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/store"
)

// M-61: what is written later must encode as greater, whatever parts differ.
func TestRevisionsEncodeInTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := revisions().Draw(t, "a"), revisions().Draw(t, "b")
		want := cmp.Or(
			a.Incarnation.Compare(b.Incarnation),
			cmp.Compare(a.Sequence, b.Sequence),
			cmp.Compare(a.Attempt, b.Attempt),
			cmp.Compare(a.Phase, b.Phase),
		)
		require.Equal(t, want, strings.Compare(a.Encode(), b.Encode()))
	})
}

func TestRevisionsEncodeInOneLength(t *testing.T) {
	t.Parallel()
	greatest := store.Revision{
		Incarnation: time.Unix(0, math.MaxInt64), Sequence: math.MaxUint64, Attempt: math.MaxUint32, Phase: math.MaxUint32,
	}
	require.Equal(t, "7fffffffffffffff"+"ffffffffffffffff"+"ffffffff"+"ffffffff", greatest.Encode())
	require.Equal(t, strings.Repeat("0", 48), store.Revision{}.Encode())
}

func TestZeroRevisionIsOlderThanAnyOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := revisions().Draw(t, "revision")
		if r == (store.Revision{}) {
			return
		}
		require.Less(t, store.Revision{}.Encode(), r.Encode())
	})
}

// The phases of one attempt come in the order in which they are written.
func TestPhasesAreOrdered(t *testing.T) {
	t.Parallel()
	require.Less(t, store.PhaseWorkflow, store.PhaseCurrent)
	require.Less(t, store.PhaseCurrent, store.PhaseLast)
}

// Two facades or workers may write one moment in different zones.
func TestRevisionsHaveNoTimeZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 1, time.UTC)
	require.Equal(t, store.Revision{Incarnation: at}.Encode(),
		store.Revision{Incarnation: at.In(time.FixedZone("east", 3600))}.Encode())
}

func TestTimesBefore1970EncodeAs1970(t *testing.T) {
	t.Parallel()
	require.Equal(t, store.Revision{}.Encode(), store.Revision{Incarnation: time.Unix(-1, 0)}.Encode())
	require.Equal(t, store.Revision{}.Encode(), store.Revision{Incarnation: time.Unix(0, 0)}.Encode())
}

func TestRevisionsComeBackAsTheyWereEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := store.Revision{
			Sequence: rapid.Uint64().Draw(t, "sequence"),
			Attempt:  rapid.Uint32().Draw(t, "attempt"),
			Phase:    rapid.Uint32().Draw(t, "phase"),
		}
		if nanos := rapid.Int64Min(0).Draw(t, "nanos"); nanos > 0 {
			want.Incarnation = time.Unix(0, nanos).UTC()
		}
		got, err := store.DecodeRevision(want.Encode())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// What somebody damaged is an error, not another revision.
func TestDamagedRevisionsAreErrors(t *testing.T) {
	t.Parallel()
	_, err := store.DecodeRevision("short")
	require.ErrorContains(t, err, "48 digits")
	_, err = store.DecodeRevision("zz" + store.Revision{}.Encode()[2:])
	require.ErrorContains(t, err, "hexadecimal")
}

// revisions draws small and great numbers, and often equal ones.
func revisions() *rapid.Generator[store.Revision] {
	return rapid.Custom(func(t *rapid.T) store.Revision {
		r := store.Revision{
			Sequence: rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64()).Draw(t, "sequence"),
			Attempt:  rapid.OneOf(rapid.Uint32Range(0, 20), rapid.Uint32()).Draw(t, "attempt"),
			Phase:    rapid.Uint32Range(0, 2).Draw(t, "phase"),
		}
		if nanos := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "nanos"); nanos > 0 {
			r.Incarnation = time.Unix(0, nanos)
		}
		return r
	})
}
