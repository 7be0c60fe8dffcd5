package record

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/store"
)

const walk = gnomonv1.ProcessRequest_REWALK

// TestEntityNobodyWants records a change that concerns nobody.
func TestEntityNobodyWants(t *testing.T) {
	t.Parallel()
	c := catalogued(t)
	c.put(t, "entity-nobody-wants", 1)
	c.ended(t, "entity-nobody-wants")
}

// TestEntityFanOut records a change by a stage that another one hears of.
func TestEntityFanOut(t *testing.T) {
	t.Parallel()
	c := catalogued(t, declare("a", setting("price")), declare("b", idle))
	c.put(t, "entity-fan-out", 1)
	c.ended(t, "entity-fan-out")
}

// TestEntityChangedMeanwhile records a change that comes while a stage works.
func TestEntityChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const id = "entity-changed-meanwhile"
	h := hold()
	c := catalogued(t, declare("a", h.work), declare("b", idle))
	c.put(t, id, 1)
	h.enters(t)
	c.put(t, id, 2)
	c.settles(t, id)
	h.let()
	c.ended(t, id)
}

// TestEntityTimers records timers that are armed, replaced, fired and set by a walk.
func TestEntityTimers(t *testing.T) {
	t.Parallel()
	due := map[string]time.Duration{"entity-timer": far, "entity-timer-replaced": far}
	var hurry atomic.Int64 // when the timer of the others is due, after their visit
	c := catalogued(t, declare("a", func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		after, known := due[r.GetEntity().GetId()]
		if !known {
			after = time.Duration(hurry.Load())
		}
		if after == 0 || r.GetCause() == gnomonv1.ProcessRequest_TIMER {
			return &gnomonv1.ProcessResponse{}, nil
		}
		return &gnomonv1.ProcessResponse{Timer: timestamppb.New(time.Now().Add(after / time.Duration(r.GetEntity().GetVersion())))}, nil
	}))
	armed := func(r *gnomonv1.CheckEntityResponse) bool { return len(r.GetTimers()) == 1 && len(r.GetPending()) == 0 }
	for id := range due {
		c.put(t, id, 1)
	}
	c.comes(t, "entity-timer", armed)
	c.published(t, "entity-timer")
	made.save(t, c.installation, "entity-timer")
	c.comes(t, "entity-timer-replaced", armed)
	before := c.check(t, "entity-timer-replaced").GetTimers()[0].GetDueTime().AsTime()
	c.put(t, "entity-timer-replaced", 2)
	c.comes(t, "entity-timer-replaced", func(r *gnomonv1.CheckEntityResponse) bool {
		return armed(r) && r.GetTimers()[0].GetDueTime().AsTime().Before(before)
	})
	c.published(t, "entity-timer-replaced")
	made.save(t, c.installation, "entity-timer-replaced")
	c.want(t, "entity-timer-of-walk", &workflowv1.VisitRequested{Stage: "a", Timer: timestamppb.New(time.Now().Add(far))})
	c.comes(t, "entity-timer-of-walk", armed)
	c.settles(t, "entity-timer-of-walk")
	made.save(t, c.installation, "entity-timer-of-walk")
	made.ends(t, c.installation, "entity-timer-fired", func(t *testing.T, id string, soon time.Duration) error {
		t.Helper()
		hurry.Store(int64(soon))
		c.put(t, id, 1)
		return nil
	})
}

// TestEntityVisiting records visits that go on, one alone and one beside which the
// others come.
func TestEntityVisiting(t *testing.T) {
	t.Parallel()
	h := hold()
	c := catalogued(t, declare("a", h.work))
	c.put(t, "entity-visiting", 1)
	h.enters(t)
	require.Eventually(t, func() bool {
		left, err := c.store.Unpublished(t.Context(), c.key("entity-visiting"), 1)
		rows, errRows := c.store.PeekQueue(t.Context(), store.QueueQuery{Stage: "a", Limit: 1})
		return err == nil && errRows == nil && len(left) == 0 && len(rows) == 1
	}, within, 20*time.Millisecond)
	c.settles(t, "entity-visiting")
	made.save(t, c.installation, "entity-visiting")
	h.let()
}

// TestEntitySlowStage records an entity that waits for the slot of one stage while others
// visit it.
func TestEntitySlowStage(t *testing.T) {
	t.Parallel()
	const id = "entity-slow-stage"
	h := hold()
	c := catalogued(t, declare("a", h.work, func(d *stages.Declaration) { d.Parallelism = 1 }), declare("b", idle), declare("c", idle))
	c.put(t, "other", 1)
	h.enters(t)
	made.comes(t, c.installation, id, func(t *testing.T, id string, _ time.Duration) error {
		t.Helper()
		c.put(t, id, 1)
		c.comes(t, id, func(r *gnomonv1.CheckEntityResponse) bool { return len(r.GetPending()) == 1 })
		return nil
	})
	h.let()
}

// TestEntityFailing records a stage that is to be repeated.
func TestEntityFailing(t *testing.T) {
	t.Parallel()
	const id = "entity-failing"
	c := catalogued(t, declare("a", func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		return nil, errDown
	}))
	c.put(t, id, 1)
	c.comes(t, id, func(r *gnomonv1.CheckEntityResponse) bool {
		return len(r.GetPending()) == 1 && r.GetPending()[0].GetFailures() == 1
	})
	c.published(t, id)
	made.save(t, c.installation, id)
}

// TestEntityCascade records stages that change one after another, and are slowed down.
func TestEntityCascade(t *testing.T) {
	t.Parallel()
	play := func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		if r.GetEntity().GetVersion() > 2 {
			return &gnomonv1.ProcessResponse{}, nil
		}
		return patching("ball", float64(r.GetEntity().GetVersion())), nil
	}
	c := catalogued(t, declare("ping", play), declare("pong", play))
	made.ends(t, c.installation, "entity-cascade", func(t *testing.T, id string, _ time.Duration) error {
		t.Helper()
		c.put(t, id, 1)
		return nil
	})
}

// TestEntityUpgraded records walks' visits that a real change brings forward: one that
// works already, and one that has not begun.
func TestEntityUpgraded(t *testing.T) {
	t.Parallel()
	const working, waiting = "entity-upgraded-at-work", "entity-called-back"
	h := hold()
	c := catalogued(t, declare("a", h.work, func(d *stages.Declaration) { d.Parallelism = 1 }))
	for _, id := range []string{working, waiting} {
		_, err := c.store.PutEntity(t.Context(), store.EntityPut{At: time.Now(), Entity: &gnomonv1.Entity{Type: entityType, Id: id}})
		require.NoError(t, err)
		c.want(t, id, &workflowv1.VisitRequested{Stage: "a", Cause: walk, Background: true})
		if id == working {
			h.enters(t)
		}
		c.happens(t, id, started, 1)
		c.settles(t, id)
	}
	c.put(t, working, 2)
	c.put(t, waiting, 2)
	c.happens(t, working, enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED, 1)
	c.happens(t, waiting, enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED, 1)
	h.let()
	c.ended(t, working, waiting)
}

// TestEntityPublisherDown records an entity to which nothing is left but to publish.
func TestEntityPublisherDown(t *testing.T) {
	t.Parallel()
	const id = "entity-publisher-down"
	c := catalogued(t, declare("a", setting("price")))
	c.mu.Lock()
	c.silent = errDown
	c.mu.Unlock()
	c.put(t, id, 1)
	c.happens(t, id, completed, 2)
	c.comes(t, id, func(r *gnomonv1.CheckEntityResponse) bool { return len(r.GetPending()) == 0 && len(r.GetAsking()) == 0 })
	made.save(t, c.installation, id)
}

// TestEntityDeleted records an entity that is deleted with timers armed.
func TestEntityDeleted(t *testing.T) {
	t.Parallel()
	const id = "entity-deleted"
	c := catalogued(t, declare("a", func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		return &gnomonv1.ProcessResponse{Timer: timestamppb.New(time.Now().Add(far))}, nil
	}))
	c.put(t, id, 1)
	c.comes(t, id, func(r *gnomonv1.CheckEntityResponse) bool { return len(r.GetTimers()) == 1 })
	r, err := c.store.DeleteEntity(t.Context(), c.key(id), 0, time.Now())
	require.NoError(t, err)
	c.tell(t, id, r.Entity.GetVersion())
	c.ended(t, id)
}

// TestEntityMalformedSignal records signals that nobody can read.
func TestEntityMalformedSignal(t *testing.T) {
	t.Parallel()
	const id = "entity-malformed-signal"
	h := hold()
	c := catalogued(t, declare("a", h.work))
	c.put(t, id, 1)
	h.enters(t)
	for _, name := range []string{workflowv1.SignalChanged, workflowv1.SignalVisit} {
		require.NoError(t, c.client.SignalWorkflow(t.Context(), workflowv1.EntityWorkflowID(entityType, id), "", name, "what?"))
	}
	c.settles(t, id)
	h.let()
	c.ended(t, id)
}

// TestEntityContinued records a run whose history grew long while a visit waited, and the
// next one, which makes it.
func TestEntityContinued(t *testing.T) {
	t.Parallel()
	const id = "entity-continued"
	h := hold()
	c := catalogued(t, declare("a", h.work, func(d *stages.Declaration) { d.Parallelism = 1 }))
	c.put(t, "other-of-continued", 1)
	h.enters(t)
	c.put(t, id, 1)
	c.happens(t, id, started, 2)
	full := c.run(t, id)
	require.Eventually(t, func() bool {
		c.tell(t, id, 1)
		c.settles(t, id)
		return c.run(t, id) != full
	}, within, 50*time.Millisecond)
	made.saveRun(t, c.installation, id, full, id)
	h.let()
	c.happens(t, id, ends, 1)
	made.save(t, c.installation, id+"-next")
}
