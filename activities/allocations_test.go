package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Issue 8: what an attempt allocates, with the part of the SDK's test environment. The
// bound has some room for other versions of Go and of the SDK.
func TestAllocationsOfAnAttempt(t *testing.T) { //nolint:paralleltest // it counts allocations
	b := newBench(t, 9)
	defer b.close()
	got := testing.AllocsPerRun(100, func() {
		_, err := b.run()
		require.NoError(t, err)
	})
	t.Log(got, "allocations")
	require.LessOrEqual(t, got, 610.0)
}
