package e2e

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/faulty"
)

// faults.md F9: 64 clients create the same id at once.
func TestCreateRace(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	const clients = 64
	gate := make(chan struct{})
	got := make([]codes.Code, clients)
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			<-gate
			_, err := i.facade.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: i.once(id, "/ok", time.Hour)})
			got[n] = status.Code(err)
		})
	}
	close(gate)
	all.Wait()
	count := map[codes.Code]int{}
	for _, c := range got {
		count[c]++
	}
	require.Equal(t, map[codes.Code]int{codes.OK: 1, codes.AlreadyExists: clients - 1}, count)
}

// AIP-155: the same request_id gives the same reply, at once, after the action has
// ended and after it was changed; another spec under it is refused.
func TestRequestID(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	req := &gnomonv1.CreateActionRequest{Action: retrying(i.once(id, "/ok", time.Hour), 3), RequestId: "r-1"}
	req.Action.Meta.Labels = map[string]string{"team": "a", "tenant": "b"}
	first, err := i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err)
	same := func() {
		t.Helper()
		again, err := i.facade.CreateAction(t.Context(), req)
		require.NoError(t, err)
		require.True(t, proto.Equal(first, again), "%v\n%v", first, again)
	}
	same()
	other := proto.CloneOf(req)
	other.Action.Spec.Action.GetHttpRequest().Url = i.inbox.URL("/other")
	_, err = i.facade.CreateAction(t.Context(), other)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	other = proto.CloneOf(req)
	other.RequestId = "r-2"
	_, err = i.facade.CreateAction(t.Context(), other)
	require.Equal(t, codes.AlreadyExists, status.Code(err))

	i.update(t, i.once(id, "/ok", time.Second))
	same()
	i.closed(t, id, 20*time.Second)
	same()
	info, err := i.client.DescribeWorkflowExecution(t.Context(), workflowv1.WorkflowID(id), "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, info.GetWorkflowExecutionInfo().GetStatus(), "no second run")
}

// M-08: an id is free again once its action has ended, at once.
func TestCreateAfterEnd(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	for n := range 10 {
		a := i.create(t, i.once(id, "/ok", 0))
		i.arrival(t, 20*time.Second, guid(a.GetMeta().GetGuid()))
		eventually(t, 10*time.Second, "it shows as ended", func() bool {
			seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
			return err == nil && seen.GetStatus().GetState() == gnomonv1.Status_SUCCEEDED
		})
		require.Len(t, i.of(id), n+1)
	}
}

// faults.md F3: likewise where the tombstone of an action before stands.
func TestRequestIDAfterLostRowOverTombstone(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/ok", time.Hour))
	i.delete(t, id)
	i.closed(t, id, 10*time.Second)
	req := &gnomonv1.CreateActionRequest{Action: i.once(id, "/ok", time.Hour), RequestId: "r-1"}
	i.store.Set(faulty.Faults{Drop: 1, Only: []faulty.Method{faulty.InsertAction}})
	first, err := i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err)
	i.store.Set(faulty.Faults{})
	i.missing(t, id)
	_, err = i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err)
	seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
	require.NoError(t, err)
	require.True(t, proto.Equal(first, seen))
	i.delete(t, id)
	_, err = i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err, "the same reply as long as Temporal keeps the action")
	i.missing(t, id)
}

// Upserts: UpdateAction with allow_missing creates, changes and creates anew.
func TestUpsert(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	upsert := func(p string, in time.Duration) *gnomonv1.ScheduledAction {
		t.Helper()
		a, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: i.once(id, p, in), AllowMissing: true})
		require.NoError(t, err)
		require.Nil(t, condition(a, "Applied"))
		seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, a.GetMeta().GetGuid(), seen.GetMeta().GetGuid(), "read your writes")
		return a
	}
	_, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: i.once(id, "/ok", 0)})
	require.Equal(t, codes.NotFound, status.Code(err))
	upsert("/first", time.Hour)
	second := upsert("/second", time.Second)
	require.Equal(t, second.GetMeta().GetGuid(), i.arrival(t, 20*time.Second, path(id, "/second")).GUID)
	i.closed(t, id, 10*time.Second)
	third := upsert("/third", time.Second)
	require.Equal(t, third.GetMeta().GetGuid(), i.arrival(t, 20*time.Second, path(id, "/third")).GUID)
	i.closed(t, id, 10*time.Second)
	require.Len(t, i.of(id), 2)
}

// AIP-154: an etag that is not the current Guid is ABORTED and changes nothing.
func TestEtag(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	first := i.create(t, i.once(id, "/ok", time.Hour))
	second := i.update(t, i.once(id, "/ok", 2*time.Hour))
	for name, call := range map[string]func(etag string) error{
		"update": func(etag string) error {
			_, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: i.once(id, "/x", time.Hour), Etag: etag})
			return err
		},
		"pause": func(etag string) error {
			_, err := i.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id, Etag: etag})
			return err
		},
		"delete": func(etag string) error {
			_, err := i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id, Etag: etag})
			return err
		},
	} {
		require.Equal(t, codes.Aborted, status.Code(call(first.GetMeta().GetGuid())), name)
	}
	seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
	require.NoError(t, err)
	require.Equal(t, second.GetMeta().GetGuid(), seen.GetMeta().GetGuid())
	_, err = i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id, Etag: second.GetMeta().GetGuid()})
	require.NoError(t, err)
}

// faults.md F3: the facade was lost between Temporal's commit and its own write of
// the row: the repeated call gives the same reply and sees to the row.
func TestRequestIDAfterLostRow(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	req := &gnomonv1.CreateActionRequest{Action: i.once(id, "/ok", time.Hour), RequestId: "r-1"}
	i.store.Set(faulty.Faults{Drop: 1, Only: []faulty.Method{faulty.InsertAction}})
	first, err := i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err)
	_, err = i.store.GetAction(t.Context(), id)
	require.ErrorIs(t, err, store.ErrNotFound)
	i.store.Set(faulty.Faults{})
	again, err := i.facade.CreateAction(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(first, again))
	eventually(t, 10*time.Second, "the row is there", func() bool {
		row, err := i.store.GetAction(t.Context(), id)
		return err == nil && proto.Equal(row.Action, first)
	})
}

// AIP-155, faults.md F4: a deletion that is repeated with its request_id after the
// id was used anew answers as it did, and does not delete the new action.
func TestRepeatedDelete(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/ok", time.Hour))
	req := &gnomonv1.DeleteActionRequest{Id: id, RequestId: "r-1"}
	_, err := i.facade.DeleteAction(t.Context(), req)
	require.NoError(t, err)
	again := func() {
		t.Helper()
		reply, err := i.facade.DeleteAction(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Status_DELETED, reply.GetStatus().GetState())
	}
	again()
	i.create(t, i.once(id, "/ok", time.Hour))
	again()
	i.update(t, i.once(id, "/ok", 2*time.Hour))
	again()
	_, err = i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
	require.NoError(t, err, "the new action lives")
	_, err = i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id, RequestId: "r-2"})
	require.NoError(t, err)
	i.missing(t, id)
}

// AIP-155: an update under a used request_id gives the same reply, and is refused
// where it asks for something else.
func TestRepeatedUpdate(t *testing.T) {
	t.Parallel()
	for _, allowMissing := range []bool{false, true} {
		i := install(t)
		id := i.id("a")
		i.create(t, i.once(id, "/ok", time.Hour))
		req := &gnomonv1.UpdateActionRequest{Action: i.once(id, "/new", 2*time.Hour), RequestId: "r-1", AllowMissing: allowMissing}
		first, err := i.facade.UpdateAction(t.Context(), req)
		require.NoError(t, err)
		again, err := i.facade.UpdateAction(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, first.GetMeta().GetGuid(), again.GetMeta().GetGuid())
		other := proto.CloneOf(req)
		other.Action.Spec.Action.GetHttpRequest().Url = i.inbox.URL("/other")
		_, err = i.facade.UpdateAction(t.Context(), other)
		require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
		seen, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
		require.NoError(t, err)
		require.Equal(t, i.inbox.URL("/new"), seen.GetSpec().GetAction().GetHttpRequest().GetUrl())
	}
}
