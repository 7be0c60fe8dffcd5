package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/action/life"
)

// Issue 8: what the rules allocate for one tick of a periodic action, its details for
// the Web UI included. The bound has some room for other versions of Go and for the race detector.
func TestAllocationsOfATick(t *testing.T) { //nolint:paralleltest // it counts allocations
	s, now := state(periodic(time.Minute, nil)), start
	got := testing.AllocsPerRun(200, func() {
		require.Equal(t, life.Perform, life.Next(s, now).Step)
		attempt(t, s, now, succeeded(now))
		require.NotEmpty(t, life.Details(s))
		now = now.Add(time.Minute)
	})
	t.Log(got, "allocations")
	require.LessOrEqual(t, got, 85.0)
}
