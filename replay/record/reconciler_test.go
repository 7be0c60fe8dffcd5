package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"gnomon/store/faulty"
)

const (
	wakes     = enumspb.EVENT_TYPE_TIMER_FIRED
	signalled = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
	canceled  = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED
)

// begins waits until a worker has started the reconciler.
func (i *installation) begins(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := i.client.DescribeWorkflowExecution(t.Context(), i.workflow(name), "")
		return err == nil
	}, within, 20*time.Millisecond, name)
}

// TestReconcilerSleeps records the reconciler after a round, with an interval that was
// changed then, and ended by a worker that wants none.
func TestReconcilerSleeps(t *testing.T) {
	t.Parallel()
	i := installIdle(t)
	i.reconciling(t, time.Hour)
	i.begins(t, "reconciler-sleeping")
	i.happens(t, "reconciler-sleeping", sleeps, 1)
	i.settles(t, "reconciler-sleeping")
	made.save(t, i, "reconciler-sleeping")

	i.reconciling(t, 2*time.Hour)
	i.happens(t, "reconciler-interval-changed", sleeps, 2)
	i.settles(t, "reconciler-interval-changed")
	made.save(t, i, "reconciler-interval-changed")

	i.reconciling(t, 0)
	i.happens(t, "reconciler-ended-sleeping", canceled, 1)
	made.save(t, i, "reconciler-ended-sleeping")
}

// TestReconcilerRounds records it in a round that the store, being down, does not let
// it end, and ended then.
func TestReconcilerRounds(t *testing.T) {
	t.Parallel()
	i := installIdle(t)
	i.store.Set(faulty.Faults{Fail: 1})
	i.reconciling(t, time.Hour)
	i.begins(t, "reconciler-in-round")
	i.happens(t, "reconciler-in-round", started, 1)
	i.settles(t, "reconciler-in-round")
	made.save(t, i, "reconciler-in-round")
	i.reconciling(t, 0)
	i.happens(t, "reconciler-ended-in-round", canceled, 1)
	made.save(t, i, "reconciler-ended-in-round")
}

// TestReconcilerContinues records it after some rounds, and as its history grew long.
func TestReconcilerContinues(t *testing.T) {
	t.Parallel()
	i := installIdle(t)
	i.reconciling(t, time.Second)
	const name = "reconciler-continued"
	i.begins(t, name)
	i.happens(t, name, wakes, 2)
	first := i.run(t, name)
	made.saveRun(t, i, "reconciler-later-round", first, "reconciler-later-round")
	i.happens(t, name, continues, 1)
	made.saveRun(t, i, name, first, name)
	next := i.run(t, name)
	i.happens(t, name, sleeps, 1)
	made.saveRun(t, i, name, next, name+"-next")
}
