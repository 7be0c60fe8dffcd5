package batch

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	waiting  = gnomonv1.ChangeStatus_PENDING
	complete = gnomonv1.ChangeStatus_COMPLETE
	failed   = gnomonv1.ChangeStatus_FAILED
)

// V-10: the outcome is that of the stored statuses, in whatever order they came.
func TestOutcome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOfN(rapid.SampledFrom([]gnomonv1.ChangeStatus_State{waiting, complete, failed}), 1, 8).Draw(t, "states")
		want := gnomonv1.BatchStatus_PARTIAL_FAILURE
		switch {
		case slices.Contains(states, waiting):
			want = gnomonv1.BatchStatus_PROCESSING
		case !slices.Contains(states, failed):
			want = gnomonv1.BatchStatus_COMPLETE
		case !slices.Contains(states, complete):
			want = gnomonv1.BatchStatus_FAILED
		}
		require.Equal(t, want, Outcome(finished(states...)))
	})
}

// V-12, V-16: only what is not finished is looked at again, and what was begun is in doubt.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	all := finished(complete, waiting, failed, waiting)
	require.Equal(t, []int{1, 3}, Unfinished(all))
	require.False(t, InDoubt(all[1]))
	all[1].Status.Attempts = 1
	all[0].Status.Attempts = 1
	require.True(t, InDoubt(all[1]))
	require.False(t, InDoubt(all[0]))
	require.Equal(t, []int{0}, Unfinished([]*gnomonv1.Change{{}}), "a change without a status was never begun")
}
