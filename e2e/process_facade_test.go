package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// F3: the facade is killed -9 after Temporal has committed a create and before it
// replied. The client retries with its request_id at the next facade: one execution,
// and the reply that the first call would have had.
func TestProcessFacadeKilledBeforeItsReply(t *testing.T) {
	t.Parallel()
	p := separate(t)
	p.work(t)
	between := proxied(t, p.address)
	p.starter.stop(t, 10*time.Second)
	p.startFacade(t, between.address, p.grpc)

	between.hold("StartWorkflowExecution")
	due := time.Now().Add(4 * time.Second)
	const n = 4
	requests := make([]*gnomonv1.CreateActionRequest, n)
	lost := make(chan error, n)
	for k := range requests {
		id := fmt.Sprint("committed-", k)
		requests[k] = &gnomonv1.CreateActionRequest{Action: p.inbox.once(id, "/ok", due), RequestId: "request-" + id}
		go func() {
			_, err := p.client.CreateAction(t.Context(), requests[k])
			lost <- err
		}()
	}
	for range n {
		await(t, between.held)
	}
	p.starter.kill(t)
	for range n {
		require.Equal(t, codes.Unavailable, status.Code(<-lost))
	}
	p.startFacade(t, p.address, p.grpc)
	for _, r := range requests {
		id := r.GetAction().GetMeta().GetId()
		reply, err := p.client.CreateAction(t.Context(), r, grpc.WaitForReady(true))
		require.NoError(t, err)
		again, err := p.client.CreateAction(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, reply.GetMeta().GetGuid(), again.GetMeta().GetGuid())
		require.GreaterOrEqual(t, p.inbox.nth(t, id, 1, 30*time.Second).Late(), time.Duration(0))
		require.Equal(t, reply.GetMeta().GetGuid(), p.inbox.of(id)[0].GUID, "the reply is that of the execution")
		ends(t, p.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	}
	p.oneExecution(t, n)
	t.Logf("%d facades' replies lost after the commit: doubled 0, other replies 0", n)
}

// F3, F4: clients lose 3 answers in 10 and the facade is killed -9 twice under them.
// They repeat their calls with their request_ids: one execution per id, the same
// reply whenever it comes, and what was accepted is performed.
func TestProcessFacadeKilledUnderLostAnswers(t *testing.T) {
	t.Parallel()
	p := separate(t)
	p.work(t)
	seen := &answers{guids: map[string]map[string]bool{}}
	lossy := connect(t, p.grpc, grpc.WithUnaryInterceptor(seen.lose))

	const clients, each = 4, 15
	var wg sync.WaitGroup
	created, next := make(chan struct{}, clients*each), make(chan struct{})
	for c := range clients {
		wg.Go(func() {
			for n := range each {
				if c == 0 && n%5 == 4 {
					<-next // a kill falls among the calls of the others
				}
				id := fmt.Sprintf("client-%d-%d", c, n)
				r := &gnomonv1.CreateActionRequest{Action: p.inbox.once(id, "/ok", time.Now().Add(2*time.Second)), RequestId: id}
				for t.Context().Err() == nil {
					_, err := lossy.CreateAction(t.Context(), r)
					if err == nil {
						break
					}
					if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
						t.Errorf("%s: %v", id, err)
						return
					}
				}
				created <- struct{}{}
			}
		})
	}
	for _, at := range []int{8, 16} {
		for range at {
			await(t, created)
		}
		p.starter.kill(t)
		p.startFacade(t, p.address, p.grpc)
		next <- struct{}{}
	}
	close(next)
	wg.Wait()
	for c := range clients {
		for n := range each {
			id := fmt.Sprintf("client-%d-%d", c, n)
			a := p.inbox.nth(t, id, 1, 30*time.Second)
			require.GreaterOrEqual(t, a.Late(), time.Duration(0))
			require.Equal(t, map[string]bool{a.GUID: true}, seen.of(id), "every reply, heard or lost, is the same")
			ends(t, p.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1})
			require.Len(t, p.inbox.of(id), 1, id)
		}
	}
	p.oneExecution(t, clients*each)
	t.Logf("%d creates, %d answers lost, 2 kills: lost 0, doubled 0, replies that differ 0", clients*each, seen.count())
}

// oneExecution holds that there are n executions of n actions in all.
func (p *parts) oneExecution(t *testing.T, n int) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: p.address})
	require.NoError(t, err)
	defer c.Close()
	query := "WorkflowType = '" + workflowv1.ActionWorkflow + "'"
	var ids map[string]int
	eventually(t, 20*time.Second, "Temporal lists all executions", func() bool {
		reply, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 1000})
		if err != nil {
			return false
		}
		ids = map[string]int{}
		for _, e := range reply.GetExecutions() {
			ids[e.GetExecution().GetWorkflowId()]++
		}
		return len(ids) >= n
	})
	require.Len(t, ids, n)
	for id, executions := range ids {
		require.Equal(t, 1, executions, id)
	}
}

// answers loses answers, and remembers the Guids in all of them.
type answers struct {
	mu    sync.Mutex
	guids map[string]map[string]bool
	lost  int
}

// lose is F4's interceptor: the call is made, and its answer does not come.
func (a *answers) lose(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	err := call(ctx, method, req, reply, conn, o...)
	changes := strings.HasSuffix(method, "/CreateAction") || strings.HasSuffix(method, "/UpdateAction") || strings.HasSuffix(method, "/DeleteAction")
	if err != nil || !changes {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	meta := reply.(*gnomonv1.ScheduledAction).GetMeta()
	if a.guids[meta.GetId()] == nil {
		a.guids[meta.GetId()] = map[string]bool{}
	}
	a.guids[meta.GetId()][meta.GetGuid()] = true
	if rand.Float64() < 0.3 {
		a.lost++
		return status.Error(codes.DeadlineExceeded, "the answer was lost on its way")
	}
	return nil
}

func (a *answers) of(id string) map[string]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.guids[id]
}

func (a *answers) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost
}

// await receives what is to come soon.
func await(t *testing.T, c <-chan struct{}) {
	t.Helper()
	limit := time.NewTimer(60 * time.Second)
	defer limit.Stop()
	select {
	case <-c:
	case <-limit.C:
		t.Fatal("it did not come within a minute")
	}
}
