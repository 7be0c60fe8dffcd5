package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/store"
)

// RunBatches runs the suite of batches. open gives an empty store each time; the suite
// closes it. The tests run in parallel.
//
// It holds V-04, V-06, V-09, V-10, V-12 and V-14.
func RunBatches(t *testing.T, open func(t *testing.T, o Options) store.Store) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []batchTest
	}{
		{"accept", acceptTests},
		{"head", headTests},
		{"turn", turnTests},
		{"list", batchListTests},
		{"together", batchTogetherTests},
		{"lifecycle", batchLifecycleTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					c := &clock{now: epoch}
					s := open(t, Options{Now: c.Now, TombstoneTTL: ttl})
					require.NotNil(t, s)
					t.Cleanup(func() { require.NoError(t, s.Close()) })
					tt.run(t, &batchBundle{Store: s, clock: c})
				})
			}
		})
	}
}

// batchTest is one test of the suite.
type batchTest struct {
	name string
	run  func(t *testing.T, b *batchBundle)
}

// batchBundle is an empty store and its clock.
type batchBundle struct {
	store.Store
	clock *clock
}

// aBatch is one with this many changes.
func aBatch(id, uid string, changes int) *gnomonv1.Batch {
	b := &gnomonv1.Batch{
		Id: id, Uid: uid, ScheduledAt: timestamppb.New(epoch.Add(time.Hour)), CreateTime: timestamppb.New(epoch),
		Labels: map[string]string{"team": "a"}, Comment: "it's for the move",
	}
	for i := range changes {
		b.Changes = append(b.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{
			ApplyUrl: "http://localhost/apply", Body: structpb.NewNumberValue(float64(i)),
		}}})
	}
	return b
}

// accept stages and accepts a batch.
func (b *batchBundle) accept(t require.TestingT, want *gnomonv1.Batch) store.BatchRow {
	require.NoError(t, b.StageBatch(background, want, "r-1"))
	row, err := b.AcceptBatch(background, want.GetId(), want.GetUid())
	require.NoError(t, err)
	return row
}

// get reads a batch that stands.
func (b *batchBundle) get(t require.TestingT, id string) store.BatchRow {
	row, err := b.GetBatch(background, id)
	require.NoError(t, err)
	return row
}

// headOf is a head of a batch at a revision.
func headOf(b *gnomonv1.Batch, revision uint64, state gnomonv1.BatchStatus_State, round uint32) *workflowv1.BatchHead {
	return &workflowv1.BatchHead{
		Id: b.GetId(), Uid: b.GetUid(), ScheduledAt: b.GetScheduledAt(), Revision: revision,
		UpdateTime: timestamppb.New(epoch.Add(time.Duration(revision) * time.Second)),
		Status:     &gnomonv1.BatchStatus{State: state, Round: round},
	}
}

// take begins an attempt.
func (b *batchBundle) take(t require.TestingT, of *gnomonv1.Batch, fence store.Fence) store.BatchRow {
	row, err := b.TakeTurn(background, turn(of, fence))
	require.NoError(t, err)
	return row
}

func turn(of *gnomonv1.Batch, fence store.Fence) store.BatchTurn {
	return store.BatchTurn{Head: headOf(of, uint64(2*fence.Round()-1), gnomonv1.BatchStatus_PROCESSING, fence.Round()), Fence: fence, At: epoch}
}

func beginning(of *gnomonv1.Batch, index int, fence store.Fence) store.ChangeBegin {
	return store.ChangeBegin{
		ID: of.GetId(), UID: of.GetUid(), Index: index, Fence: fence, At: epoch.Add(time.Minute),
		Expires: epoch.Add(2 * time.Minute), Worker: "worker-1",
	}
}

func ending(of *gnomonv1.Batch, index int, fence store.Fence, rejection string) store.ChangeEnd {
	return store.ChangeEnd{
		ID: of.GetId(), UID: of.GetUid(), Index: index, Fence: fence, At: epoch.Add(time.Minute + time.Second), Rejection: rejection,
	}
}

// apply begins and records a change.
func (b *batchBundle) apply(t require.TestingT, of *gnomonv1.Batch, index int, fence store.Fence, rejection string) *gnomonv1.ChangeStatus {
	_, err := b.BeginChange(background, beginning(of, index, fence))
	require.NoError(t, err)
	st, err := b.RecordChange(background, ending(of, index, fence, rejection))
	require.NoError(t, err)
	return st
}

// requireProto compares messages by their fields.
func requireProto(t require.TestingT, want, got proto.Message) {
	if !proto.Equal(want, got) {
		require.Fail(t, "messages differ, wanted (-), got (+)", cmp.Diff(want, got, protocmp.Transform()))
	}
}

// accepted is how a batch reads that was just accepted.
func accepted(b *gnomonv1.Batch) *gnomonv1.Batch {
	return batch.Fresh(b, epoch)
}
