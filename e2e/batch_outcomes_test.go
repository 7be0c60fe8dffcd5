package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/worker"
)

const (
	unfinished = gnomonv1.ChangeStatus_PENDING
	made       = gnomonv1.ChangeStatus_COMPLETE
	rejected   = gnomonv1.ChangeStatus_FAILED
)

// V-01, V-10, V-12, V-17: the outcomes by the single changes, on the real path: nothing
// before its time, each change once and in order, and each outcome told that was asked
// for.
func TestBatchOutcomes(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	for name, c := range map[string]struct {
		answers map[int]int
		state   gnomonv1.BatchStatus_State
		changes []gnomonv1.ChangeStatus_State
		event   string
	}{
		"complete": {nil, gnomonv1.BatchStatus_COMPLETE, []gnomonv1.ChangeStatus_State{made, made, made}, "BatchComplete"},
		"partial": {
			map[int]int{1: 409},
			gnomonv1.BatchStatus_PARTIAL_FAILURE,
			[]gnomonv1.ChangeStatus_State{made, rejected, made},
			"BatchPartialFailure",
		},
		"failed": {
			map[int]int{0: 400, 1: 404, 2: 422},
			gnomonv1.BatchStatus_FAILED,
			[]gnomonv1.ChangeStatus_State{rejected, rejected, rejected},
			"BatchFailed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := b.id(name)
			b.other.set(func() {
				for n, status := range c.answers {
					b.other.answers[place(id, n)] = status
				}
			})
			created := b.submit(t, b.of(id, 3, 2*time.Second))
			require.Equal(t, c.state, b.ends(t, id).GetState())
			got := b.get(t, id)
			require.Equal(t, c.state, got.GetStatus().GetState())
			require.Equal(t, c.changes, changeStates(got))
			applies := b.other.of(id)
			require.Len(t, applies, 3, "each once, a rejected one too")
			for n, a := range applies {
				require.Equal(t, place(id, n), a.path, "in order")
				require.Equal(t, fmt.Sprintf("%s/%s/%d", id, created.GetUid(), n), a.key)
				require.False(t, a.at.Before(created.GetScheduledAt().AsTime()), "V-01: never early")
				require.Equal(t, "1", a.attempt)
			}
			require.Equal(t, 2, b.other.validated(place(id, 0)), "V-03, V-07: when it came and at its time")
			require.EqualValues(t, len(c.answers), got.GetStatus().GetFailedChanges())
			require.NotNil(t, got.GetStatus().GetFinishTime())
			told := b.other.told(id)
			require.Len(t, told, 1)
			require.Equal(t, c.event, told[0].Event)
		})
	}
}

// V-20: cancelled before its time, nothing of it is applied.
func TestBatchCancelled(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	b.submit(t, b.of(id, 2, time.Hour))
	req := &gnomonv1.CancelBatchRequest{Id: id, RequestId: "r-1", Comment: "not today"}
	cancelled, err := b.calls.CancelBatch(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_CANCELLED, cancelled.GetStatus().GetState())
	require.Equal(t, "not today", cancelled.GetStatus().GetLastDecision().GetComment())
	require.Equal(t, gnomonv1.BatchStatus_CANCELLED, b.ends(t, id).GetState())
	again, err := b.calls.CancelBatch(t.Context(), req)
	require.NoError(t, err, "the same call gives the same answer")
	require.Equal(t, gnomonv1.BatchStatus_CANCELLED, again.GetStatus().GetState())
	require.Empty(t, b.other.of(id))
	require.Equal(t, "BatchCancelled", b.other.told(id)[0].Event)
}

// V-20: rescheduled before its time, it is applied at the new one.
func TestBatchRescheduled(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	b.submit(t, b.of(id, 1, time.Hour))
	at := time.Now().Add(2 * time.Second)
	moved, err := b.calls.RescheduleBatch(t.Context(), &gnomonv1.RescheduleBatchRequest{Id: id, ScheduledAt: stamp(at)})
	require.NoError(t, err)
	require.True(t, moved.GetScheduledAt().AsTime().Equal(at.Truncate(time.Microsecond)))
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
	require.False(t, b.other.of(id)[0].at.Before(at.Truncate(time.Microsecond)))
}

// V-07, V-09, V-16, V-17, V-18: what is no longer valid, hard or soft, comes to review
// with all problems named and nothing applied, and tells people once each round; retried
// after a repair it is applied, rescheduled it is later, cancelled never.
func TestBatchReview(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	for name, decide := range map[string]func(t *testing.T, id string) gnomonv1.BatchStatus_State{
		"retry": func(t *testing.T, id string) gnomonv1.BatchStatus_State {
			t.Helper()
			// Too early: it is not repaired.
			_, err := b.calls.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{Id: id, Decision: gnomonv1.ReviewBatchRequest_RETRY})
			require.NoError(t, err)
			b.other.until(t, "people are told of the second round", func() bool { return len(b.other.notesOf(id)) == 2 })
			require.EqualValues(t, 2, b.comes(t, id, gnomonv1.BatchStatus_MANUAL_REVIEW).GetStatus().GetRound())
			b.repair(id)
			_, err = b.calls.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{Id: id, Decision: gnomonv1.ReviewBatchRequest_RETRY})
			require.NoError(t, err)
			return gnomonv1.BatchStatus_COMPLETE
		},
		"reschedule": func(t *testing.T, id string) gnomonv1.BatchStatus_State {
			t.Helper()
			b.repair(id)
			at := time.Now().Add(2 * time.Second)
			moved, err := b.calls.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{
				Id: id, Decision: gnomonv1.ReviewBatchRequest_RESCHEDULE, ScheduledAt: stamp(at),
			})
			require.NoError(t, err)
			require.Equal(t, gnomonv1.BatchStatus_PENDING, moved.GetStatus().GetState())
			require.Empty(t, moved.GetStatus().GetProblems())
			return gnomonv1.BatchStatus_COMPLETE
		},
		"cancel": func(t *testing.T, id string) gnomonv1.BatchStatus_State {
			t.Helper()
			_, err := b.calls.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{Id: id, Decision: gnomonv1.ReviewBatchRequest_CANCEL, Comment: "never mind"})
			require.NoError(t, err)
			return gnomonv1.BatchStatus_CANCELLED
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := b.id(name)
			b.submit(t, b.of(id, 3, 2*time.Second))
			b.other.set(func() {
				b.other.hard[place(id, 0)], b.other.soft[place(id, 2)] = "ORDER_CLOSED", "FRIDAY"
			})
			seen := b.comes(t, id, gnomonv1.BatchStatus_MANUAL_REVIEW)
			problems := seen.GetStatus().GetProblems()
			require.Len(t, problems, 2)
			require.Equal(t, "ORDER_CLOSED", problems[0].GetCode())
			require.EqualValues(t, 0, problems[0].GetChangeIndex())
			require.Equal(t, gnomonv1.Problem_SOFT, problems[1].GetSeverity())
			require.EqualValues(t, 2, problems[1].GetChangeIndex())
			require.Equal(t, "FRIDAY", seen.GetChanges()[2].GetStatus().GetProblems()[0].GetCode())
			require.Equal(t, []gnomonv1.ChangeStatus_State{unfinished, unfinished, unfinished}, changeStates(seen))
			require.Empty(t, b.other.of(id), "nothing is applied")
			b.other.until(t, "people are told", func() bool { return len(b.other.notesOf(id)) == 1 })
			want := decide(t, id)
			require.Equal(t, want, b.ends(t, id).GetState())
			rounds := map[uint32]int{}
			for _, n := range b.other.told(id) {
				if n.Event == "ScheduledChangeFailed" {
					require.Equal(t, "MANUAL_REVIEW", n.State)
					require.Len(t, n.Problems, 2)
					rounds[n.Round]++
				}
			}
			require.Equal(t, 1, rounds[1], "once each round")
			require.Equal(t, map[bool]int{true: 1, false: 0}[name == "retry"], rounds[2])
			require.Len(t, b.other.of(id), map[bool]int{true: 3, false: 0}[want == gnomonv1.BatchStatus_COMPLETE])
		})
	}
}

// repair makes a batch valid.
func (b *bureau) repair(id string) {
	b.other.set(func() {
		delete(b.other.hard, place(id, 0))
		delete(b.other.soft, place(id, 2))
	})
}

// V-11, V-12, V-16, V-19: a service that is down is tried again; once the attempts are
// spent a person has it, and a retry goes on where it ended.
func TestBatchRetriesSpent(t *testing.T) {
	t.Parallel()
	b := openBureau(t, func(c *worker.Config) { c.BatchAttempts = 2 })
	id := b.id("a")
	b.other.set(func() { b.other.answers[place(id, 0)], b.other.answers[place(id, 1)] = 410, 500 })
	b.submit(t, b.of(id, 3, 2*time.Second))
	seen := b.comes(t, id, gnomonv1.BatchStatus_MANUAL_REVIEW)
	require.Equal(t, "RETRIES_EXHAUSTED", seen.GetStatus().GetProblems()[0].GetCode())
	require.Equal(t, []gnomonv1.ChangeStatus_State{rejected, unfinished, unfinished}, changeStates(seen))
	require.EqualValues(t, 2, seen.GetStatus().GetAttempts())
	require.EqualValues(t, 2, seen.GetChanges()[1].GetStatus().GetAttempts())
	b.other.set(func() { delete(b.other.answers, place(id, 1)) })
	_, err := b.calls.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{Id: id, Decision: gnomonv1.ReviewBatchRequest_RETRY})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_PARTIAL_FAILURE, b.ends(t, id).GetState())
	require.Equal(t, []string{place(id, 0), place(id, 1), place(id, 1), place(id, 1), place(id, 2)}, b.other.paths(id))
	keys := map[string]bool{}
	for _, a := range b.other.of(id)[1:4] {
		keys[a.key] = true
	}
	require.Len(t, keys, 1, "one key for all attempts, in all rounds")
	require.Len(t, b.other.told(id), 2, "the review and the outcome")
}
