package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/reconcile"
)

// Issue 4: while actions are created, updated, paused, deleted and performed, rounds
// repair nothing wrongly. In the end every row is what Temporal has.
func TestReconcileBusy(t *testing.T) {
	t.Parallel()
	r := installReconciled(t)
	const clients, ids = 4, 6
	ctx, stop := context.WithTimeout(t.Context(), 12*time.Second)
	defer stop()
	var busy sync.WaitGroup
	for n := range clients {
		busy.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for ctx.Err() == nil {
				r.anything(ctx, r.id(fmt.Sprint(n, "-", random.IntN(ids))), random)
			}
		})
	}
	c := r.config()
	c.Settle = 20 * time.Millisecond // so that much is repaired that needs no repair
	rounds := 0
	for ctx.Err() == nil {
		report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
		require.NoError(t, err)
		require.Zero(t, report.Found[reconcile.Orphaned], "%v", report.Items)
		require.Zero(t, report.Found[reconcile.Foreign])
		rounds++
	}
	busy.Wait()
	require.Greater(t, rounds, 2)
	alive := 0
	for n := range clients {
		for m := range ids {
			if r.agrees(t, r.id(fmt.Sprint(n, "-", m))) {
				alive++
			}
		}
	}
	require.Positive(t, alive)
	eventually(t, 30*time.Second, "nothing is wrong", func() bool { return r.round(t).Wrong() == 0 })
}

// anything does something with an action; what it is refused does not matter here.
func (r *reconciled) anything(ctx context.Context, id string, random *rand.Rand) {
	switch random.IntN(7) {
	case 0, 1:
		_, _ = r.facade.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: r.once(id, "/ok", time.Hour)})
	case 2:
		_, _ = r.facade.UpdateAction(ctx, &gnomonv1.UpdateActionRequest{Action: every(r.once(id, "/ok", 0), time.Second), AllowMissing: true})
	case 3:
		_, _ = r.facade.UpdateAction(ctx, &gnomonv1.UpdateActionRequest{Action: retrying(r.once(id, "/status/503", 0), 3), AllowMissing: true})
	case 4:
		_, _ = r.facade.PauseAction(ctx, &gnomonv1.PauseActionRequest{Id: id})
	case 5:
		_, _ = r.facade.ResumeAction(ctx, &gnomonv1.ResumeActionRequest{Id: id})
	case 6:
		_, _ = r.facade.DeleteAction(ctx, &gnomonv1.DeleteActionRequest{Id: id, AllowMissing: true})
	}
}

// agrees waits until row and Temporal agree on an action, and says whether it is alive.
func (r *reconciled) agrees(t *testing.T, id string) (alive bool) {
	t.Helper()
	eventually(t, 30*time.Second, "row and Temporal agree on "+id, func() bool {
		fresh, err := r.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
		row := r.row(t, id)
		alive = row != nil && !row.Tombstone
		if status.Code(err) == codes.NotFound {
			return !alive
		}
		require.NoError(t, err)
		return row != nil && fresh.GetMeta().GetGuid() == row.Action.GetMeta().GetGuid() &&
			fresh.GetStatus().GetState() == row.Action.GetStatus().GetState()
	})
	return alive
}
