package isolation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/spawn"
)

// Niceness is what is added to the worker's own for the performers' process, which so has
// about a tenth of the worker's claim where both want the same processor.
const Niceness = 10

// How long it is waited before a process that died is started again: shortest, at once
// doubled for each that did not live for settled, at most longest.
const (
	shortest = 50 * time.Millisecond
	longest  = 5 * time.Second
	settled  = 30 * time.Second
)

// Process is the performers' process, started again whenever it dies.
type Process struct {
	log  *slog.Logger
	done chan struct{}
	stop context.CancelFunc

	mu sync.Mutex
	// conn is nil while there is no process; changed is closed when that changes.
	conn    *grpc.ClientConn
	changed chan struct{}
}

// Start starts this program once more, with the same arguments and [Variable]. The
// error says why that cannot be done.
func Start(log *slog.Logger) (*Process, error) {
	if Asked() {
		return nil, fmt.Errorf("this process performs for another (%s is set) and must call isolation.Serve", Variable)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Process{log: log, done: make(chan struct{}), stop: stop, changed: make(chan struct{})}
	child, err := p.begin()
	if err != nil {
		stop()
		return nil, fmt.Errorf("the performers' process cannot be started: %w", err)
	}
	go p.keep(ctx, child)
	return p, nil
}

// Set gives the performers of the other process that are named as those of set.
func (p *Process) Set(set performers.Set) performers.Set {
	all := performers.Set{}
	for kind := range set {
		all[kind] = remote{p, kind}
	}
	return all
}

// Close ends the process. What is performed is lost; so wait for it before.
func (p *Process) Close() error {
	p.stop()
	<-p.done
	return nil
}

// client is the present process, which may have to be started first.
func (p *Process) client(ctx context.Context) (workflowv1.PerformerServiceClient, error) {
	for {
		p.mu.Lock()
		conn, changed := p.conn, p.changed
		p.mu.Unlock()
		if conn != nil {
			return workflowv1.NewPerformerServiceClient(conn), nil
		}
		select {
		case <-changed:
		case <-p.done:
			return nil, performers.Interruption(errors.New("the performers' process has ended"))
		case <-ctx.Done():
			return nil, fmt.Errorf("the performers' process was not there: %w", ctx.Err())
		}
	}
}

// is says which process there is from now on.
func (p *Process) is(conn *grpc.ClientConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = conn
	close(p.changed)
	p.changed = make(chan struct{})
}

// keep has a process at all times until ctx ends.
func (p *Process) keep(ctx context.Context, child *exec.Cmd) {
	defer close(p.done)
	wait := shortest
	for {
		if child != nil {
			born := time.Now()
			err := p.outlive(ctx, child)
			if ctx.Err() != nil {
				return
			}
			p.log.Error("The performers' process died and is started again; what it performed counts as interrupted.", "error", err)
			if time.Since(born) >= settled {
				wait = shortest
			}
		}
		pause := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		wait = min(2*wait, longest)
		var err error
		if child, err = p.begin(); err != nil {
			p.log.Error("The performers' process cannot be started; no action is performed.", "error", err)
		}
	}
}

// outlive waits for the end of child, or brings it about when ctx ends.
func (p *Process) outlive(ctx context.Context, child *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = child.Process.Kill()
		err = <-ended
	}
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	p.is(nil)
	if conn != nil {
		_ = conn.Close()
	}
	return err
}

// begin starts a process.
func (p *Process) begin() (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, there, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer there.Close()
	conn, err := clientOf(here)
	if err != nil {
		_ = here.Close()
		return nil, err
	}
	// No context: it ends with this process, or by Close.
	child := exec.Command(program, os.Args[1:]...) //nolint:gosec,noctx // it is this very program
	child.Env = append(os.Environ(), Variable+"=1")
	child.ExtraFiles = []*os.File{there}
	// What the worker has to say on its own stdout is for it to say.
	child.Stdout, child.Stderr = os.Stderr, os.Stderr
	apart(child)
	if err := spawn.Start(child, Niceness); err != nil {
		_ = conn.Close()
		_ = here.Close()
		return nil, err
	}
	p.is(conn)
	return child, nil
}

// clientOf is a client of whoever is at the other end of a connection.
func clientOf(conn net.Conn) (*grpc.ClientConn, error) {
	var once sync.Once
	return grpc.NewClient("passthrough:///performers",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
		// There is one connection, and none after it.
		grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			var first net.Conn
			once.Do(func() { first = conn })
			if first == nil {
				return nil, errors.New("the performers' process is gone")
			}
			return first, nil
		}),
	)
}
