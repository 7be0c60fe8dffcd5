package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

func (i *installation) delete(t *testing.T, id string) *gnomonv1.ScheduledAction {
	t.Helper()
	reply, err := i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id})
	require.NoError(t, err)
	return reply
}

func (i *installation) missing(t *testing.T, id string) {
	t.Helper()
	_, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
	require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
}

// M-60: deletion, and creation of the same id at once after it.
func TestDeleteThenCreate(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	old := i.create(t, i.once(id, "/old", time.Hour))
	for range 5 {
		require.Equal(t, gnomonv1.Status_DELETED, i.delete(t, id).GetStatus().GetState())
		i.missing(t, id)
		now := i.create(t, i.once(id, "/new", time.Hour))
		require.NotEqual(t, old.GetMeta().GetGuid(), now.GetMeta().GetGuid())
		seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, now.GetMeta().GetGuid(), seen.GetMeta().GetGuid())
		old = now
	}
	i.delete(t, id)
	_, err := i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id, AllowMissing: true})
	require.NoError(t, err)
}

// M-43: a deletion during an attempt and during a retry wait: no attempt begins
// after it.
func TestDeleteDuringAttempts(t *testing.T) {
	t.Parallel()
	i := install(t)
	running, retry := i.id("running"), i.id("retry")
	i.create(t, retrying(i.once(running, "/block", time.Second), 8))
	i.create(t, retrying(i.once(retry, "/status/503", time.Second), 8))
	i.arrival(t, 20*time.Second, path(running, "/block"))
	i.arrival(t, 20*time.Second, path(retry, "/status/503"))
	for _, id := range []string{running, retry} {
		i.delete(t, id)
		require.Equal(t, gnomonv1.Status_DELETED, i.closed(t, id, 10*time.Second).GetState())
		i.missing(t, id)
	}
	acknowledged := time.Now()
	i.inbox.Release()
	eventually(t, 10*time.Second, "the retry would have been", func() bool { return time.Since(acknowledged) > 4*time.Second })
	require.Len(t, i.of(running), 1)
	require.Len(t, i.of(retry), 1)
	i.missing(t, running)
}

// faults.md (6): a deletion that no worker hears is applied before any attempt, and
// a creation meanwhile is told so.
func TestDeleteWithoutWorkers(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/old", 4*time.Second))
	eventually(t, 10*time.Second, "it sleeps", func() bool { return len(i.events(t, id)) == 5 })
	i.rest()
	require.Equal(t, gnomonv1.Condition_FALSE, condition(i.delete(t, id), "Applied").GetStatus())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := i.facade.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: i.once(id, "/new", time.Hour)})
	require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
	i.work(t)
	require.Equal(t, gnomonv1.Status_DELETED, i.closed(t, id, 20*time.Second).GetState())
	i.missing(t, id)
	require.Empty(t, i.of(id))
}

// An upsert accepted after a deletion that no worker has applied stands: the
// deletion does not swallow it (faults.md (1), (5)).
func TestUpsertAfterUnappliedDelete(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/old", time.Hour))
	eventually(t, 10*time.Second, "it sleeps", func() bool { return len(i.events(t, id)) == 5 })
	i.rest()
	i.delete(t, id)
	reply, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{
		Action: i.once(id, "/new", time.Second), AllowMissing: true,
	})
	require.NoError(t, err)
	i.work(t)
	require.Equal(t, reply.GetMeta().GetGuid(), i.arrival(t, 20*time.Second, path(id, "/new")).GUID)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 10*time.Second).GetState())
}

// P-03: Temporal's own cancellation does the same as Delete.
func TestTemporalCancel(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/old", time.Hour))
	require.NoError(t, i.client.CancelWorkflow(t.Context(), workflowv1.WorkflowID(id), ""))
	require.Equal(t, gnomonv1.Status_DELETED, i.closed(t, id, 10*time.Second).GetState())
	i.missing(t, id)
}

// P-02, faults.md F22: malformed signals change nothing and show in Status; a
// signal sent by hand does what the facade's command does.
func TestSignalsByHand(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	before := i.create(t, i.once(id, "/ok", time.Hour))
	for name, payload := range map[string]any{
		"update":  map[string]any{"spec": 1},
		"pause":   "not a command",
		"explode": nil,
		"trigger": []byte{0xff, 0x00},
	} {
		require.NoError(t, i.client.SignalWorkflow(t.Context(), workflowv1.WorkflowID(id), "", name, payload))
	}
	eventually(t, 20*time.Second, "the malformed signals show", func() bool {
		a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		return err == nil && condition(a, "CommandsAccepted").GetStatus() == gnomonv1.Condition_FALSE
	})
	a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
	require.NoError(t, err)
	require.Equal(t, before.GetMeta().GetGuid(), a.GetMeta().GetGuid())
	require.Equal(t, gnomonv1.Status_SCHEDULED, a.GetStatus().GetState())
	require.Empty(t, i.of(id))

	require.NoError(t, i.client.SignalWorkflow(t.Context(), workflowv1.WorkflowID(id), "", "trigger", map[string]any{}))
	i.arrival(t, 20*time.Second, path(id, "/ok"))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 10*time.Second).GetState())
}
