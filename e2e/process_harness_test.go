package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// startWithin bounds the start of a process on a machine that is busy.
const startWithin = 60 * time.Second

// process is one of gnomon's processes: this test binary in a role.
type process struct {
	role     string
	args     []string
	cmd      *exec.Cmd
	out, err *lines
	ended    chan struct{}
}

// run starts a process, which ends with the test at the latest.
func run(t *testing.T, role string, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := &process{role: role, args: args, out: newLines(), err: newLines(), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(withoutGnomon(os.Environ()), roleVariable+"="+role)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.err
	require.NoError(t, spawn(p.cmd))
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the end of what %s, process %d, wrote:\n%s", role, p.pid(), p.err.tail(40))
		}
	})
	return p
}

// withoutGnomon is an environment that says nothing to gnomon or Temporal's SDK.
func withoutGnomon(all []string) []string {
	var kept []string
	for _, v := range all {
		if !strings.HasPrefix(v, "GNOMON_") && !strings.HasPrefix(v, "TEMPORAL_") {
			kept = append(kept, v)
		}
	}
	return kept
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// says waits for a line of out or err.
func (p *process) says(t *testing.T, l *lines, want string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	line, err := l.wait(ctx, p.ended, want)
	require.NoError(t, err, "%s: %s", p.role, p.err.tail(20))
	return line
}

// kill is kill -9, and says when it was done.
func (p *process) kill(t *testing.T) time.Time {
	t.Helper()
	require.True(t, p.alive(), "%s ended before it was killed", p.role)
	at := time.Now()
	require.NoError(t, p.cmd.Process.Kill())
	<-p.ended
	return at
}

// signal asks the process something.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
}

// exit waits for the end of the process and gives its exit code.
func (p *process) exit(t *testing.T, within time.Duration) int {
	t.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-p.ended:
	case <-limit.C:
		t.Fatalf("%s did not end within %s", p.role, within)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop is SIGTERM, after which the process ends by itself with exit code 0.
func (p *process) stop(t *testing.T, within time.Duration) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	require.Zero(t, p.exit(t, within), p.err.tail(20))
}

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// connect gives a client of a facade, which finds it again within moments where it
// is started again at its address.
func connect(t *testing.T, address string, more ...grpc.DialOption) gnomonv1.ActionServiceClient {
	t.Helper()
	soon := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.2, MaxDelay: 200 * time.Millisecond}
	conn, err := grpc.NewClient(address, append(more,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: time.Second}),
	)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return gnomonv1.NewActionServiceClient(conn)
}

// port is the port of an address.
func port(t *testing.T, address string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return p
}

// passes waits until a time, which nothing tells of.
func passes(t *testing.T, at time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
