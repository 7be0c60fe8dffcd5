package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
)

func path(id, p string) func(receiver.Arrival) bool {
	return func(a receiver.Arrival) bool { return a.ActionID == id && a.Path == p }
}

func (i *installation) update(t *testing.T, a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	t.Helper()
	reply, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: a})
	require.NoError(t, err)
	return reply
}

// after are the arrivals at a path after a moment.
func (i *installation) after(id, p string, at time.Time) int {
	n := 0
	for _, a := range i.of(id) {
		if a.Path == p && a.Time.After(at) {
			n++
		}
	}
	return n
}

// M-07, M-42: an update during the sleep.
func TestUpdateDuringSleep(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	old := i.create(t, i.once(id, "/old", 2*time.Second))
	now := i.update(t, i.once(id, "/new", 3*time.Second))
	require.NotEqual(t, old.GetMeta().GetGuid(), now.GetMeta().GetGuid())
	require.Equal(t, old.GetMeta().GetCreateTime().AsTime(), now.GetMeta().GetCreateTime().AsTime())
	a := i.arrival(t, 20*time.Second, path(id, "/new"))
	require.Equal(t, now.GetMeta().GetGuid(), a.GUID)
	i.closed(t, id, 10*time.Second)
	require.Len(t, i.of(id), 1)
}

// M-43: an update during a retry wait; the retry of the old spec never begins.
func TestUpdateDuringRetryWait(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, retrying(i.once(id, "/status/503", time.Second), 8))
	i.arrival(t, 20*time.Second, path(id, "/status/503"))
	eventually(t, 10*time.Second, "it waits for its retry", func() bool {
		a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		return err == nil && a.GetStatus().GetState() == gnomonv1.Status_RETRYING
	})
	now := i.update(t, i.once(id, "/new", 4*time.Second))
	acknowledged := time.Now()
	require.Zero(t, now.GetStatus().GetFailedAttemptsCounter(), "Status starts afresh (M-42)")
	i.arrival(t, 20*time.Second, path(id, "/new"))
	st := i.closed(t, id, 10*time.Second)
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	require.Zero(t, st.GetFailedAttemptsCounter())
	require.Zero(t, i.after(id, "/status/503", acknowledged))
}

// M-43: an update during an attempt, whose late report changes nothing.
func TestUpdateDuringAttempt(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, retrying(i.once(id, "/block", time.Second), 8))
	i.arrival(t, 20*time.Second, path(id, "/block"))
	now := i.update(t, i.once(id, "/new", time.Second))
	acknowledged := time.Now()
	fresh, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Status_SCHEDULED, fresh.GetStatus().GetState(), "the old spec's attempt is not this one's")
	i.arrival(t, 20*time.Second, path(id, "/new"))
	i.inbox.Release()
	st := i.closed(t, id, 10*time.Second)
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	require.Zero(t, i.after(id, "/block", acknowledged))
	a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, now.GetMeta().GetGuid(), a.GetMeta().GetGuid())
	require.Equal(t, gnomonv1.Status_SUCCEEDED, a.GetStatus().GetState())
}

// faults.md (6): without workers the update is left, says Applied=FALSE, and comes
// before any attempt; also when the retry of the old spec already waited in the
// queue as the workers came back.
func TestUpdateWithoutWorkers(t *testing.T) {
	t.Parallel()
	i := install(t)
	asleep, retry := i.id("asleep"), i.id("retry")
	i.create(t, i.once(asleep, "/old", 4*time.Second))
	i.create(t, retrying(i.once(retry, "/status/503", time.Second), 8))
	i.arrival(t, 20*time.Second, path(retry, "/status/503"))
	eventually(t, 10*time.Second, "it waits for its retry", func() bool {
		a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: retry})
		return err == nil && a.GetStatus().GetState() == gnomonv1.Status_RETRYING
	})
	i.rest()
	guids := map[string]string{}
	for _, id := range []string{asleep, retry} {
		reply := i.update(t, i.once(id, "/new", time.Second))
		require.Equal(t, gnomonv1.Condition_FALSE, condition(reply, "Applied").GetStatus())
		require.Equal(t, gnomonv1.Status_SCHEDULED, reply.GetStatus().GetState())
		guids[id] = reply.GetMeta().GetGuid()
		require.NotEmpty(t, guids[id])
	}
	acknowledged := time.Now()
	// Both are due by now: the sleeper's timer and the retry's, which waits in the
	// queue.
	eventually(t, 20*time.Second, "the old spec is overdue", func() bool { return time.Since(acknowledged) > 3*time.Second })
	i.work(t)
	for id, guid := range guids {
		a := i.arrival(t, 20*time.Second, path(id, "/new"))
		require.Equal(t, guid, a.GUID)
		i.closed(t, id, 10*time.Second)
	}
	require.Zero(t, i.after(asleep, "/old", acknowledged))
	require.Zero(t, i.after(retry, "/status/503", acknowledged))
}

func condition(a *gnomonv1.ScheduledAction, kind string) *gnomonv1.Condition {
	for _, c := range a.GetStatus().GetConditions() {
		if c.GetType() == kind {
			return c
		}
	}
	return nil
}

// New labels alone, while a retry waits: the attempts go on as if nothing had been.
func TestUpdateLabelsAlone(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	old := i.create(t, retrying(i.once(id, "/fail-first/2", time.Second), 8))
	i.arrival(t, 20*time.Second, path(id, "/fail-first/2"))
	reply, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{
		Action:     &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id, Labels: map[string]string{"team": "b"}}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"meta.labels"}},
	})
	require.NoError(t, err)
	require.NotEqual(t, old.GetMeta().GetGuid(), reply.GetMeta().GetGuid())
	st := i.closed(t, id, 30*time.Second)
	require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetSuccessfulAttemptsCounter())
	arrivals := i.of(id)
	require.Len(t, arrivals, 3)
	require.Equal(t, arrivals[0].IdempotencyKey, arrivals[2].IdempotencyKey)
	row, err := i.store.GetAction(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "b"}, row.Action.GetMeta().GetLabels())
	require.Equal(t, gnomonv1.Status_SUCCEEDED, row.Action.GetStatus().GetState())
	require.Equal(t, reply.GetMeta().GetGuid(), row.Action.GetMeta().GetGuid())
}
