package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
	"gnomon/notices"
	"gnomon/store/faulty"
)

// The decisions of a review.
func retry() *workflowv1.BatchCommand {
	return &workflowv1.BatchCommand{Decision: gnomonv1.ReviewBatchRequest_RETRY, Comment: "repaired"}
}

func abandon() *workflowv1.BatchCommand {
	return &workflowv1.BatchCommand{Decision: gnomonv1.ReviewBatchRequest_CANCEL}
}

func postpone(to time.Time) *workflowv1.BatchCommand {
	return &workflowv1.BatchCommand{Decision: gnomonv1.ReviewBatchRequest_RESCHEDULE, ScheduledAt: timestamppb.New(to)}
}

// invalid makes a batch invalid until a time.
func (o *office) invalid(until time.Time, severity gnomonv1.Problem_Severity) {
	o.problems = func([]int) []*gnomonv1.Problem {
		if o.now().Before(until) {
			at := int32(1)
			return []*gnomonv1.Problem{{ChangeIndex: &at, Severity: severity, Code: "RECORD_EXISTS", Message: "it is there"}}
		}
		return nil
	}
}

// V-07, V-08, V-09, V-17: a batch that is no longer valid, hard or soft, is not applied
// at all; its problems are stored, then people are told, once.
func TestInvalidGoesToReview(t *testing.T) {
	t.Parallel()
	for _, severity := range []gnomonv1.Problem_Severity{gnomonv1.Problem_HARD, gnomonv1.Problem_SOFT} {
		t.Run(severity.String(), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.invalid(start.Add(time.Hour), severity)
			o.tell = func(n notices.Notice) error {
				require.Equal(t, inReview, o.row().Batch.GetStatus().GetState(), "stored first")
				require.Equal(t, notices.ScheduledChangeFailed, n.Event)
				require.Len(t, n.Batch.GetStatus().GetProblems(), 1)
				require.Equal(t, "b/0123456789abcdef/1/ScheduledChangeFailed", n.Key)
				return nil
			}
			o.is(start.Add(time.Second), inReview)
			o.is(start.AddDate(1, 0, 0), inReview)
			o.at(start.AddDate(1, 0, 0), func() {
				b := o.row().Batch
				require.Equal(t, severity, b.GetStatus().GetProblems()[0].GetSeverity())
				require.Equal(t, "RECORD_EXISTS", b.GetChanges()[1].GetStatus().GetProblems()[0].GetCode())
				require.Empty(t, b.GetChanges()[0].GetStatus().GetProblems())
				require.Len(t, o.told, 1)
				o.update("review", abandon())
			})
			st := o.finish(o.stage(3))
			require.Equal(t, ended, st.GetState())
			require.Empty(t, o.done, "nothing is applied")
			require.Len(t, o.told, 1)
			require.EqualValues(t, 3, st.GetPendingChanges())
		})
	}
}

// V-16, V-18: a retry validates what is not finished, and applies it; each round that
// comes to review tells people once.
func TestReviewRetry(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(2*time.Hour), gnomonv1.Problem_HARD)
	var again *verdict
	o.at(start.Add(time.Hour), func() { again = o.update("review", retry()) })
	o.is(start.Add(time.Hour+time.Second), inReview)
	o.at(start.Add(3*time.Hour), func() {
		require.EqualValues(t, 2, o.head().GetStatus().GetRound())
		o.signal(true, "review", retry()) // as a person would without a facade
	})
	st := o.finish(o.stage(3))
	require.Equal(t, complete, st.GetState())
	require.EqualValues(t, 3, st.GetRound())
	require.Equal(t, processing, again.head.GetStatus().GetState())
	require.Equal(t, "retry", st.GetLastDecision().GetDecision())
	require.Equal(t, "repaired", st.GetLastDecision().GetComment())
	require.Empty(t, o.row().Batch.GetStatus().GetProblems())
	require.Equal(t, []int{0, 1, 2}, o.indexes())
	require.Equal(t, 3*time.Hour, o.done[0].at)
	require.Equal(t, []string{notices.ScheduledChangeFailed, notices.ScheduledChangeFailed}, o.events(), "once each round")
	require.NotEqual(t, o.told[0].Key, o.told[1].Key)
}

// V-16, V-18: what was applied in a round before is no conflict and is not applied again.
func TestReviewRetryAfterPartOfIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.options.BatchAttempts = 2 })
	o.problems = func(unfinished []int) []*gnomonv1.Problem {
		if unfinished[0] == 0 && len(o.done) > 0 {
			return []*gnomonv1.Problem{{Severity: gnomonv1.Problem_HARD, Code: "RECORD_EXISTS"}}
		}
		return nil
	}
	o.apply = func(index int, _ changes.Turn) error {
		if index == 1 && o.now().Before(start.Add(time.Hour)) {
			return errDown
		}
		return nil
	}
	o.at(start.Add(time.Hour), func() { o.update("review", retry()) })
	st := o.finish(o.stage(3))
	require.Equal(t, complete, st.GetState())
	require.Equal(t, []int{0, 1, 1, 1, 2}, o.indexes())
	require.Equal(t, o.done[1].key, o.done[3].key, "V-11: in doubt beyond the review")
	require.True(t, o.done[3].resumed)
}

// V-18: a batch in review gets another time, sleeps to it and is validated again.
func TestReviewReschedule(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(time.Minute), gnomonv1.Problem_SOFT)
	o.at(start.Add(time.Hour), func() { o.update("review", postpone(start.Add(5*time.Hour))) })
	o.is(start.Add(time.Hour+time.Second), pending)
	o.is(start.Add(5*time.Hour-time.Millisecond), pending)
	st := o.finish(o.stage(1))
	require.Equal(t, complete, st.GetState())
	require.Equal(t, 5*time.Hour, o.done[0].at)
	require.Equal(t, "reschedule", st.GetLastDecision().GetDecision())
	require.True(t, o.row().Batch.GetScheduledAt().AsTime().Equal(start.Add(5*time.Hour)))
	require.EqualValues(t, 2, st.GetRound())
	require.Len(t, o.told, 1)
}

// V-18: Temporal's own cancellation ends a batch in review.
func TestReviewEndedByTemporal(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.AddDate(1, 0, 0), gnomonv1.Problem_HARD)
	o.at(start.Add(time.Hour), o.env.CancelWorkflow)
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
}

// V-17: a notice is tried again on its own and holds nothing up: the batch is decided
// about meanwhile, and what has passed is told to nobody.
func TestNoticesAreTriedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(time.Minute), gnomonv1.Problem_HARD)
	var tried []time.Duration
	o.tell = func(notices.Notice) error {
		tried = append(tried, o.now().Sub(start))
		if o.now().Before(start.Add(5 * time.Second)) {
			return errDown
		}
		return nil
	}
	o.is(start.Add(2*time.Second), inReview)
	o.at(start.Add(time.Minute), func() { o.update("review", retry()) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, tried)
	require.Len(t, o.told, 1)
}

// V-17: a decision comes before the notice got through: it is not sent any more, and the
// round after it has its own.
func TestNoticeOfThePast(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(20*time.Second), gnomonv1.Problem_HARD)
	o.tell = func(n notices.Notice) error {
		if n.Key == "b/0123456789abcdef/1/ScheduledChangeFailed" {
			return errDown
		}
		return nil
	}
	o.at(start.Add(10*time.Second), func() { o.update("review", retry()) })
	o.at(start.Add(15*time.Second), func() {
		require.Len(t, o.told, 1)
		require.Equal(t, "b/0123456789abcdef/2/ScheduledChangeFailed", o.told[0].Key)
	})
	o.at(start.Add(time.Hour), func() { o.update("review", retry()) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Len(t, o.told, 1)
}

// V-17: a run closes only after people were told, which changes nothing about the batch.
func TestToldBeforeClosed(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.subscribed = []string{notices.BatchCancelled} })
	o.tell = func(notices.Notice) error {
		if o.now().Before(start) {
			return errDown
		}
		return nil
	}
	var refused *verdict
	o.at(accepted.Add(time.Second), func() { o.update("cancel", &workflowv1.BatchCommand{}) })
	o.is(accepted.Add(2*time.Second), ended)
	o.at(start.Add(-time.Second), func() { refused = o.update("reschedule", move(start.Add(time.Hour))) })
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
	require.Equal(t, "CANCELLED", refused.state)
	require.Equal(t, []string{notices.BatchCancelled}, o.events())
	require.False(t, o.now().Before(start))
	require.Empty(t, o.attempts)
}

// V-06: what changes while a head is being stored is stored too.
func TestChangedWhileStoring(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.at(accepted.Add(time.Second), func() {
		o.rows.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutBatch}})
		o.update("reschedule", move(start.Add(time.Hour)))
	})
	o.at(accepted.Add(2*time.Second), func() { o.update("reschedule", move(start.Add(2*time.Hour))) })
	o.at(accepted.Add(3*time.Second), func() { o.rows.Set(faulty.Faults{}) })
	o.at(start, func() {
		require.True(t, o.row().Batch.GetScheduledAt().AsTime().Equal(start.Add(2*time.Hour)))
		o.update("cancel", &workflowv1.BatchCommand{})
	})
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
}

// V-17: a decision that is made before the notice came through calls nobody any more.
func TestNoticeOfAReviewThatIsOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(time.Second), gnomonv1.Problem_HARD)
	o.tell = func(notices.Notice) error {
		if o.now().Before(start.Add(time.Minute)) {
			return errDown
		}
		return nil
	}
	o.at(start.Add(10*time.Second), func() { o.update("review", postpone(start.Add(time.Hour))) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Empty(t, o.told)
}

// V-17: people are told of what is stored: while the store is down they are not.
func TestStoredBeforeTold(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.subscribed = []string{notices.BatchCancelled} })
	o.at(accepted.Add(time.Second), func() {
		o.rows.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutBatch}})
		require.NotNil(t, o.update("cancel", &workflowv1.BatchCommand{}))
	})
	o.at(accepted.Add(20*time.Second), func() {
		require.Empty(t, o.told)
		require.Equal(t, ended, o.head().GetStatus().GetState())
		require.Equal(t, pending, o.row().Batch.GetStatus().GetState())
		o.rows.Set(faulty.Faults{})
	})
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
	require.Equal(t, []string{notices.BatchCancelled}, o.events())
}
