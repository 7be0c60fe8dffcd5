package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

var errNo = errors.New("no")

func failing(context.Context, performers.Request) (performers.Reply, error) {
	return performers.Reply{}, errNo
}

// M-25, M-36, M-40, M-54, M-57 to M-59: a success, its status and its row.
func TestSuccess(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
		b.pass(time.Second)
		return performers.Reply{Text: "done"}, nil
	}
	p, err := b.run()
	require.NoError(t, err)
	require.True(t, p.GetStored())
	require.Nil(t, p.GetOccurrence())
	require.True(t, proto.Equal(&gnomonv1.Status{
		State: gnomonv1.Status_SUCCEEDED, SuccessfulAttemptsCounter: 1,
		LastAttemptStatus: &gnomonv1.AttemptStatus{
			Attempt: 1, Occurrence: life.Stamp(start), StartTime: life.Stamp(start), FinishTime: life.Stamp(start.Add(time.Second)),
			Outcome: gnomonv1.AttemptStatus_SUCCESS, Reply: "done", Worker: "host/build/1", RunId: "run-1",
			IdempotencyKey: "a/guid-1/2026-11-21T10:00:00Z",
		},
	}, p.GetStatus()))

	require.Len(t, b.acted, 1)
	r := b.acted[0]
	require.Equal(t, []any{"a", "guid-1", start, uint32(1), "a/guid-1/2026-11-21T10:00:00Z"},
		[]any{r.ID, r.GUID, r.Occurrence, r.Attempt, r.IdempotencyKey})

	row, ok := b.store.Row("a")
	require.True(t, ok)
	require.True(t, row.Tombstone)
	require.Equal(t, "run-1", row.Chain)
	require.True(t, proto.Equal(p.GetStatus(), row.Action.GetStatus()))
	require.Equal(t, store.Revision{
		Incarnation: start.Add(-time.Minute), Sequence: b.in.GetSequence(), Attempt: 1, Phase: store.PhaseLast,
	}, row.Revision)
}

// M-17, M-24, M-37, M-39: a failure asks the server for the exact delay from its end
// and leaves the counters in its heartbeat.
func TestFailureIsRetriedAfterTheExactDelay(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
		b.pass(3 * time.Second)
		return performers.Reply{}, errNo
	}
	failure, p := b.fail()
	require.Equal(t, workflowv1.FailureFailed, failure.Type())
	require.False(t, failure.NonRetryable())
	require.Equal(t, 2*time.Second, failure.NextRetryDelay())
	require.Equal(t, start.Add(5*time.Second), p.GetStatus().GetScheduledAt().AsTime())
	require.EqualValues(t, 1, p.GetStatus().GetFailedAttemptsCounter())
	require.EqualValues(t, 1, p.GetCounted())
	require.True(t, p.GetStored())
	require.Len(t, b.beats, 1)
	require.True(t, proto.Equal(p, b.beats[0]))
	row, _ := b.store.Row("a")
	require.Equal(t, gnomonv1.Status_RETRYING, row.Action.GetStatus().GetState())
	require.False(t, row.Tombstone)
}

// The time that storing the row of a failure takes is part of its delay.
func TestDelayCountsFromTheFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.store.Hold = make(chan struct{}) // it hangs
		began := time.Now()
		b.real.Clock = nil // the server's time of the start, and what passed since
		b.perform = failing
		failure, p := b.fail()
		require.False(t, p.GetStored())
		require.Equal(t, 1750*time.Millisecond, time.Since(began), "the wait for the store is bounded by the retry")
		require.Equal(t, 250*time.Millisecond, failure.NextRetryDelay())
		require.Equal(t, start.Add(2*time.Second), p.GetStatus().GetScheduledAt().AsTime())
	})
}

// F5: an attempt after which nothing is due waits for a slow store, and no longer than
// three seconds.
func TestWaitForTheRow(t *testing.T) {
	t.Parallel()
	for takes, stored := range map[time.Duration]bool{2 * time.Second: true, 4 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, 9)
			defer b.close()
			b.store.Takes = takes
			began := time.Now()
			p, err := b.run()
			require.NoError(t, err)
			require.Equal(t, stored, p.GetStored())
			if stored {
				// A call for the attempt's beginning that is under way is not waited for.
				require.LessOrEqual(t, time.Since(began), takes+125*time.Millisecond)
			} else {
				require.Equal(t, 3*time.Second, time.Since(began))
			}
		})
	}
}

// M-23, M-25: what ends the occurrence is not retried.
func TestFailuresThatEndTheOccurrence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retries uint32
		err     error
	}{"last attempt": {0, errNo}, "permanent": {9, performers.Permanent(errNo)}} {
		b := newBench(t, c.retries)
		b.perform = func(context.Context, performers.Request) (performers.Reply, error) { return performers.Reply{}, c.err }
		failure, p := b.fail()
		require.Equal(t, workflowv1.FailureFinal, failure.Type(), name)
		require.True(t, failure.NonRetryable(), name)
		require.Nil(t, p.GetOccurrence(), name)
		require.Equal(t, gnomonv1.Status_FAILED, p.GetStatus().GetState(), name)
		row, _ := b.store.Row("a")
		require.True(t, row.Tombstone, name)
		b.close()
	}
}

// M-02, M-03: a kind that this installation does not perform is a final failure.
func TestKindWithoutPerformer(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.real.Performers = performers.Set{}
	failure, p := b.fail()
	require.Equal(t, workflowv1.FailureFinal, failure.Type())
	require.Equal(t, `this installation performs no "http_request"`, p.GetStatus().GetLastAttemptStatus().GetError())
}

// M-38: a panic is caught and is an interruption.
func TestPanic(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
		b.pass(time.Second)
		panic("boom")
	}
	failure, p := b.fail()
	require.Equal(t, workflowv1.FailureInterrupted, failure.Type())
	require.Equal(t, time.Second, failure.NextRetryDelay(), "M-27: from its start")
	require.EqualValues(t, 1, p.GetStatus().GetInterruptedAttemptsCounter())
	require.Zero(t, p.GetStatus().GetFailedAttemptsCounter())
	require.Equal(t, "panic: boom", p.GetStatus().GetLastAttemptStatus().GetError())
}

// AttemptStatus: errors and replies are at most 1 KiB and valid UTF-8, since neither
// Temporal nor a store takes anything else.
func TestTextsAreShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("€\xff", 5000)
	b := newBench(t, 0)
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
		return performers.Reply{Text: long}, errors.New(long)
	}
	_, p := b.fail()
	b.close()
	last := p.GetStatus().GetLastAttemptStatus()
	for _, text := range []string{last.GetError(), last.GetReply()} {
		require.True(t, utf8.ValidString(text))
		require.LessOrEqual(t, len(text), 1024)
		require.Greater(t, len(text), 1000)
	}

	b = newBench(t, 0)
	defer b.close()
	b.perform = func(context.Context, performers.Request) (performers.Reply, error) { panic(long) }
	_, p = b.fail()
	require.LessOrEqual(t, len(p.GetStatus().GetLastAttemptStatus().GetError()), 1024)
}

// M-13, M-15: an attempt begins exactly at the deadline and not a microsecond later.
// A retry that would begin after it is handed back to the workflow.
func TestDeadline(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	b.in.Spec.SendPolicy.Deadline = timestamppb.New(start)
	_, err := b.run()
	require.NoError(t, err)
	b.close()

	b = newBench(t, 9)
	b.in.Spec.SendPolicy.Deadline = timestamppb.New(start)
	b.pass(time.Microsecond)
	failure, p := b.fail()
	require.Equal(t, workflowv1.FailureHeld, failure.Type())
	require.True(t, failure.NonRetryable())
	require.Empty(t, b.acted)
	require.True(t, proto.Equal(b.in.GetOccurrence(), p.GetOccurrence()), "nothing was counted")
	b.close()

	b = newBench(t, 9)
	defer b.close()
	b.in.Spec.SendPolicy.Deadline = timestamppb.New(start.Add(2*time.Second - time.Microsecond))
	b.perform = failing
	failure, p = b.fail()
	require.Equal(t, workflowv1.FailureHeld, failure.Type())
	require.True(t, failure.NonRetryable())
	require.EqualValues(t, 1, p.GetOccurrence().GetAttempts())
	require.True(t, p.GetStored())
}
