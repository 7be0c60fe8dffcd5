package mirror_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// M-45: the helper columns are derived from the blobs in the same write.
func TestColumnsAreDerivedFromTheBlobs(t *testing.T) {
	t.Parallel()
	row := store.Row{
		Action: &gnomonv1.ScheduledAction{
			Meta:   &gnomonv1.Meta{Id: "a", Guid: "g", Labels: map[string]string{"k": "v"}},
			Spec:   &gnomonv1.Spec{Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{}}}},
			Status: &gnomonv1.Status{State: gnomonv1.Status_FAILED, ScheduledAt: timestamppb.New(now.Add(1999))},
		},
		Revision: store.Revision{Sequence: 255}, Chain: "c", Tombstone: true, DeletedBy: "r",
	}
	c, err := mirror.Derive(row, now, time.Hour)
	require.NoError(t, err)
	require.Equal(t, uint64(0xaf63dc4c8601ec8c), c.Hash, "FNV-1a 64 of a, by its specification")
	require.Equal(t, "a", c.ID)
	require.Equal(t, "g", c.GUID)
	require.Equal(t, now.UnixMicro()+1, c.ScheduledAt)
	require.Equal(t, now.Add(time.Hour), c.ExpireAt)
	require.Equal(t, gnomonv1.Status_FAILED, c.State)
	require.Equal(t, "http_request", c.Kind)
	require.Equal(t, map[string]string{"k": "v"}, c.Labels)

	got, err := mirror.Stored{
		Meta: c.Meta, Spec: c.Spec, Status: c.Status, Revision: c.Revision, Chain: c.Chain, Tombstone: c.Tombstone, DeletedBy: c.DeletedBy,
	}.Decode()
	require.NoError(t, err)
	require.True(t, proto.Equal(row.Action, got.Action))
	got.Action, row.Action = nil, nil
	require.Equal(t, row, got)
}

func TestAbsentIsNotEmpty(t *testing.T) {
	t.Parallel()
	c, err := mirror.Derive(store.Row{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a"}, Spec: &gnomonv1.Spec{}}}, now, time.Hour)
	require.NoError(t, err)
	require.NotNil(t, c.Spec)
	require.Nil(t, c.Status)
	require.Equal(t, mirror.Unscheduled, c.ScheduledAt)
	require.Zero(t, c.ExpireAt, "the living do not expire")
	got, err := mirror.Stored{Meta: c.Meta, Spec: c.Spec, Status: c.Status, Revision: c.Revision}.Decode()
	require.NoError(t, err)
	require.NotNil(t, got.Action.GetSpec())
	require.Nil(t, got.Action.GetStatus())
}

// A row that somebody damaged is an error that names the column.
func TestDamagedColumnsAreErrors(t *testing.T) {
	t.Parallel()
	whole, broken := store.Revision{}.Encode(), []byte{0xff}
	for column, stored := range map[string]mirror.Stored{
		"revision": {Revision: "short"}, "meta": {Revision: whole, Meta: broken},
		"spec": {Revision: whole, Spec: broken}, "status": {Revision: whole, Status: broken},
	} {
		_, err := stored.Decode()
		require.ErrorContains(t, err, "the column "+column+" ")
	}
}
