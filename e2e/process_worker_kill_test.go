package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	// heartbeat is the heartbeat timeout of the workers here, the least but one.
	heartbeat = 2 * time.Second
	// f1Slack is the second that F1 grants beside timeout and delay.
	f1Slack = time.Second
	// tolerance is for a machine that is busy with the other tests.
	tolerance = 700 * time.Millisecond
)

// F1; M-26, M-27, M-38, M-59: a worker killed -9 in the middle of attempts, twice.
// Each is attempted again under the same key within heartbeat timeout + delay(c) +
// 1 s, never before start + delay(c), and counted Interrupted exactly; a budget that
// is spent by the interruption ends the action FAILED without another arrival.
func TestProcessWorkerKilled(t *testing.T) {
	t.Parallel()
	p := separate(t)
	flags := []string{"--heartbeat-timeout", heartbeat.String()}
	working := p.work(t, flags...)

	// c of table T1's formula: the first retry takes 2 s, the second 3 s.
	at := time.Now().Add(time.Second)
	doubling := []string{"doubling-1", "doubling-2", "doubling-3"}
	for _, id := range doubling {
		create(t, p.client, retrying(p.inbox.once(id, "/block/"+id, at), 2))
	}
	// Longer than the heartbeat timeout: the delay counts from the attempt's start.
	create(t, p.client, steadily(p.inbox.once("patient", "/block/patient", at), 3, 6*time.Second))
	create(t, p.client, p.inbox.once("only", "/block/only", at))
	for _, id := range append(doubling, "patient", "only") {
		require.GreaterOrEqual(t, p.inbox.nth(t, id, 1, 20*time.Second).Late(), time.Duration(0), "%s is early", id)
	}

	killed := working.kill(t)
	working = p.work(t, flags...)
	for _, id := range doubling {
		p.retried(t, id, 2, killed, 2*time.Second)
	}
	// M-26: the interruption was the last attempt.
	last := ends(t, p.client, "only", gnomonv1.Status_FAILED, counts{interrupted: 1, inARow: 1})
	require.Equal(t, gnomonv1.AttemptStatus_INTERRUPTED, last.GetLastAttemptStatus().GetOutcome())
	require.EqualValues(t, 1, last.GetLastAttemptStatus().GetAttempt())
	p.retried(t, "patient", 2, killed, 6*time.Second)

	killed = working.kill(t)
	p.work(t, flags...)
	for _, id := range doubling {
		p.retried(t, id, 3, killed, 3*time.Second)
	}
	p.retried(t, "patient", 3, killed, 6*time.Second)
	// The row of a running attempt is written beside it, not before it.
	eventually(t, 10*time.Second, "the row shows the attempt that runs", func() bool {
		st := row(t, p.client, "patient").GetStatus()
		return st.GetState() == gnomonv1.Status_RUNNING && st.GetCurrentAttemptStatus().GetAttempt() == 3
	})
	require.Equal(t, counts{interrupted: 2, inARow: 2}, counted(row(t, p.client, "patient").GetStatus()))

	p.inbox.Release()
	for _, id := range append(doubling, "patient") {
		st := ends(t, p.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1, interrupted: 2})
		require.EqualValues(t, 3, st.GetLastAttemptStatus().GetAttempt())
		require.Len(t, p.inbox.of(id), 3)
	}
	require.Len(t, p.inbox.of("only"), 1, "no attempt beyond the budget (M-26)")
}

// retried holds the bounds of the nth arrival of an action after its worker was
// killed during the one before.
func (p *parts) retried(t *testing.T, id string, n int, killed time.Time, delay time.Duration) {
	t.Helper()
	now := p.inbox.nth(t, id, n, 60*time.Second)
	before := p.inbox.of(id)[n-2]
	t.Logf("%s: attempt %d %s after the kill, %s after attempt %d began", id, n,
		now.Time.Sub(killed).Round(time.Millisecond), now.Time.Sub(before.Time).Round(time.Millisecond), n-1)
	require.LessOrEqual(t, now.Time.Sub(killed), heartbeat+delay+f1Slack+tolerance, "%s: F1", id)
	require.GreaterOrEqual(t, now.Time.Sub(before.Time), delay-startSkew, "%s: not before start + delay (M-27)", id)
	require.Equal(t, before.IdempotencyKey, now.IdempotencyKey, "one key for all attempts (M-59)")
	require.EqualValues(t, n, now.Attempt)
}

// startSkew is how long after its start by the server's clock an attempt arrives.
const startSkew = 300 * time.Millisecond
