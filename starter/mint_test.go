package starter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// M-07, F4: a repeated update names the Guid of the one that is applied; every other
// one has a Guid of its own.
func TestGUIDOfARepeatedUpdateIsTheSame(t *testing.T) {
	t.Parallel()
	guid := mint("a", "request", "digest")
	require.Equal(t, guid, mint("a", "request", "digest"))
	require.Len(t, guid, 36)
	for _, other := range []string{
		mint("b", "request", "digest"), mint("a", "other", "digest"), mint("a", "request", "other"),
		mint("arequest", "", "digest"), mint("a", "", "digest"),
	} {
		require.NotEqual(t, guid, other)
	}
	alone := mint("a", "", "digest")
	require.NotEqual(t, alone, mint("a", "", "digest"), "without a request_id every call stands for itself")
}
