package batch

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Issue 5: progress is told at most twenty times in a round, and at every change of a
// small batch.
func TestProgressIsToldNowAndThen(t *testing.T) {
	t.Parallel()
	for all, want := range map[uint32]int{1: 1, 10: 10, 20: 20, 21: 10, 1000: 20} {
		told, times := uint32(0), 0
		for finished := range all + 1 {
			if WorthTelling(finished, told, all) {
				told, times = finished, times+1
			}
		}
		require.Equal(t, want, times, "of %d changes", all)
	}
	require.False(t, WorthTelling(0, 0, 0))
}

// What is shown of a round only grows, and is of that round.
func TestProgressGrows(t *testing.T) {
	t.Parallel()
	s := pending()
	p := func(round, done, rejected uint32) *workflowv1.BatchProgress {
		return &workflowv1.BatchProgress{Round: round, CompleteChanges: done, FailedChanges: rejected}
	}
	require.Nil(t, Further(s, nil, p(0, 1, 0)), "it has not begun")
	Begin(s, due)
	first := Further(s, nil, p(1, 1, 1))
	require.NotNil(t, first)
	require.Same(t, first, Further(s, first, p(1, 1, 0)))
	require.Same(t, first, Further(s, first, p(2, 2, 2)))
	require.NotSame(t, first, Further(s, first, p(1, 1, 2)))
	require.Contains(t, Details(s, first), "| progress | 2 of 2 changes are finished")

	s.Head.Status.State = gnomonv1.BatchStatus_MANUAL_REVIEW
	require.Same(t, first, Further(s, first, p(1, 2, 2)), "the round is over")
	require.NotContains(t, Details(s, first), "progress")
	require.Contains(t, Details(s, first), "| applied | 0 |", "what the store said")
	s.Head.Status.State, s.Head.Status.Round = gnomonv1.BatchStatus_PROCESSING, 2
	require.Contains(t, Details(s, first), "| progress | 0 of 2", "it is of the round before")
}
