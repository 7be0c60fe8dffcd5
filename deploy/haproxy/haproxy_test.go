package haproxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/starter"
)

// configuration is what docker-compose.yml mounts.
const configuration = "haproxy.cfg"

// soon bounds what takes HAProxy two or three seconds, on a machine that is busy.
const soon = 30 * time.Second

// program finds HAProxy, or skips the test where there is none, but not in CI.
func program(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	if os.Getenv("CI") == "" {
		t.Skip("no haproxy on PATH: its configuration is not tried")
	}
	require.Fail(t, "no haproxy on PATH")
	return ""
}

// HAProxy takes the file as it is, where the names of the starters mean nothing.
func TestConfigurationIsValid(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), program(t), "-c", "-f", configuration).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "WARNING") {
			require.Contains(t, line, "could not resolve address 'starter-")
		}
	}
}

// facade is a starter, but for what is behind its services.
type facade struct {
	gnomonv1.UnimplementedActionServiceServer

	name   string
	server *starter.Server
	ready  atomic.Bool
	// more lets a watch show its second state.
	more chan struct{}
}

func startFacade(t *testing.T, name string) *facade {
	t.Helper()
	f := &facade{name: name, more: make(chan struct{})}
	f.ready.Store(true)
	server, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", ReadyInterval: 10 * time.Millisecond,
	}, starter.Services{Actions: f}, func(context.Context) error {
		if !f.ready.Load() {
			return status.Error(codes.Unavailable, "made so")
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	f.server = server
	t.Cleanup(f.kill)
	return f
}

// kill ends a facade without waiting for anything.
func (f *facade) kill() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = f.server.Stop(over)
}

// named is an action that says who answered.
func (f *facade) named() *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: f.name}}
}

// GetAction implements the service.
func (f *facade) GetAction(_ context.Context, req *gnomonv1.GetActionRequest) (*gnomonv1.ScheduledAction, error) {
	if req.GetId() == "missing" {
		return nil, status.Error(codes.NotFound, "there is none")
	}
	return f.named(), nil
}

// WatchAction implements the service: a state at once, another when it may.
func (f *facade) WatchAction(_ *gnomonv1.WatchActionRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchActionResponse]) error {
	if err := stream.Send(&gnomonv1.WatchActionResponse{Action: f.named()}); err != nil {
		return err
	}
	select {
	case <-f.more:
		return stream.Send(&gnomonv1.WatchActionResponse{Action: f.named()})
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

// balancer is a running HAProxy.
type balancer struct {
	// grpc, rest and health are the host:port of its three frontends.
	grpc, rest, health string
	calls              gnomonv1.ActionServiceClient
}

var (
	bind   = regexp.MustCompile(`bind :(\d+)`)
	server = regexp.MustCompile(`(server (starter-\d) )\S+:(\d+)`)
	check  = regexp.MustCompile(`port 7780`)
)

// start runs HAProxy with the configuration, the addresses replaced by those of here.
func start(t *testing.T, facades ...*facade) *balancer {
	t.Helper()
	executable := program(t)
	body, err := os.ReadFile(configuration)
	require.NoError(t, err)
	at := map[string]*facade{}
	for _, f := range facades {
		at[f.name] = f
	}
	b := &balancer{}
	frontends := map[string]*string{"7700": &b.grpc, "7780": &b.rest, "8404": &b.health}
	cmd := exec.CommandContext(t.Context(), executable, "-db", "-f", filepath.Join(t.TempDir(), "haproxy.cfg"))
	text := bind.ReplaceAllStringFunc(string(body), func(line string) string {
		port := bind.FindStringSubmatch(line)[1]
		require.NotNil(t, frontends[port], line)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		*frontends[port] = listener.Addr().String()
		file, err := listener.(*net.TCPListener).File()
		require.NoError(t, err)
		require.NoError(t, listener.Close()) // the file keeps the port
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		return "bind fd@" + strconv.Itoa(2+len(cmd.ExtraFiles))
	})
	require.Len(t, cmd.ExtraFiles, len(frontends))
	var lines []string
	for line := range strings.Lines(text) {
		if match := server.FindStringSubmatch(line); match != nil {
			f := at[match[2]]
			require.NotNil(t, f, line)
			address := map[string]string{"7700": f.server.GRPCAddr(), "7780": f.server.HTTPAddr()}[match[3]]
			_, port, err := net.SplitHostPort(f.server.HTTPAddr())
			require.NoError(t, err)
			line = check.ReplaceAllLiteralString(server.ReplaceAllString(line, "${1}"+address), "port "+port)
		}
		lines = append(lines, line)
	}
	require.NoError(t, os.WriteFile(cmd.Args[3], []byte(strings.Join(lines, "")), 0o600))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = soon
	require.NoError(t, cmd.Start())
	for _, file := range cmd.ExtraFiles {
		require.NoError(t, file.Close())
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	conn, err := grpc.NewClient(b.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	b.calls = gnomonv1.NewActionServiceClient(conn)
	until(t, "HAProxy serves", func() bool { return b.healthy(t) })
	return b
}

// until asks again and again, on the goroutine of the test, which what it asks may end.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for over := time.Now().Add(soon); !is(); <-again.C {
		require.True(t, time.Now().Before(over), "it took longer than %s until %s", soon, what)
	}
}

// get fetches a page.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	reply, err := http.DefaultClient.Do(request(t, url))
	require.NoError(t, err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, string(body)
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	return req
}

// healthy is what the health check of the container asks.
func (b *balancer) healthy(t *testing.T) bool {
	t.Helper()
	code, _ := get(t, "http://"+b.health+"/healthy")
	return code == http.StatusOK
}

// asks calls once and says who answered.
func (b *balancer) asks(t *testing.T) string {
	t.Helper()
	a, err := b.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "any"})
	require.NoError(t, err)
	return a.GetMeta().GetId()
}

// asksREST calls once by REST and says who answered.
func (b *balancer) asksREST(t *testing.T) string {
	t.Helper()
	code, body := get(t, "http://"+b.rest+"/v1/actions/any")
	require.Equal(t, http.StatusOK, code, body)
	for _, name := range []string{"starter-1", "starter-2"} {
		if strings.Contains(body, name) {
			return name
		}
	}
	require.Fail(t, "nobody answered", body)
	return ""
}

// onlyOne calls until one facade answers a row of calls, gRPC and REST alike. None may
// fail meanwhile.
func (b *balancer) onlyOne(t *testing.T, name string) {
	t.Helper()
	inARow := 0
	until(t, "only "+name+" answers", func() bool {
		if inARow++; b.asks(t) != name || b.asksREST(t) != name {
			inARow = 0
		}
		return inARow >= 20
	})
}

// Issue 4, 6: both starters answer behind one port, also the calls of one connection;
// errors are the starters' own.
func TestCallsAreBalanced(t *testing.T) {
	t.Parallel()
	b := start(t, startFacade(t, "starter-1"), startFacade(t, "starter-2"))
	for _, ask := range []func(*testing.T) string{b.asks, b.asksREST} {
		answers := map[string]int{}
		for range 100 {
			answers[ask(t)]++
		}
		require.Greater(t, answers["starter-1"], 20, answers)
		require.Greater(t, answers["starter-2"], 20, answers)
	}
	_, err := b.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "missing"})
	require.Equal(t, codes.NotFound, status.Code(err), err)
	require.Equal(t, "there is none", status.Convert(err).Message())
	code, _ := get(t, "http://"+b.rest+"/v1/actions/missing")
	require.Equal(t, http.StatusNotFound, code)
}

// A watch shows each state when it comes, by gRPC and by REST.
func TestWatchesAreNotHeldBack(t *testing.T) {
	t.Parallel()
	one, two := startFacade(t, "starter-1"), startFacade(t, "starter-2")
	b := start(t, one, two)
	let := map[string]chan struct{}{one.name: one.more, two.name: two.more}

	stream, err := b.calls.WatchAction(t.Context(), &gnomonv1.WatchActionRequest{Id: "any"})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	let[first.GetAction().GetMeta().GetId()] <- struct{}{}
	_, err = stream.Recv()
	require.NoError(t, err)
	_, err = stream.Recv()
	require.ErrorIs(t, err, io.EOF)

	reply, err := http.DefaultClient.Do(request(t, "http://"+b.rest+"/v1/actions/any:watch"))
	require.NoError(t, err)
	defer reply.Body.Close()
	lines := bufio.NewScanner(reply.Body)
	require.True(t, lines.Scan())
	name := one.name
	if strings.Contains(lines.Text(), two.name) {
		name = two.name
	}
	let[name] <- struct{}{}
	require.True(t, lines.Scan())
	require.False(t, lines.Scan())
	require.NoError(t, lines.Err())
}

// A starter that is told to stop says so, and has no more calls when it ends: nobody
// notices. The same for one that is killed between two calls.
func TestStartersMayGo(t *testing.T) {
	t.Parallel()
	one, two := startFacade(t, "starter-1"), startFacade(t, "starter-2")
	b := start(t, one, two)
	one.ready.Store(false)
	b.onlyOne(t, two.name)
	one.ready.Store(true)
	until(t, "it answers again", func() bool { return b.asks(t) == one.name })
	one.kill()
	b.onlyOne(t, two.name)
	two.kill()
	until(t, "HAProxy has no starter", func() bool { return !b.healthy(t) })
	_, err := b.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "any"})
	require.Equal(t, codes.Unavailable, status.Code(err), err)
}

// When Temporal is down no starter is ready, and reads are answered all the same.
func TestReadsWhileNoneIsReady(t *testing.T) {
	t.Parallel()
	one, two := startFacade(t, "starter-1"), startFacade(t, "starter-2")
	b := start(t, one, two)
	one.ready.Store(false)
	b.onlyOne(t, two.name)
	two.ready.Store(false)
	byGRPC, byREST := map[string]bool{}, map[string]bool{}
	until(t, "both answer", func() bool {
		byGRPC[b.asks(t)], byREST[b.asksREST(t)] = true, true
		return len(byGRPC) == 2 && len(byREST) == 2
	})
	require.True(t, b.healthy(t))
}
