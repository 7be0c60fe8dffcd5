//go:build linux

package agent_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"gnomon/agent"
	"gnomon/agent/kind"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// alone starts an agent whose Temporal does not answer, and returns its local API and
// what ends it.
func alone(t *testing.T, dir string, change func(*agent.Config)) (gnomonv1.AgentServiceClient, func()) {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"})
	require.NoError(t, err)
	config := agent.Config{
		Cluster: "c", Node: "n", DataDir: dir, Client: c, LocalAddress: "unix:" + filepath.Join(dir, "s"),
		Exec: kind.ExecConfig{Allow: []string{"/bin/sh -c **", "/bin/true"}},
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- agent.Run(ctx, config, func(address string) { started <- address }) }()
	stop := func() {
		cancel()
		require.NoError(t, <-ended)
		ended <- nil
	}
	t.Cleanup(func() {
		stop()
		c.Close()
	})
	var address string
	select {
	case address = <-started:
	case err := <-ended:
		ended <- nil
		require.NoError(t, err)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return gnomonv1.NewAgentServiceClient(conn), stop
}

func shell(id, line string) *gnomonv1.ScheduleLocalRequest {
	return &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
		Id: id, Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/sh", "-c", line}}},
	}}
}

func ends(t *testing.T, api gnomonv1.AgentServiceClient, id string) *gnomonv1.NodeAction {
	t.Helper()
	var a *gnomonv1.NodeAction
	require.Eventually(t, func() bool {
		var err error
		a, err = api.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: id})
		require.NoError(t, err)
		return a.GetFinishTime() != nil
	}, 20*time.Second, 5*time.Millisecond)
	return a
}

// scheduled on the agent itself, one at a time in order, without a core.
func TestAloneInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	api, _ := alone(t, dir, nil)
	log := filepath.Join(dir, "log")
	for _, id := range []string{"1", "2", "3", "4"} {
		a, err := api.ScheduleLocal(t.Context(), shell(id, "echo begin "+id+" >>"+log+"; echo end "+id+" >>"+log+"; echo said "+id))
		require.NoError(t, err)
		require.Equal(t, gnomonv1.NodeAction_AGENT, a.GetOrigin())
	}
	last := ends(t, api, "4")
	require.Equal(t, gnomonv1.NodeAction_DONE, last.GetState(), last.GetReason())
	require.Equal(t, gnomonv1.NodeAction_SUCCESS, last.GetClass())
	require.Equal(t, "said 4\n", last.GetResult().GetOutput())
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "begin 1 end 1 begin 2 end 2 begin 3 end 3 begin 4 end 4", strings.Join(strings.Fields(string(text)), " "))
	h, err := api.GetHealth(t.Context(), &gnomonv1.GetHealthRequest{})
	require.NoError(t, err)
	require.True(t, h.GetUp())
	require.False(t, h.GetTemporalReachable())
}

// Cancel stops what runs; the next one goes on.
func TestCancelRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	api, _ := alone(t, dir, nil)
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := api.ScheduleLocal(t.Context(), shell("long", "echo >"+fifo+"; sleep 1000"))
	require.NoError(t, err)
	_, err = api.ScheduleLocal(t.Context(), shell("next", "true"))
	require.NoError(t, err)
	_, err = api.ScheduleLocal(t.Context(), shell("never", "true"))
	require.NoError(t, err)
	_, err = os.ReadFile(fifo) // it runs
	require.NoError(t, err)
	never, err := api.CancelLocal(t.Context(), &gnomonv1.CancelLocalRequest{Id: "never"})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, never.GetState())
	_, err = api.CancelLocal(t.Context(), &gnomonv1.CancelLocalRequest{Id: "long", Reason: "enough"})
	require.NoError(t, err)
	long := ends(t, api, "long")
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, long.GetState())
	require.Equal(t, "enough", long.GetReason())
	require.Equal(t, gnomonv1.NodeAction_DONE, ends(t, api, "next").GetState())
	_, err = api.CancelLocal(t.Context(), &gnomonv1.CancelLocalRequest{Id: "long"})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}

// Issue 6: the agent performs HTTP requests as it does programs.
func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Idempotency-Key"))
	}))
	defer service.Close()
	api, _ := alone(t, t.TempDir(), nil)
	_, err := api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
		Id: "a", Action: &gnomonv1.NodeAction_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{Url: service.URL, Method: http.MethodGet}},
	}})
	require.NoError(t, err)
	a := ends(t, api, "a")
	require.Equal(t, gnomonv1.NodeAction_DONE, a.GetState(), a.GetReason())
	require.EqualValues(t, 200, a.GetResult().GetCode())
	require.Equal(t, "GET c/a", a.GetResult().GetOutput())
}

// A stop of the agent gives what runs its grace, and what waits runs under the next one.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hasty := func(c *agent.Config) { c.StopGrace = time.Millisecond }
	api, stop := alone(t, dir, hasty)
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err := api.ScheduleLocal(t.Context(), shell("long", "echo >"+fifo+"; sleep 1000"))
	require.NoError(t, err)
	_, err = api.ScheduleLocal(t.Context(), shell("next", "true"))
	require.NoError(t, err)
	_, err = os.ReadFile(fifo)
	require.NoError(t, err)
	stop()
	api, _ = alone(t, dir, hasty)
	long := ends(t, api, "long")
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, long.GetState())
	require.Contains(t, long.GetReason(), "interrupted")
	require.Equal(t, gnomonv1.NodeAction_DONE, ends(t, api, "next").GetState())
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	api, _ := alone(t, dir, func(c *agent.Config) { c.Health.Command = []string{"/bin/false"} })
	_, err := api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{Id: "a b", Action: &gnomonv1.NodeAction_Exec{
		Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}, OutputLimit: 1 << 20},
	}}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	var fields []string
	for _, v := range status.Convert(err).Details()[0].(*errdetails.BadRequest).GetFieldViolations() {
		fields = append(fields, v.GetField())
	}
	require.Equal(t, []string{"action.id", "action.exec.output_limit"}, fields, "all that is wrong at once")
	_, err = api.CancelLocal(t.Context(), &gnomonv1.CancelLocalRequest{Id: "x", Reason: strings.Repeat("x", 1025)})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	reboot := shell("x", "")
	reboot.Action.GetExec().Argv = []string{"/sbin/reboot"}
	_, err = api.ScheduleLocal(t.Context(), reboot)
	require.Equal(t, codes.PermissionDenied, status.Code(err))
	_, err = api.ScheduleLocal(t.Context(), shell("a", "true"))
	require.NoError(t, err)
	_, err = api.ScheduleLocal(t.Context(), shell("a", "false"))
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	_, err = api.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: "none"})
	require.Equal(t, codes.NotFound, status.Code(err))
	h, err := api.GetHealth(t.Context(), &gnomonv1.GetHealthRequest{})
	require.NoError(t, err)
	require.False(t, h.GetUp())
	require.NotEmpty(t, h.GetReason())

	err = agent.Run(t.Context(), agent.Config{}, nil)
	require.ErrorContains(t, err, "cluster must be set")
	require.ErrorContains(t, err, "the node: name must be set")
}
