package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// M-61: an earlier part decides alone, however much the later ones speak against it.
func TestEarlierPartsOfARevisionDecide(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	ordered := []store.Revision{
		{Incarnation: at, Sequence: 9, Attempt: 9, Phase: 2},
		{Incarnation: at.Add(1), Sequence: 1, Attempt: 300, Phase: 2},
		{Incarnation: at.Add(1), Sequence: 2, Attempt: 2, Phase: store.PhaseLast},
		{Incarnation: at.Add(1), Sequence: 2, Attempt: 10, Phase: store.PhaseCurrent},
		{Incarnation: at.Add(1), Sequence: 2, Attempt: 10, Phase: store.PhaseLast},
		{Incarnation: at.Add(1), Sequence: 16, Attempt: 0, Phase: store.PhaseWorkflow},
	}
	for i := range ordered[1:] {
		require.Less(t, ordered[i].Encode(), ordered[i+1].Encode())
	}
}
