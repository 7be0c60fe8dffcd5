package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// M-45: the helper columns are derived from the blobs in the same write.
func TestColumnsAreDerivedFromTheBlobs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s, err := Open(t.Context(), Config{Path: MemoryPath, Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	row := store.Row{
		Action: &gnomonv1.ScheduledAction{
			Meta: &gnomonv1.Meta{Id: "a", Guid: "g", Labels: map[string]string{"b": "<2>", "a": "1"}},
			Spec: &gnomonv1.Spec{Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{}}}},
			Status: &gnomonv1.Status{
				State: gnomonv1.Status_FAILED, ScheduledAt: timestamppb.New(now.Add(1999)),
			},
		},
		Revision:  store.Revision{Incarnation: now, Sequence: 255},
		Chain:     "c",
		Tombstone: true,
	}
	// Onto another row of the same id, so that each column is seen to be replaced.
	applied, err := s.PutActions(t.Context(), []store.Row{testRow("a"), row})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, applied)

	var (
		id, guid, kind, labels, revision, chain string
		hash, scheduledAt, expireAt, state      int64
		tombstone                               bool
		meta                                    []byte
	)
	require.NoError(t, s.db.read.QueryRowContext(t.Context(), `
		SELECT meta_action_id_hash, meta_action_id, meta_action_guid, status_scheduled_at, meta,
			revision, chain, tombstone, expire_at, state, kind, labels FROM scheduled_actions`).Scan(
		&hash, &id, &guid, &scheduledAt, &meta, &revision, &chain, &tombstone, &expireAt, &state, &kind, &labels))
	require.Equal(t, uint64(0xaf63dc4c8601ec8c), uint64(hash), "FNV-1a 64 of a, by its specification")
	require.Equal(t, "a", id)
	require.Equal(t, "g", guid)
	require.Equal(t, now.UnixMicro()+1, scheduledAt)
	require.Equal(t, row.Revision.Encode(), revision)
	require.Equal(t, "c", chain)
	require.True(t, tombstone)
	require.Equal(t, now.Add(DefaultTombstoneTTL).UnixMicro(), expireAt)
	require.EqualValues(t, gnomonv1.Status_FAILED, state)
	require.Equal(t, "http_request", kind)
	require.Equal(t, `{"a":"1","b":"<2>"}`, labels)
	var decoded gnomonv1.Meta
	require.NoError(t, proto.Unmarshal(meta, &decoded))
	require.True(t, proto.Equal(row.Action.GetMeta(), &decoded))
}

// A row that somebody damaged is an error, not a panic and not another row.
func TestDamagedRowsAreErrors(t *testing.T) {
	t.Parallel()
	for column, value := range map[string]string{
		"revision": `'short'`, "meta": `x'ff'`, "spec": `x'ff'`, "status": `x'ff'`,
	} {
		s := openMemory(t)
		_, err := s.PutActions(t.Context(), []store.Row{testRow("a")})
		require.NoError(t, err)
		_, err = s.db.write.ExecContext(t.Context(), `UPDATE scheduled_actions SET `+column+` = `+value)
		require.NoError(t, err)
		_, err = s.GetAction(t.Context(), "a")
		require.ErrorContains(t, err, column)
		_, err = s.ListActions(t.Context(), store.ActionQuery{Limit: 1})
		require.ErrorContains(t, err, column)
	}
}

func TestTimestampOutOfRangeIsRefused(t *testing.T) {
	t.Parallel()
	s := openMemory(t)
	row := testRow("a")
	row.Action.Status.ScheduledAt = &timestamppb.Timestamp{Seconds: 1 << 60}
	_, err := s.PutActions(t.Context(), []store.Row{row})
	require.ErrorContains(t, err, "Action.Status.ScheduledAt must be in the years 1 to 9999")
}
