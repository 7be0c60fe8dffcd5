package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/worker"
)

// V-13, V-15: a worker process takes one batch and polls for no other until that is done,
// and changes are made one after another. Another process takes the next batch; actions
// wait for neither.
func TestOneBatchAtATime(t *testing.T) {
	t.Parallel()
	b := openBureau(t, func(c *worker.Config) { c.HeartbeatTimeout = 5 * time.Second })
	first, second, third := b.id("first"), b.id("second"), b.id("third")
	release := b.other.hold(place(first, 1))
	b.submit(t, b.of(first, 3, time.Second))
	b.other.begun(t, place(first, 1))
	b.submit(t, b.of(second, 3, time.Second))
	b.submit(t, b.of(third, 3, time.Second))
	for _, id := range []string{second, third} {
		b.comes(t, id, gnomonv1.BatchStatus_PROCESSING) // its time has come
		seen, err := b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
		require.NoError(t, err)
		waits := false
		for _, p := range seen.GetPendingActivities() {
			waits = waits || p.GetActivityType().GetName() == workflowv1.ProcessBatchActivity && p.GetLastStartedTime() == nil
		}
		require.True(t, waits, "%s waits for its turn", id)
	}
	action := b.id("action")
	b.create(t, b.once(action, "/ok", 0))
	b.closed(t, action, startWithin)
	require.Empty(t, b.other.of(second))
	require.Empty(t, b.other.of(third))
	require.Len(t, b.other.of(first), 2)

	// Another process, as the batches of the first one are: a worker of its own.
	gate := b.other.hold(place(second, 0))
	gate2 := b.other.hold(place(third, 0))
	b.employ(t)
	b.other.until(t, "the other worker takes one of them", func() bool { return b.other.under == 2 })
	require.Equal(t, 1, len(b.other.of(second))+len(b.other.of(third)), "and only one")
	gate()
	gate2()
	for _, id := range []string{second, third} {
		require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
		require.Equal(t, []string{place(id, 0), place(id, 1), place(id, 2)}, b.other.paths(id))
	}
	release()
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, first).GetState())
	require.Equal(t, 2, b.other.most, "two workers, two changes at once at most")
}

// V-13: ten batches that fall due in the same second take their turns in one process, and
// none is begun before the one before it is done.
func TestBatchesTakeTurns(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	const batches = 10
	at := time.Now().Add(3 * time.Second)
	var ids []string
	for n := range batches {
		ids = append(ids, b.id(string(rune('a'+n))))
		wanted := b.of(ids[n], 3, 0)
		wanted.ScheduledAt = stamp(at)
		b.submit(t, wanted)
	}
	for _, id := range ids {
		require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
	}
	b.other.mu.Lock()
	defer b.other.mu.Unlock()
	require.Equal(t, 1, b.other.most)
	require.Len(t, b.other.applies, 3*batches)
	for n, a := range b.other.applies {
		require.Equal(t, b.other.applies[n/3*3].batch, a.batch, "batches are not mixed")
		require.Equal(t, place(a.batch, n%3), a.path)
	}
}
