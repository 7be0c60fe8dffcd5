package ydb_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/storetest"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// Every statement of batches, by what only it says. Those that write are the last of
// their transactions and commit.
const (
	isBatch       = "FROM batches WHERE id_hash"
	isStaged      = "FROM staged_batches WHERE uid = $uid"
	isChange      = "change_index = $change_index"
	isChanges     = "ORDER BY change_index"
	isOldStaged   = "staged_batches_by_staged_at"
	isBatchList   = "JOIN batches"
	isStaging     = "UPSERT INTO staged_batches"
	isAccepting   = "DELETE FROM staged_batches"
	isHead        = "UPSERT INTO batches"
	isChangeWrite = "UPSERT INTO batch_changes"
)

// liveBatch leads a batch through every call; try makes each, whose statement says mark.
func liveBatch(t *testing.T, s *ydb.Store, try func(mark string, call func() error)) {
	t.Helper()
	b := &gnomonv1.Batch{
		Id: "batch", Uid: "uid", ScheduledAt: timestamppb.Now(), CreateTime: timestamppb.Now(),
		Changes: []*gnomonv1.Change{{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{}}}},
	}
	head := func(revision uint64, state gnomonv1.BatchStatus_State) *workflowv1.BatchHead {
		return &workflowv1.BatchHead{
			Id: b.GetId(), Uid: b.GetUid(), ScheduledAt: b.GetScheduledAt(), Revision: revision,
			Status: &gnomonv1.BatchStatus{State: state, Round: 1},
		}
	}
	fence := store.FenceOf(1, 1)
	stage := func() error { return s.StageBatch(t.Context(), b, "") }
	accept := func() error {
		_, err := s.AcceptBatch(t.Context(), b.GetId(), b.GetUid())
		return err
	}
	get := func() error {
		row, err := s.GetBatch(t.Context(), b.GetId())
		require.Len(t, row.Batch.GetChanges(), 1)
		return err
	}
	begin := func() error {
		st, err := s.BeginChange(t.Context(), store.ChangeBegin{ID: b.GetId(), UID: b.GetUid(), Fence: fence, At: time.Unix(1, 0), Expires: time.Unix(2, 0)})
		require.EqualValues(t, 1, st.GetAttempts())
		return err
	}
	record := func() error {
		st, err := s.RecordChange(t.Context(), store.ChangeEnd{ID: b.GetId(), UID: b.GetUid(), Fence: fence})
		require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, st.GetState())
		return err
	}
	take := func() error {
		_, err := s.TakeTurn(t.Context(), store.BatchTurn{Head: head(1, gnomonv1.BatchStatus_PROCESSING), Fence: fence, At: time.Unix(1, 0)})
		return err
	}
	put := func(revision uint64) func() error {
		return func() error {
			row, err := s.PutBatch(t.Context(), store.BatchWrite{Head: head(revision, gnomonv1.BatchStatus_COMPLETE), Fence: fence})
			require.Equal(t, revision, row.Revision)
			require.EqualValues(t, 1, row.Batch.GetStatus().GetCompleteChanges())
			return err
		}
	}
	purge := func(before time.Time) func() error {
		return func() error {
			_, err := s.PurgeStaged(t.Context(), before, 10)
			return err
		}
	}
	try(isChange, stage)
	try(isStaging, func() error {
		b.Uid = "purged"
		return stage()
	})
	b.Uid = "uid"
	require.NoError(t, stage())
	try(isStaged, func() error {
		_, err := s.AcceptBatch(t.Context(), "other", b.GetUid())
		require.ErrorIs(t, err, store.ErrNotFound)
		return nil
	})
	try(isAccepting, accept)
	try(isBatch, accept)
	try(isBatch, get)
	try(isChanges, get)
	try(isHead, take)
	try(isChange, begin)
	try(isChangeWrite, begin)
	try(isChange, record)
	try(isHead, record)
	try(isBatch, put(2))
	try(isHead, put(3))
	try(isBatchList, func() error {
		rows, err := s.ListBatches(t.Context(), store.BatchQuery{Limit: 10})
		require.Len(t, rows, 1)
		return err
	})
	try(isOldStaged, purge(time.Unix(1, 0)))
	try(isAccepting, purge(time.Now().Add(time.Hour)))
	_, err := s.AcceptBatch(t.Context(), b.GetId(), "purged")
	require.ErrorIs(t, err, store.ErrBatchExists)
}

// Issue 4, 5: each retryable fault at each statement of batches, those that commit
// included. The call does what it says, once, as if nothing had happened.
func TestEachFaultAtEachStatementOfBatches(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fault.slow && testing.Short() {
				t.Skip("the SDK waits seconds")
			}
			server := start(t, ydbdouble.Options{})
			s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 30 * time.Second})
			liveBatch(t, s, func(mark string, call func() error) {
				executions := once(server, mark, fault.Fault)
				require.NoError(t, call(), mark)
				if !fault.Committed { // otherwise the repetition may find nothing left to write
					require.GreaterOrEqual(t, executions.Load(), int64(2), mark)
				}
				server.Inject(nil)
			})
		})
	}
}

// The whole suite while every fifth statement of batches fails, in turn in each way that
// does not take the SDK seconds.
func TestBatchesAmidFaults(t *testing.T) {
	t.Parallel()
	server := start(t, ydbdouble.Options{})
	var quick []ydbdouble.Fault
	for _, fault := range faults {
		if !fault.slow {
			quick = append(quick, fault.Fault)
		}
	}
	var suffered atomic.Int64
	storetest.RunBatches(t, func(t *testing.T, o storetest.Options) store.Store {
		t.Helper()
		c := ydb.Config{
			ConnectionString: server.ConnectionString(directory()), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Timeout: 60 * time.Second,
		}
		server.Inject(func(e ydbdouble.Execution) ydbdouble.Fault {
			fault := quick[e.Number/5%uint64(len(quick))]
			ours := strings.Contains(e.Text, "batches") || strings.Contains(e.Text, "batch_changes")
			lostPurge := fault.Committed && strings.Contains(e.Text, isAccepting) && strings.Contains(e.Text, "DELETE FROM batch_changes")
			if e.Number%5 > 0 || !ours || strings.Contains(e.Text, "CREATE TABLE") || lostPurge {
				return ydbdouble.Fault{}
			}
			suffered.Add(1)
			return fault
		})
		return open(t, c)
	})
	t.Cleanup(func() { require.Greater(t, suffered.Load(), int64(100)) })
}
