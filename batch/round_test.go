package batch

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// V-01, V-05: never before its time, and whenever it has passed.
func TestNext(t *testing.T) {
	t.Parallel()
	require.Equal(t, Decision{Step: Wait, Until: due}, Next(pending(), now))
	require.Equal(t, Decision{Step: Wait, Until: due}, Next(pending(), due.Add(-1)))
	require.Equal(t, Decision{Step: Process}, Next(pending(), due))
	require.Equal(t, Decision{Step: Process}, Next(pending(), due.AddDate(1, 0, 0)))
	require.Equal(t, Decision{Step: Process}, Next(in(gnomonv1.BatchStatus_PROCESSING), now))
	require.Equal(t, Decision{Step: Wait}, Next(in(gnomonv1.BatchStatus_MANUAL_REVIEW), due))
	for _, state := range []gnomonv1.BatchStatus_State{
		gnomonv1.BatchStatus_COMPLETE, gnomonv1.BatchStatus_PARTIAL_FAILURE, gnomonv1.BatchStatus_FAILED, gnomonv1.BatchStatus_CANCELLED,
	} {
		require.Equal(t, Decision{Step: End}, Next(in(state), due))
	}
}

// A round takes one revision when it begins and one when it ends, whichever activity
// ends it.
func TestRounds(t *testing.T) {
	t.Parallel()
	s := pending()
	input := Begin(s, due)
	require.Equal(t, gnomonv1.BatchStatus_PROCESSING, s.GetHead().GetStatus().GetState())
	require.EqualValues(t, 1, input.GetHead().GetStatus().GetRound())
	require.EqualValues(t, 1, input.GetHead().GetRevision())
	require.EqualValues(t, 2, input.GetLastRevision())
	require.Equal(t, input.GetLastRevision(), Begin(s, due).GetLastRevision(), "the same round is gone on with")

	done := Conclude(input, finished(complete, failed), due.Add(time.Minute))
	require.Equal(t, gnomonv1.BatchStatus_PARTIAL_FAILURE, done.GetStatus().GetState())
	require.EqualValues(t, 2, done.GetRevision())
	require.NotNil(t, done.GetStatus().GetFinishTime())

	review := Review(input, 1, due)
	require.Equal(t, gnomonv1.BatchStatus_MANUAL_REVIEW, review.GetStatus().GetState())
	require.Nil(t, review.GetStatus().GetFinishTime())
	require.Contains(t, Review(input, MaxProblems+1, due).GetStatus().GetMessage(), "1001 problems; nothing was applied since; the first 1000 are kept")

	// V-19
	input.Reason = "the store does not answer"
	given, problems := Abandon(input, due)
	require.Equal(t, gnomonv1.BatchStatus_MANUAL_REVIEW, given.GetStatus().GetState())
	require.Equal(t, CodeRetriesExhausted, problems[0].GetCode())
	require.Nil(t, problems[0].ChangeIndex, "it is about the batch")

	Adopt(s, &workflowv1.ProcessBatchResult{Head: review}, due)
	require.False(t, s.GetOwed())
	require.True(t, s.GetNoticeOwed())
	require.NoError(t, Apply(s, "review", &workflowv1.BatchCommand{Decision: gnomonv1.ReviewBatchRequest_RETRY}, due))
	require.EqualValues(t, 2, s.GetHead().GetStatus().GetRound())
	require.EqualValues(t, 3, s.GetHead().GetRevision())
}

// P-02: what was dropped while a round was under way is stored after it, and does not
// take the round's revision.
func TestDroppedSignalsAreStored(t *testing.T) {
	t.Parallel()
	s := pending()
	Dropped(s, "cancle", errors.New("no command has this name"), now)
	require.EqualValues(t, 1, s.GetHead().GetRevision())
	input := Begin(s, due)
	Dropped(s, "cancel", errors.New("the batch is PROCESSING"), due)
	require.Equal(t, input.GetHead().GetRevision(), s.GetHead().GetRevision())
	Adopt(s, &workflowv1.ProcessBatchResult{Head: Conclude(input, finished(complete), due)}, due)
	require.True(t, s.GetOwed())
	require.Equal(t, input.GetLastRevision()+1, s.GetHead().GetRevision())
	require.Len(t, s.GetHead().GetStatus().GetConditions(), 1)
	require.Contains(t, s.GetHead().GetStatus().GetConditions()[0].GetMessage(), `signal "cancel" dropped: the batch is PROCESSING`)
}

// The store's own counts and a review's problems survive a new head.
func TestHeadsAreWorn(t *testing.T) {
	t.Parallel()
	b := Fresh(Normalise(valid()), now)
	require.Equal(t, gnomonv1.ChangeStatus_PENDING, b.GetChanges()[1].GetStatus().GetState())
	require.EqualValues(t, 2, b.GetStatus().GetPendingChanges())
	s := pending()
	head := Begin(s, due).GetHead()
	b.Status.PendingChanges, b.Status.CompleteChanges = 1, 1
	Wear(b, head)
	require.EqualValues(t, 1, b.GetStatus().GetCompleteChanges())
	require.Equal(t, Etag(b.GetUid(), head.GetRevision()), b.GetEtag())
	b.Status.State = gnomonv1.BatchStatus_MANUAL_REVIEW
	b.Status.Problems = []*gnomonv1.Problem{{Code: "X"}}
	b.Status.Attempts = 7
	head.Status.State = gnomonv1.BatchStatus_MANUAL_REVIEW
	Wear(b, head)
	require.Len(t, b.GetStatus().GetProblems(), 1)
	require.EqualValues(t, 7, b.GetStatus().GetAttempts())
	head.Status.State, head.Status.Round = gnomonv1.BatchStatus_PROCESSING, 2
	Wear(b, head)
	require.Empty(t, b.GetStatus().GetProblems())
	require.Zero(t, b.GetStatus().GetAttempts())
}

func TestDetailsAreATable(t *testing.T) {
	t.Parallel()
	s := pending()
	s.Head.Status.Message = "a|b\nc"
	require.Equal(t, "2 changes at 2026-11-21T11:00:00Z", StaticSummary(s))
	require.Contains(t, Details(s, nil), "| state | PENDING |\n")
	require.Contains(t, Details(s, nil), `| message | a\|b c |`)
}

func TestKeysAreTheSameInAllRounds(t *testing.T) {
	t.Parallel()
	require.Equal(t, "b/u/3", IdempotencyKey("b", "u", 3))
	require.Equal(t, "b/u/2/E", NoticeKey("b", "u", 2, "E"))
}
