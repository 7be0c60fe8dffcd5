package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
)

// fakeBatches is a BatchService in memory that remembers what it was asked.
type fakeBatches struct {
	gnomonv1.UnimplementedBatchServiceServer

	mu       sync.Mutex
	batches  map[string]*gnomonv1.Batch
	requests []proto.Message
	// refuse, if set, may answer any request with an error.
	refuse func(proto.Message) error
	// conditions are put into the replies to commands.
	conditions []*gnomonv1.Condition
	// changes is what WatchBatch sends; it ends when the channel is closed.
	changes chan *gnomonv1.Batch
}

func newFakeBatches() *fakeBatches {
	return &fakeBatches{batches: map[string]*gnomonv1.Batch{}, changes: make(chan *gnomonv1.Batch, 16)}
}

// batchRequests are the requests of type M, in their order.
func batchRequests[M proto.Message](f *fakeServer) []M {
	f.batches.mu.Lock()
	defer f.batches.mu.Unlock()
	var found []M
	for _, request := range f.batches.requests {
		if request, ok := request.(M); ok {
			found = append(found, request)
		}
	}
	return found
}

func (f *fakeBatches) put(all ...*gnomonv1.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range all {
		f.batches[b.GetId()] = b
	}
}

func (f *fakeBatches) accept(request proto.Message) error {
	f.requests = append(f.requests, proto.Clone(request))
	if f.refuse != nil {
		return f.refuse(request)
	}
	return nil
}

func (f *fakeBatches) CreateBatch(_ context.Context, r *gnomonv1.CreateBatchRequest) (*gnomonv1.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	fresh := batch.Fresh(r.GetBatch(), testNow)
	if !r.GetValidateOnly() {
		f.batches[fresh.GetId()] = fresh
	}
	return fresh, nil
}

func (f *fakeBatches) GetBatch(_ context.Context, r *gnomonv1.GetBatchRequest) (*gnomonv1.Batch, error) {
	return f.command(r, func(*gnomonv1.Batch) {})
}

func (f *fakeBatches) ListBatches(_ context.Context, r *gnomonv1.ListBatchesRequest) (*gnomonv1.ListBatchesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(r.GetPageToken())
	size := int(cmp.Or(r.GetPageSize(), 50))
	ids := slices.Sorted(maps.Keys(f.batches))[from:]
	reply := &gnomonv1.ListBatchesResponse{}
	if len(ids) > size {
		ids = ids[:size]
		reply.NextPageToken = strconv.Itoa(from + size)
	}
	for _, id := range ids {
		b := proto.CloneOf(f.batches[id])
		b.Changes = nil
		reply.Batches = append(reply.Batches, b)
	}
	return reply, nil
}

// command answers with the batch after a change.
func (f *fakeBatches) command(r interface {
	proto.Message
	GetId() string
}, change func(*gnomonv1.Batch),
) (*gnomonv1.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	b := f.batches[r.GetId()]
	if b == nil {
		return nil, status.Errorf(codes.NotFound, "no batch %q", r.GetId())
	}
	change(b)
	reply := proto.CloneOf(b)
	if len(f.conditions) > 0 {
		reply.Status.Conditions = f.conditions
	}
	return reply, nil
}

func (f *fakeBatches) CancelBatch(_ context.Context, r *gnomonv1.CancelBatchRequest) (*gnomonv1.Batch, error) {
	return f.command(r, func(b *gnomonv1.Batch) { b.Status.State = gnomonv1.BatchStatus_CANCELLED })
}

func (f *fakeBatches) RescheduleBatch(_ context.Context, r *gnomonv1.RescheduleBatchRequest) (*gnomonv1.Batch, error) {
	return f.command(r, func(b *gnomonv1.Batch) { b.ScheduledAt = r.GetScheduledAt() })
}

func (f *fakeBatches) ReviewBatch(_ context.Context, r *gnomonv1.ReviewBatchRequest) (*gnomonv1.Batch, error) {
	return f.command(r, func(b *gnomonv1.Batch) {
		switch r.GetDecision() {
		case gnomonv1.ReviewBatchRequest_CANCEL:
			b.Status.State = gnomonv1.BatchStatus_CANCELLED
		case gnomonv1.ReviewBatchRequest_RESCHEDULE:
			b.Status.State, b.ScheduledAt = gnomonv1.BatchStatus_PENDING, r.GetScheduledAt()
		default:
			b.Status.State = gnomonv1.BatchStatus_PROCESSING
		}
	})
}

func (f *fakeBatches) WatchBatch(r *gnomonv1.WatchBatchRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchBatchResponse]) error {
	f.mu.Lock()
	err := f.accept(r)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return relay(stream.Context(), f.changes, func(b *gnomonv1.Batch) error {
		return stream.Send(&gnomonv1.WatchBatchResponse{Batch: b})
	})
}

// release is a batch of two changes in a state: the first is finished where the state
// allows it.
func release(t *testing.T, state gnomonv1.BatchStatus_State) *gnomonv1.Batch {
	t.Helper()
	b := batch.Fresh(parse(t, &gnomonv1.Batch{}, `{
		"id": "release", "uid": "uid-1", "scheduledAt": "2026-11-20T11:00:00Z", "comment": "ticket 7", "labels": {"team": "a"},
		"changes": [
			{"dnsRecord": {"action": "ADD", "name": "www.example.org.", "type": "A", "data": ["192.0.2.1", "192.0.2.2"], "ttl": 300}},
			{"httpChange": {"applyUrl": "http://127.0.0.1:7790/apply", "body": {"order": 7}}}]}`), testNow.Add(-1))
	b.CreateTime, b.UpdateTime = timestamppb.New(testNow), timestamppb.New(testNow)
	b.Status.State = state
	first, second := b.GetChanges()[0].GetStatus(), b.GetChanges()[1].GetStatus()
	switch state {
	case gnomonv1.BatchStatus_PROCESSING:
		b.Status.PendingChanges, b.Status.CompleteChanges, b.Status.Round = 1, 1, 1
		first.State, first.Attempts = gnomonv1.ChangeStatus_COMPLETE, 1
	case gnomonv1.BatchStatus_COMPLETE:
		b.Status.PendingChanges, b.Status.CompleteChanges, b.Status.Round = 0, 2, 1
		first.State, second.State = gnomonv1.ChangeStatus_COMPLETE, gnomonv1.ChangeStatus_COMPLETE
	case gnomonv1.BatchStatus_PARTIAL_FAILURE:
		b.Status.PendingChanges, b.Status.CompleteChanges, b.Status.FailedChanges, b.Status.Round = 0, 1, 1, 1
		first.State, second.State = gnomonv1.ChangeStatus_COMPLETE, gnomonv1.ChangeStatus_FAILED
		second.Attempts, second.Error = 1, "status 409 Conflict: already \x1b[31mshipped"
	case gnomonv1.BatchStatus_MANUAL_REVIEW:
		b.Status.Message, b.Status.Round, b.Status.Attempts = "it is no longer valid", 1, 1
		b.Status.Problems = twoProblems()
	default:
	}
	return b
}

func twoProblems() []*gnomonv1.Problem {
	return []*gnomonv1.Problem{
		{ChangeIndex: proto.Int32(0), Severity: gnomonv1.Problem_HARD, Code: "RECORD_EXISTS", Field: "dns_record.name", Message: "www.example.org. A exists"},
		{ChangeIndex: proto.Int32(1), Severity: gnomonv1.Problem_SOFT, Code: "FRIDAY", Message: "it is Friday"},
	}
}

// refusingBatches is a fake that refuses every request about batches for these problems.
func refusingBatches(t *testing.T, total string, problems []*gnomonv1.Problem, more ...protoadapt.MessageV1) *fakeServer {
	t.Helper()
	st, err := status.New(codes.InvalidArgument, "many things").WithDetails(append([]protoadapt.MessageV1{
		&errdetails.ErrorInfo{Reason: "RECORD_EXISTS", Domain: "gnomon", Metadata: map[string]string{"problems": total}},
		protoadapt.MessageV1Of(&gnomonv1.BatchProblems{Problems: problems}),
	}, more...)...)
	require.NoError(t, err)
	fake := startFake(t)
	fake.batches.refuse = func(proto.Message) error { return st.Err() }
	return fake
}
