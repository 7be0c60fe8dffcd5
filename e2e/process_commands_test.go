package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// lasting repeats a call until its answer comes: what a client with a request_id
// may do.
func lasting(t *testing.T, call func() (*gnomonv1.ScheduledAction, error)) *gnomonv1.ScheduledAction {
	t.Helper()
	for t.Context().Err() == nil {
		reply, err := call()
		if err == nil {
			return reply
		}
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
			t.Errorf("a call whose answer was lost must be repeatable: %v", err)
			return nil
		}
	}
	return nil
}

// F3, F4 for commands: answers are lost and the facade is killed -9 among them.
// Repeated with its request_id an update is applied once, all its replies name one
// Guid and only that spec is performed; a deletion stays one.
func TestProcessFacadeKilledAmongCommands(t *testing.T) {
	t.Parallel()
	p := separate(t)
	p.work(t)
	seen := &answers{guids: map[string]map[string]bool{}}
	lossy := connect(t, p.grpc, grpc.WithUnaryInterceptor(seen.lose))

	const n = 16
	half := make(chan struct{}, n)
	killed := make(chan struct{})
	var wg sync.WaitGroup
	for k := range n {
		id := fmt.Sprint("changed-", k)
		create(t, p.client, p.inbox.once(id, "/old", time.Now().Add(time.Hour)))
		wg.Go(func() {
			if k >= n/2 {
				<-killed
			}
			change := &gnomonv1.UpdateActionRequest{
				Action: p.inbox.once(id, "/new", time.Now().Add(3*time.Second)), RequestId: "update-" + id,
			}
			lasting(t, func() (*gnomonv1.ScheduledAction, error) { return lossy.UpdateAction(t.Context(), change) })
			half <- struct{}{}
			if k%2 == 1 {
				lasting(t, func() (*gnomonv1.ScheduledAction, error) {
					return lossy.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id, RequestId: "delete-" + id})
				})
			}
		})
	}
	for range n / 4 {
		await(t, half)
	}
	p.starter.kill(t)
	p.startFacade(t, p.address, p.grpc)
	close(killed)
	wg.Wait()

	for k := range n {
		id := fmt.Sprint("changed-", k)
		require.Len(t, seen.of(id), 1, "%s: every reply, heard or lost, names one Guid", id)
		if k%2 == 1 {
			_, err := p.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
			require.Equal(t, codes.NotFound, status.Code(err), id)
			continue
		}
		a := p.inbox.nth(t, id, 1, 30*time.Second)
		require.True(t, seen.of(id)[a.GUID], "%s: what is performed is what was acknowledged", id)
		require.Equal(t, "/new", a.Path)
		ends(t, p.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	}
	for k := range n {
		id := fmt.Sprint("changed-", k)
		require.LessOrEqual(t, len(p.inbox.of(id)), 1-k%2, id)
	}
	t.Logf("%d updates, %d deletions, %d answers lost, 1 kill: lost 0, doubled 0", n, n/2, seen.count())
}
