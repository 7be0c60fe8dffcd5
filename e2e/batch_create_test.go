package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/faulty"
)

// nothingOf holds that neither the store, what is staged in it included, nor Temporal has
// anything of a batch. It is for installations that stage nothing else.
func (b *bureau) nothingOf(t *testing.T, id string) {
	t.Helper()
	_, err := b.store.GetBatch(t.Context(), id)
	require.ErrorIs(t, err, store.ErrNotFound)
	staged, err := b.store.PurgeStaged(t.Context(), time.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	require.Zero(t, staged, "something is staged")
	_, err = b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
	var missing *serviceerror.NotFound
	require.ErrorAs(t, err, &missing)
	_, err = b.calls.GetBatch(t.Context(), &gnomonv1.GetBatchRequest{Id: id})
	require.Equal(t, codes.NotFound, status.Code(err))
}

// problemsOf are those in the details of a refusal.
func problemsOf(err error) []*gnomonv1.Problem {
	for _, d := range status.Convert(err).Details() {
		if found, ok := d.(*gnomonv1.BatchProblems); ok {
			return found.GetProblems()
		}
	}
	return nil
}

// V-03: any problem, hard or soft, of any change refuses the batch, all are named at
// once, and nothing is stored. validate_only says the same, and stores nothing either
// where all is well.
func TestBatchRefused(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	wanted := b.of(id, 4, time.Hour)
	b.other.set(func() {
		b.other.hard[place(id, 0)], b.other.soft[place(id, 0)] = "GONE", "FRIDAY"
		b.other.soft[place(id, 3)] = "FRIDAY"
	})
	for _, only := range []bool{false, true} {
		_, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted, ValidateOnly: only})
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		var got []string
		for _, p := range problemsOf(err) {
			got = append(got, fmt.Sprintf("%d %s %s", p.GetChangeIndex(), p.GetSeverity(), p.GetCode()))
		}
		require.Equal(t, []string{"0 HARD GONE", "0 SOFT FRIDAY", "3 SOFT FRIDAY"}, got)
		b.nothingOf(t, id)
	}
	b.other.set(func() { delete(b.other.hard, place(id, 0)); delete(b.other.soft, place(id, 0)) })
	_, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted})
	require.Equal(t, codes.InvalidArgument, status.Code(err), "a soft problem alone refuses")
	b.nothingOf(t, id)

	b.other.set(func() { delete(b.other.soft, place(id, 3)) })
	dry, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted, ValidateOnly: true})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_PENDING, dry.GetStatus().GetState())
	require.Empty(t, dry.GetUid())
	b.nothingOf(t, id)
	require.Empty(t, b.other.of(id), "nothing is applied")

	b.submit(t, wanted)
	_, err = b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted})
	require.Equal(t, codes.AlreadyExists, status.Code(err))
}

// V-03, V-20: what needs no world to be refused is refused by its field, a time in the
// past included; what cannot be validated is not accepted.
func TestBatchBadRequests(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	for name, c := range map[string]struct {
		change func(*gnomonv1.Batch)
		field  string
	}{
		"past":       {func(w *gnomonv1.Batch) { w.ScheduledAt = stamp(time.Now().Add(-time.Second)) }, "batch.scheduled_at"},
		"no time":    {func(w *gnomonv1.Batch) { w.ScheduledAt = nil }, "batch.scheduled_at"},
		"no changes": {func(w *gnomonv1.Batch) { w.Changes = nil }, "batch.changes"},
		"1,001":      {func(w *gnomonv1.Batch) { w.Changes = b.of(id, 1001, time.Hour).GetChanges() }, "batch.changes"},
		"no case":    {func(w *gnomonv1.Batch) { w.Changes[1].Change = nil }, "batch.changes[1]"},
		"bad url":    {func(w *gnomonv1.Batch) { w.GetChanges()[1].GetHttpChange().ApplyUrl = "nowhere" }, "batch.changes[1].http_change.apply_url"},
	} {
		wanted := b.of(id, 2, time.Hour)
		c.change(wanted)
		_, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted})
		require.Equal(t, codes.InvalidArgument, status.Code(err), name)
		require.Contains(t, status.Convert(err).Message(), c.field, name)
		b.nothingOf(t, id)
	}
	down := b.of(id, 1, time.Hour)
	down.GetChanges()[0].GetHttpChange().ValidateUrl = "http://127.0.0.1:1/validate"
	_, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: down})
	require.Equal(t, codes.Unavailable, status.Code(err))
	b.nothingOf(t, id)
}

// V-04: a facade that is lost between the start of the workflow and its own word to the
// store leaves a batch all the same; the same call gives the same batch.
func TestBatchAcceptedByItsWorkflow(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	req := &gnomonv1.CreateBatchRequest{Batch: b.of(id, 2, 3*time.Second), RequestId: "r-1"}
	b.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.AcceptBatch}})
	_, err := b.calls.CreateBatch(t.Context(), req)
	require.Equal(t, codes.Unavailable, status.Code(err))
	b.store.Set(faulty.Faults{})
	b.accepted(t, id)
	again, err := b.calls.CreateBatch(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, id, again.GetId())
	other := proto.CloneOf(req)
	other.Batch.Comment = "another"
	_, err = b.calls.CreateBatch(t.Context(), other)
	require.Equal(t, codes.InvalidArgument, status.Code(err), "the same request_id for something else")
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
	require.Len(t, b.other.of(id), 2)
	late, err := b.calls.CreateBatch(t.Context(), req)
	require.NoError(t, err, "also after its time")
	require.Equal(t, again.GetUid(), late.GetUid())
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, late.GetStatus().GetState())
}

// accepted waits until the workflow has accepted a batch.
func (b *bureau) accepted(t *testing.T, id string) {
	t.Helper()
	eventually(t, startWithin, "the workflow accepts it", func() bool {
		_, err := b.store.GetBatchHead(t.Context(), id)
		return err == nil
	})
}

// The REST paths and names of issue 5.
func TestBatchOverREST(t *testing.T) {
	t.Parallel()
	b := openBureau(t, nil)
	id := b.id("a")
	body := fmt.Sprintf(`{"id":%q,"scheduledAt":%q,"changes":[{"httpChange":{"validateUrl":%q,"applyUrl":%q,"body":{"n":1}}}]}`,
		id, time.Now().Add(2*time.Second).UTC().Format(time.RFC3339Nano), b.other.URL+"/validate/"+place(id, 0), b.other.URL+"/apply/"+place(id, 0))
	b.other.set(func() { b.other.soft[place(id, 0)] = "FRIDAY" })
	code, text := b.post(t, "/v1/batches", body)
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, text, "FRIDAY")
	b.other.set(func() { delete(b.other.soft, place(id, 0)) })
	code, text = b.post(t, "/v1/batches?validateOnly=true", body)
	require.Equal(t, http.StatusOK, code, text)
	b.nothingOf(t, id)
	code, text = b.post(t, "/v1/batches", body)
	require.Equal(t, http.StatusOK, code, text)
	require.Contains(t, text, `"state":"PENDING"`)
	require.Equal(t, gnomonv1.BatchStatus_COMPLETE, b.ends(t, id).GetState())
	require.Equal(t, id, b.get(t, id).GetId())
}
