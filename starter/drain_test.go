package starter

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Issue 4, 7: a facade that drains says that it is not ready, by every way of asking, and
// serves on whoever has not noticed yet: calls, and watches that began before.
func TestDrainServesOn(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	health := healthv1.NewHealthClient(s.conn)
	watch, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{Service: "gnomon.v1.ActionService"})
	require.NoError(t, err)
	await := func(want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for {
			reply, err := watch.Recv()
			require.NoError(t, err)
			if reply.GetStatus() == want {
				return
			}
		}
	}
	await(healthv1.HealthCheckResponse_SERVING)
	require.Equal(t, 200, s.get(t, "/readyz").code)
	before := s.watched(t)

	s.Drain()
	await(healthv1.HealthCheckResponse_NOT_SERVING)
	require.Equal(t, 503, s.get(t, "/readyz").code)
	require.Equal(t, 200, s.get(t, "/healthz").code, "it lives")
	_, err = s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "a"})
	require.NoError(t, err)
	require.Equal(t, 200, s.get(t, "/v1/actions/a").code)
	s.sees(t, before)

	// What it needs answers, and was looked at again by now, which changes nothing.
	looked := s.looked.Load()
	require.Eventually(t, func() bool { return s.looked.Load() > looked+1 }, 10*time.Second, time.Millisecond)
	require.Equal(t, 503, s.get(t, "/readyz").code)
}

// Issue 4, 7: calls under way over gRPC and over REST are answered though the server
// stops, while watches of both are told to go elsewhere and nobody new is let in.
func TestStopDrainsBothWays(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	watch := s.watched(t)
	overGRPC, overREST := make(chan error, 1), make(chan answer, 1)
	go func() {
		_, err := s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "wait"})
		overGRPC <- err
	}()
	<-s.service.entered
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/actions/wait", nil)
	require.NoError(t, err)
	go func() {
		got := answer{}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			got.code = resp.StatusCode
			got.body, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		overREST <- got
	}()
	<-s.service.entered

	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(t.Context()) }()
	_, err = watch.Recv()
	requireReason(t, err, codes.Unavailable, reasonStopping)
	require.False(t, s.isReady())
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", s.HTTPAddr(), time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 10*time.Second, time.Millisecond, "REST takes no more connections")
	select {
	case err := <-stopped:
		require.Fail(t, "stopped before its calls were answered", "%v", err)
	default:
	}
	close(s.service.release)
	require.NoError(t, <-overGRPC)
	got := <-overREST
	require.Equal(t, 200, got.code)
	require.JSONEq(t, `{"meta":{"id":"wait","guid":"g-1"}}`, string(got.body))
	require.NoError(t, <-stopped)
	_, err = net.DialTimeout("tcp", s.GRPCAddr(), time.Second)
	require.Error(t, err)
}

// watched begins a watch that has seen one change.
func (s *testServer) watched(t *testing.T) gnomonv1.ActionService_WatchActionClient {
	t.Helper()
	watch, err := s.client.WatchAction(t.Context(), &gnomonv1.WatchActionRequest{Id: "a"})
	require.NoError(t, err)
	return s.sees(t, watch)
}

// sees has the only watch see one change.
func (s *testServer) sees(t *testing.T, watch gnomonv1.ActionService_WatchActionClient) gnomonv1.ActionService_WatchActionClient {
	t.Helper()
	s.service.changes <- &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a"}}
	_, err := watch.Recv()
	require.NoError(t, err)
	return watch
}
