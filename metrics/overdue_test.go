package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/faulty"
)

func due(id string, state gnomonv1.Status_State, ago time.Duration) store.Row {
	return store.Row{Action: &gnomonv1.ScheduledAction{
		Meta:   &gnomonv1.Meta{Id: id},
		Status: &gnomonv1.Status{State: state, ScheduledAt: timestamppb.New(time.Now().Add(-ago))},
	}, Tombstone: state == gnomonv1.Status_SUCCEEDED}
}

// Issue 4, 7: the oldest overdue is the oldest that is due and waited for: not paused,
// not performed, not ended, not to come.
func TestOldestOverdue(t *testing.T) {
	t.Parallel()
	r, f, _ := registry(t)
	faults, s := rows(t, r)
	const name = "gnomon_oldest_overdue_seconds"
	require.Nil(t, series(t, r, name), "not looked yet")
	f.overdue.look(t.Context(), s, quiet)
	require.Zero(t, value(t, r, name))

	_, err := s.PutActions(t.Context(), []store.Row{
		due("paused", gnomonv1.Status_PAUSED, 5*time.Hour), due("runs", gnomonv1.Status_RUNNING, 4*time.Hour),
		due("ended", gnomonv1.Status_SUCCEEDED, 3*time.Hour), due("to-come", gnomonv1.Status_SCHEDULED, -time.Hour),
	})
	require.NoError(t, err)
	f.overdue.look(t.Context(), s, quiet)
	require.Zero(t, value(t, r, name))

	_, err = s.PutActions(t.Context(), []store.Row{
		due("late", gnomonv1.Status_SCHEDULED, time.Hour), due("later", gnomonv1.Status_RETRYING, 2*time.Hour),
	})
	require.NoError(t, err)
	f.overdue.look(t.Context(), s, quiet)
	require.InDelta(t, 7200, value(t, r, name), 60)

	faults.Set(faulty.Faults{Fail: 1})
	f.overdue.look(t.Context(), s, quiet)
	require.Nil(t, series(t, r, name), "nobody knows")
}
