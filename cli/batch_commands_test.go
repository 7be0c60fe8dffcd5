package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// V-18, V-20
func TestBatchCommandsSendWhatFlagsSay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args   []string
		state  gnomonv1.BatchStatus_State
		want   proto.Message
		stdout string
	}{
		{
			args: []string{"cancel", "release", "--comment", "why", "--etag", "e", "--request-id", "r"}, state: gnomonv1.BatchStatus_PENDING,
			want:   &gnomonv1.CancelBatchRequest{Id: "release", Comment: "why", Etag: "e", RequestId: "r"},
			stdout: "cancelled release: CANCELLED, 2 changes\n",
		},
		{
			args: []string{"reschedule", "release", "--at", "2026-11-20T12:00:00Z", "--comment", "why", "--etag", "e", "--request-id", "r"}, state: gnomonv1.BatchStatus_PENDING,
			want:   parse(t, &gnomonv1.RescheduleBatchRequest{}, `{"id": "release", "scheduledAt": "2026-11-20T12:00:00Z", "comment": "why", "etag": "e", "requestId": "r"}`),
			stdout: "rescheduled release: PENDING, 2 changes, due in 2h, 2026-11-20 13:00:00 CET\n",
		},
		{
			args: []string{"review", "release", "retry", "--comment", "why", "--etag", "e", "--request-id", "r"}, state: gnomonv1.BatchStatus_MANUAL_REVIEW,
			want:   parse(t, &gnomonv1.ReviewBatchRequest{}, `{"id": "release", "decision": "RETRY", "comment": "why", "etag": "e", "requestId": "r"}`),
			stdout: "retried release: PROCESSING, 2 changes\n",
		},
		{
			args: []string{"review", "release", "reschedule", "--in", "2h"}, state: gnomonv1.BatchStatus_MANUAL_REVIEW,
			want:   parse(t, &gnomonv1.ReviewBatchRequest{}, `{"id": "release", "decision": "RESCHEDULE", "scheduledAt": "2026-11-20T12:00:00Z"}`),
			stdout: "rescheduled release: PENDING, 2 changes, due in 2h, 2026-11-20 13:00:00 CET\n",
		},
		{
			args: []string{"review", "release", "cancel"}, state: gnomonv1.BatchStatus_MANUAL_REVIEW,
			want:   parse(t, &gnomonv1.ReviewBatchRequest{}, `{"id": "release", "decision": "CANCEL"}`),
			stdout: "cancelled release: CANCELLED, 2 changes\n",
		},
	} {
		fake := startFake(t)
		fake.batches.put(release(t, tc.state))
		got := fake.run(t, append([]string{"batch"}, tc.args...)...).ok(t)
		require.Equal(t, tc.stdout, got.stdout)
		require.Empty(t, got.stderr)
		require.Len(t, fake.batches.requests, 1)
		requireProto(t, tc.want, fake.batches.requests[0])
	}
}

// V-20: a refusal names the state, and a command that waits for a worker warns.
func TestBatchCommandsThatAreRefusedOrWait(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	st, err := status.New(codes.FailedPrecondition, `this call is refused while batch "release" is COMPLETE`).WithDetails(
		&errdetails.ErrorInfo{Reason: "BATCH_STATE", Domain: "gnomon", Metadata: map[string]string{"state": "COMPLETE"}})
	require.NoError(t, err)
	fake.batches.refuse = func(proto.Message) error { return st.Err() }
	got := fake.run(t, "batch", "cancel", "release")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: FAILED_PRECONDITION: this call is refused while batch \"release\" is COMPLETE (BATCH_STATE)\n", got.stderr)

	fake.batches.refuse = func(proto.Message) error { return status.Error(codes.Aborted, "changed") }
	got = fake.run(t, "batch", "cancel", "release")
	require.Contains(t, got.stderr, "hint: the batch has changed meanwhile; look at it with 'gnomon batch get' and try again\n")

	fake.batches.refuse = nil
	fake.batches.put(release(t, gnomonv1.BatchStatus_PENDING))
	fake.batches.conditions = []*gnomonv1.Condition{{Type: "Applied", Status: gnomonv1.Condition_FALSE, Reason: "NO_WORKER", Message: "no worker answered"}}
	got = fake.run(t, "batch", "reschedule", "release", "--in", "2h").ok(t)
	require.Equal(t, "warning: release: Applied=FALSE (NO_WORKER): no worker answered\n", got.stderr)
}

func TestBatchGetIsAPage(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	b := release(t, gnomonv1.BatchStatus_MANUAL_REVIEW)
	b.Status.LastDecision = &gnomonv1.BatchDecision{Decision: "retry", Comment: "mended", Time: b.GetCreateTime()}
	fake.batches.put(b)
	got := fake.run(t, "batch", "get", "release").ok(t)
	require.Equal(t, `release
  State      MANUAL_REVIEW
  Message    it is no longer valid
  Due        in 1h, 2026-11-20 12:00:00 CET (2026-11-20T11:00:00Z)
  Changes    0 complete, 0 failed, 2 pending
  Round      1, begun 1 time
  Decision   retry now: mended
  Comment    ticket 7
  Label      team=a
  Uid        uid-1
  Etag       uid-1-0
  Created    now, 2026-11-20 11:00:00 CET
Problems
CHANGE  KIND  CODE           FIELD            MESSAGE
0       HARD  RECORD_EXISTS  dns_record.name  www.example.org. A exists
1       SOFT  FRIDAY                          it is Friday
Changes
#  STATE    ATTEMPTS  CHANGE                                       ERROR
0  PENDING  0         ADD www.example.org. A 192.0.2.1, 192.0.2.2
1  PENDING  0         POST http://127.0.0.1:7790/apply
`, got.stdout)

	asJSON := fake.run(t, "batch", "get", "release", "-o", "json").ok(t).stdout
	requireProto(t, b, parseBatch(t, asJSON))
}

func TestBatchList(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "no batches\n", fake.run(t, "batch", "list").ok(t).stdout)
	for i, state := range []gnomonv1.BatchStatus_State{gnomonv1.BatchStatus_PENDING, gnomonv1.BatchStatus_MANUAL_REVIEW, gnomonv1.BatchStatus_COMPLETE} {
		b := release(t, state)
		b.Id = []string{"a", "b", "c"}[i]
		b.Status.FinishTime = b.GetCreateTime()
		fake.batches.put(b)
	}
	got := fake.run(t, "batch", "list", "--filter", `id = "*"`, "--order-by", "id").ok(t)
	require.Equal(t, `ID  STATE          DUE                                 DONE/FAIL/LEFT  MESSAGE
a   PENDING        in 1h, 2026-11-20 12:00:00 CET      0/0/2           ticket 7
b   MANUAL_REVIEW  in 1h, 2026-11-20 12:00:00 CET      0/0/2           it is no longer valid; ticket 7
c   COMPLETE       ended now, 2026-11-20 11:00:00 CET  2/0/0           ticket 7
`, got.stdout)
	requests := batchRequests[*gnomonv1.ListBatchesRequest](fake)
	requireProto(t, &gnomonv1.ListBatchesRequest{Filter: `id = "*"`, OrderBy: "id"}, requests[len(requests)-1])

	got = fake.run(t, "batch", "list", "--limit", "2", "--page-size", "1").ok(t)
	require.Contains(t, got.stdout, "\nb ")
	require.NotContains(t, got.stdout, "\nc ")
	require.Contains(t, got.stderr, "note: there are more; go on with --page-token 2")
	reply := parse(t, &gnomonv1.ListBatchesResponse{}, fake.run(t, "batch", "list", "-o", "json", "--page-token", "2").ok(t).stdout)
	require.Len(t, reply.GetBatches(), 1)
}

func TestBatchCompletion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.batches.put(release(t, gnomonv1.BatchStatus_MANUAL_REVIEW))
	require.Contains(t, fake.run(t, "__complete", "batch", "get", "re").ok(t).stdout, "release\tMANUAL_REVIEW\n")
	require.Equal(t, `id = "re*"`, batchRequests[*gnomonv1.ListBatchesRequest](fake)[0].GetFilter())
	require.Contains(t, fake.run(t, "__complete", "batch", "review", "re").ok(t).stdout, "release\t")
	require.Equal(t, `id = "re*" AND state = "MANUAL_REVIEW"`, batchRequests[*gnomonv1.ListBatchesRequest](fake)[1].GetFilter())
	got := fake.run(t, "__complete", "batch", "review", "release", "re").ok(t).stdout
	require.Contains(t, got, "retry\tvalidate what is not finished")
	require.Contains(t, got, "reschedule\t")
	require.NotContains(t, got, "cancel")
	require.NotContains(t, fake.run(t, "__complete", "batch", "review", "release", "retry", "").ok(t).stdout, "release")
	require.NotContains(t, fake.run(t, "__complete", "batch", "get", "release", "").ok(t).stdout, "release")

	got = invocation{address: "127.0.0.1:1"}.run(t.Context(), "__complete", "batch", "get", "").ok(t).stdout
	require.NotContains(t, got, "release")
}
