package record

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/store/faulty"
)

// strolled is a catalogue without a worker, with so many entities and a stage that are
// called like the recording of its walk, and a facade.
func strolled(t *testing.T, name string, entities int) (*catalogue, *starter.Entities) {
	t.Helper()
	c := &catalogue{installation: installIdle(t)}
	c.batches.Stages, c.batches.Publisher = stages.NewSet(declare(name, idle)), c
	for n := range entities {
		_, err := c.store.PutEntity(t.Context(), store.EntityPut{At: time.Now(), Entity: &gnomonv1.Entity{Type: entityType, Id: fmt.Sprintf("%s-%03d", name, n)}})
		require.NoError(t, err)
	}
	facade, err := starter.NewEntities(starter.Config{
		Client: c.client, TaskQueue: c.queue, Store: c.store, Stages: c.batches.Stages, ApplyTimeout: applyTimeout, Logger: c.log,
	})
	require.NoError(t, err)
	return c, facade
}

// walks begins a walk at a rate. The walk of a recording that is called so is of its stage.
func walks(t *testing.T, facade *starter.Entities, name string, rate float64) {
	t.Helper()
	_, err := facade.RewalkStage(limited(t), &gnomonv1.RewalkStageRequest{Stage: name, Rate: rate})
	require.NoError(t, err)
}

// TestWalkDone records walks from their beginning to their end, asking and unconditional.
func TestWalkDone(t *testing.T) {
	t.Parallel()
	for name, unconditional := range map[string]bool{"rewalk-done": false, "rewalk-unconditional": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, facade := strolled(t, name, 5)
			c.work(t)
			_, err := facade.RewalkStage(limited(t), &gnomonv1.RewalkStageRequest{Stage: name, Rate: 10_000, Unconditional: unconditional})
			require.NoError(t, err)
			c.ended(t, name)
		})
	}
}

// TestWalkCancelled records a walk in the midst of a page, and how it is cancelled: by the
// facade, in the Web UI, and before a worker began.
func TestWalkCancelled(t *testing.T) {
	t.Parallel()
	c, facade := strolled(t, "rewalk-running", 120)
	c.work(t)
	walks(t, facade, "rewalk-running", 1)
	c.happens(t, "rewalk-running", started, 3)
	c.settles(t, "rewalk-running")
	made.save(t, c.installation, "rewalk-running")

	const told, byTemporal, early = "rewalk-cancelled", "rewalk-cancelled-by-temporal", "rewalk-cancelled-before-a-page"
	for name, cancel := range map[string]func(*testing.T, *catalogue, *starter.Entities){
		told: func(t *testing.T, _ *catalogue, facade *starter.Entities) {
			t.Helper()
			ended, err := facade.CancelRewalk(limited(t), &gnomonv1.CancelRewalkRequest{Stage: told})
			require.NoError(t, err)
			require.Equal(t, gnomonv1.Rewalk_CANCELLED, ended.GetState())
		},
		byTemporal: func(t *testing.T, c *catalogue, _ *starter.Entities) {
			t.Helper()
			require.NoError(t, c.client.CancelWorkflow(limited(t), workflowv1.RewalkWorkflowID(byTemporal), ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, facade := strolled(t, name, 60)
			c.work(t)
			walks(t, facade, name, 1)
			c.passes(t, name)
			cancel(t, c, facade)
			c.ended(t, name)
		})
	}
	t.Run(early, func(t *testing.T) {
		t.Parallel()
		c, facade := strolled(t, early, 30)
		_, err := facade.RewalkStage(hurried(t), &gnomonv1.RewalkStageRequest{Stage: early})
		require.NoError(t, err)
		require.NoError(t, c.client.SignalWorkflow(limited(t), workflowv1.RewalkWorkflowID(early), "", workflowv1.SignalCancelRewalk, nil))
		c.work(t)
		c.ended(t, early)
	})
}

// TestWalkWaitsForStage records a walk whose stage has as much waiting as it may: it gave
// a page back and tries the next.
func TestWalkWaitsForStage(t *testing.T) {
	t.Parallel()
	const name = "rewalk-waiting-for-stage"
	c, facade := strolled(t, name, 3)
	for n := range activities.DefaultOutstanding {
		require.NoError(t, c.store.PutQueue(t.Context(), store.QueueWrite{
			Key: c.key(fmt.Sprintf("queued-%d", n)), Revision: store.Revision{Incarnation: time.Now(), Sequence: 1},
			Entries: []store.QueueEntry{{Stage: name, EnqueueTime: time.Now()}},
		}))
	}
	c.work(t)
	walks(t, facade, name, 100)
	c.happens(t, name, started, 5)
	c.settles(t, name)
	made.save(t, c.installation, name)
}

// TestWalkStoreDown records a walk whose row the store does not take.
func TestWalkStoreDown(t *testing.T) {
	t.Parallel()
	const name = "rewalk-store-down"
	c, facade := strolled(t, name, 3)
	c.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutRewalk}})
	c.work(t)
	walks(t, facade, name, 100)
	c.happens(t, name, started, 2)
	require.Eventually(t, func() bool {
		pending := c.describe(t, name).GetPendingActivities()
		return len(pending) == 1 && pending[0].GetAttempt() > 1
	}, within, 20*time.Millisecond)
	c.settles(t, name)
	made.save(t, c.installation, name)
}

// passes waits until the heartbeats of a walk's page say that it has passed somebody.
func (c *catalogue) passes(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, p := range c.describe(t, name).GetPendingActivities() {
			if p.GetActivityType().GetName() == workflowv1.RewalkPageActivity && len(p.GetHeartbeatDetails().GetPayloads()) > 0 {
				return true
			}
		}
		return false
	}, within, 20*time.Millisecond, name)
}

// TestWalkWorkerLost records a walk whose worker is killed -9 in the midst of a page, with
// which another goes on.
func TestWalkWorkerLost(t *testing.T) {
	t.Parallel()
	const name = "rewalk-worker-lost"
	c, facade := strolled(t, name, 12)
	file := filepath.Join(t.TempDir(), "stages.yaml")
	declared := fmt.Sprintf("stages:\n  - name: %s\n    entityType: %s\n    address: 127.0.0.1:1\n", name, entityType)
	require.NoError(t, os.WriteFile(file, []byte(declared), 0o600))
	first := c.workElsewhere(t, "--stages", file)
	_, err := facade.RewalkStage(limited(t), &gnomonv1.RewalkStageRequest{Stage: name, Rate: 0.5, Unconditional: true})
	require.NoError(t, err)
	c.passes(t, name)
	first.kill()
	c.work(t)
	c.happens(t, name, ends, 1)
	walk, err := facade.GetRewalk(limited(t), &gnomonv1.GetRewalkRequest{Stage: name})
	require.NoError(t, err)
	require.EqualValues(t, 12, walk.GetWalked(), "each counts once")
	again := false
	for _, e := range c.history(t, name, c.run(t, name)).GetEvents() {
		if a := e.GetActivityTaskStartedEventAttributes(); a.GetAttempt() > 1 {
			again = again || a.GetLastFailure().GetTimeoutFailureInfo().GetTimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
		}
	}
	require.True(t, again, "no attempt was lost")
	made.save(t, c.installation, name)
}

// TestWalkContinued records a walk whose history grew long in the midst of a page, and the
// run that goes on after it.
func TestWalkContinued(t *testing.T) {
	t.Parallel()
	const name = "rewalk-continued"
	c, facade := strolled(t, name, 40)
	c.work(t)
	walks(t, facade, name, 1)
	c.happens(t, name, started, 3)
	full := c.run(t, name)
	require.Eventually(t, func() bool {
		for range 10 {
			require.NoError(t, c.client.SignalWorkflow(t.Context(), workflowv1.RewalkWorkflowID(name), "", "nobody knows it", nil))
		}
		d, err := c.client.DescribeWorkflowExecution(t.Context(), workflowv1.RewalkWorkflowID(name), full)
		require.NoError(t, err)
		return d.GetWorkflowExecutionInfo().GetHistoryLength() > continueAfter
	}, within, 10*time.Millisecond)
	ended := &gnomonv1.Rewalk{}
	require.NoError(t, c.client.GetWorkflow(limited(t), workflowv1.RewalkWorkflowID(name), full).Get(limited(t), ended))
	require.EqualValues(t, 40, ended.GetWalked())
	require.NotEqual(t, full, c.run(t, name))
	made.saveRun(t, c.installation, name, full, name)
	made.save(t, c.installation, name+"-next")
}
