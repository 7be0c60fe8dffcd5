package e2e

import (
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/faults/processes"
)

// startWithin bounds what a machine that is busy may take long for.
const startWithin = 60 * time.Second

// process is one of gnomon's processes: this test binary in a role.
type process struct {
	*processes.Process
	role     string
	out, err *processes.Lines
}

// run starts a process, which ends with the test at the latest.
func run(t *testing.T, role string, args ...string) *process {
	t.Helper()
	return runWith(t, nil, role, args...)
}

// runWith is run with more variables in the environment.
func runWith(t *testing.T, env []string, role string, args ...string) *process {
	t.Helper()
	started, err := processes.StartWith(env, t.TempDir(), role, args...)
	require.NoError(t, err)
	p := &process{Process: started, role: role, out: started.Stdout(), err: started.Stderr()}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the end of what %s, process %d, wrote:\n%s", role, p.PID(), p.err.Tail(40))
		}
	})
	return p
}

// says waits for a line of out or err.
func (p *process) says(t *testing.T, l *processes.Lines, want string) string {
	t.Helper()
	wait := p.Out
	if l == p.err {
		wait = p.Err
	}
	line, err := wait(t.Context(), want)
	require.NoError(t, err)
	return line
}

// kill is kill -9, and says when it was done.
func (p *process) kill(t *testing.T) time.Time {
	t.Helper()
	require.True(t, p.Alive(), "%s ended before it was killed", p.role)
	return p.Kill()
}

// signal asks the process something.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, p.Signal(s))
}

// exit waits for the end of the process and gives its exit code.
func (p *process) exit(t *testing.T, within time.Duration) int {
	t.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-p.Ended():
	case <-limit.C:
		t.Fatalf("%s did not end within %s", p.role, within)
	}
	return p.ExitCode()
}

// stop is SIGTERM, after which the process ends by itself with exit code 0.
func (p *process) stop(t *testing.T, within time.Duration) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	require.Zero(t, p.exit(t, within), p.err.Tail(20))
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
