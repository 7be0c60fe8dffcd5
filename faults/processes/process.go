// Package processes starts, kills and awaits the processes of an installation: this
// program again, each in a role.
package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gnomon/spawn"
)

// RoleVariable is the environment variable that tells a process its role.
const RoleVariable = "GNOMON_FAULTS_ROLE"

// startWithin bounds the start of a process on a machine that is busy.
const startWithin = 60 * time.Second

// Process is this program in a role, or another program.
type Process struct {
	role     string
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err *Lines
	ended    chan struct{}
}

// Start starts this program in a role and a directory. It dies with this process at
// the latest.
func Start(dir, role string, args ...string) (*Process, error) {
	return StartWith(nil, dir, role, args...)
}

// StartWith is Start with more variables in the environment.
func StartWith(env []string, dir, role string, args ...string) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // this program; its end is Kill or Stop
	cmd.Env = append(append(Quiet(os.Environ()), RoleVariable+"="+role), env...)
	cmd.Dir = dir
	return StartCommand(role, cmd)
}

// StartCommand is Start for any program, under a name for errors. Its output is the
// process's from then on.
func StartCommand(name string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{role: name, cmd: cmd, out: newLines(), err: newLines(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := spawn.Start(cmd, 0); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// Quiet is an environment that says nothing to gnomon, Temporal's SDK or OpenTelemetry.
func Quiet(all []string) []string {
	var kept []string
	for _, v := range all {
		if !strings.HasPrefix(v, "GNOMON_") && !strings.HasPrefix(v, "TEMPORAL_") && !strings.HasPrefix(v, "OTEL_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stdout is what it wrote to stdout so far, and Stderr to stderr.
func (p *Process) Stdout() *Lines { return p.out }

// Stderr is Stdout for stderr.
func (p *Process) Stderr() *Lines { return p.err }

// Dir is the directory it runs in.
func (p *Process) Dir() string { return p.cmd.Dir }

// Tell sends a line of JSON to the process's stdin.
func (p *Process) Tell(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(line, '\n'))
	return err
}

// Out waits for a line of stdout that holds a text, Err for one of stderr.
func (p *Process) Out(ctx context.Context, want string) (string, error) {
	return p.says(ctx, p.out, want)
}

// Err is Out for stderr.
func (p *Process) Err(ctx context.Context, want string) (string, error) {
	return p.says(ctx, p.err, want)
}

func (p *Process) says(ctx context.Context, l *Lines, want string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	line, err := l.wait(ctx, p.ended, want)
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", p.role, err, p.err.Tail(10))
	}
	return line, nil
}

// Kill is kill -9. It returns when the process is gone and says when it was told.
func (p *Process) Kill() time.Time {
	at := time.Now()
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.ended
	return at
}

// Ended is closed when the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Alive says whether it runs.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Signal sends it a signal, which is an error where it is gone.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// ExitCode is what it ended with: -1 while it runs and after a signal ended it.
func (p *Process) ExitCode() int {
	if p.Alive() {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// Stop is SIGTERM and, where that is not obeyed within 15 seconds, Kill.
func (p *Process) Stop() { p.stop(syscall.SIGTERM) }

// Interrupt is Stop with SIGINT, for programs that mean another end by it.
func (p *Process) Interrupt() { p.stop(syscall.SIGINT) }

func (p *Process) stop(how os.Signal) {
	_ = p.cmd.Process.Signal(how) // it may be gone already
	limit := time.NewTimer(15 * time.Second)
	defer limit.Stop()
	select {
	case <-p.ended:
	case <-limit.C:
		p.Kill()
	}
}

// Last waits for the end of the process and gives all it wrote to stdout.
func (p *Process) Last(ctx context.Context) (string, error) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if out := p.out.Tail(1 << 20); out != "" {
		return out, nil
	}
	return "", fmt.Errorf("%s said nothing\n%s", p.role, p.err.Tail(10))
}

// Tail is the end of what it wrote to stderr.
func (p *Process) Tail() string { return p.err.Tail(20) }
