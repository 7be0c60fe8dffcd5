package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
)

// F2: Temporal is killed -9 twice under a load of creates and attempts, and started
// again on its file and port. What was acknowledged is performed, facade and worker
// stay up and recover by themselves, and attempts go on within 5 s of the restart.
func TestProcessTemporalKilled(t *testing.T) { //nolint:paralleltest // it measures time
	p := separate(t)
	w := p.work(t, "--heartbeat-timeout", "5s")

	load := newLoad(p)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for c := range 2 {
		wg.Go(func() { load.create(t, c, stop) })
	}
	var ready time.Time
	// The second is long enough for clients to have lost patience.
	for _, outage := range []time.Duration{time.Second, 15 * time.Second} {
		before := len(p.inbox.Arrivals())
		p.arrivals(t, before+50)
		killed := p.temporal.kill(t)
		passes(t, killed.Add(outage))
		p.again(t)
		ready = time.Now()
		// Attempts that were under way at the kill arrive meanwhile; what counts is one
		// that was dispatched by the server that was started again.
		first := p.dispatchedAfter(t, ready)
		t.Logf("down for %s; dispatched again %s after the restart", ready.Sub(killed).Round(time.Millisecond),
			first.Time.Sub(ready).Round(time.Millisecond))
		require.Less(t, first.Time.Sub(ready), 5*time.Second, "F2")
	}
	before := len(p.inbox.Arrivals())
	p.arrivals(t, before+10)
	close(stop)
	wg.Wait()

	var interrupted, attempts uint64
	var worst time.Duration
	acknowledged := load.ids()
	for _, id := range acknowledged {
		a := p.inbox.nth(t, id, 1, 60*time.Second)
		require.GreaterOrEqual(t, a.Late(), time.Duration(0), "%s is early", id)
		if a.Time.After(ready) {
			possible := a.ScheduledAt
			if possible.Before(ready) {
				possible = ready
			}
			worst = max(worst, a.Time.Sub(possible))
		}
		var st *gnomonv1.Status
		eventually(t, 60*time.Second, id+" ends", func() bool {
			got, err := p.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
			st = got.GetStatus()
			return err == nil && st.GetState() == gnomonv1.Status_SUCCEEDED
		})
		n := counted(st)
		require.EqualValues(t, 1, n.ok, id)
		require.Zero(t, n.failed, "%s: %v", id, st)
		require.Zero(t, n.inARow, id)
		all := p.inbox.of(id)
		// An attempt whose dispatch was lost with the server counts and did not arrive.
		require.LessOrEqual(t, uint64(len(all)), 1+n.interrupted, id)
		for _, a := range all {
			require.Equal(t, all[0].IdempotencyKey, a.IdempotencyKey)
		}
		interrupted += n.interrupted
		attempts += uint64(len(all))
	}
	p.oneExecution(t, len(acknowledged))
	require.True(t, w.Alive() && p.starter.Alive(), "facade and worker stay up")
	t.Logf("%d acknowledged, 2 kills: lost 0, early 0; %d arrivals, %d interrupted, the latest first attempt %s after its due time or the restart",
		len(acknowledged), attempts, interrupted, worst.Round(time.Millisecond))
}

// arrivals waits until so many have arrived in all.
func (p *parts) arrivals(t *testing.T, n int) {
	t.Helper()
	eventually(t, 60*time.Second, fmt.Sprint(n, " arrivals"), func() bool { return len(p.inbox.Arrivals()) >= n })
}

// dispatchedAfter is the first arrival after a moment.
func (p *parts) dispatchedAfter(t *testing.T, at time.Time) receiver.Arrival {
	t.Helper()
	var first receiver.Arrival
	eventually(t, 60*time.Second, "an attempt after the restart", func() bool {
		for _, a := range p.inbox.Arrivals() {
			if a.Time.After(at) {
				first = a
				return true
			}
		}
		return false
	})
	return first
}

// load creates actions due within moments and keeps the ids that were acknowledged.
type load struct {
	parts *parts
	mu    sync.Mutex
	acked []string
}

func newLoad(p *parts) *load { return &load{parts: p} }

// create creates one action after another until stop, each until it is acknowledged.
func (l *load) create(t *testing.T, c int, stop <-chan struct{}) {
	t.Helper()
	pace := time.NewTicker(60 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-t.Context().Done():
			return
		case <-pace.C:
		}
		id := fmt.Sprintf("load-%d-%d", c, n)
		at := time.Now().Add(time.Duration(500+n%5*500) * time.Millisecond)
		r := &gnomonv1.CreateActionRequest{
			Action: steadily(l.parts.inbox.once(id, "/slow/50ms", at), 5, time.Second), RequestId: id,
		}
		for {
			_, err := l.parts.client.CreateAction(t.Context(), r)
			if err == nil {
				break
			}
			if t.Context().Err() != nil {
				return
			}
			if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
				t.Errorf("%s: %v", id, err)
				return
			}
			<-pace.C
		}
		l.mu.Lock()
		l.acked = append(l.acked, id)
		l.mu.Unlock()
	}
}

func (l *load) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}
