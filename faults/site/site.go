// Package site is an installation of gnomon made of separate processes over one
// Temporal on a file, which are killed and started again.
package site

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"gnomon/faults/processes"
	"gnomon/faults/record"
	"gnomon/faults/roles"
)

// Heartbeat is the workers' heartbeat timeout: short, so that many kills fit.
const Heartbeat = 2 * time.Second

// Site is an installation. Its parts are started by its methods.
type Site struct {
	// Dir has Temporal's file, the store and all records.
	Dir string
	// Address is Temporal's, GRPC the facade's, Target the receiver's.
	Address, GRPC, Target string

	Temporal, Facade, Inbox *processes.Process

	injections *record.Log
	mu         sync.Mutex
	workers    []*processes.Process
	orders     int
}

// New starts Temporal and a receiver on a directory, which is made.
func New(ctx context.Context, dir string) (*Site, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	log, err := record.OpenLog(dir, record.InjectionsFile)
	if err != nil {
		return nil, err
	}
	s := &Site{Dir: dir, injections: log}
	if s.Inbox, err = processes.Start(dir, roles.Receiver, "--dir", dir); err != nil {
		return nil, err
	}
	if s.Target, err = s.Inbox.Out(ctx, "127.0.0.1:"); err != nil {
		return nil, err
	}
	return s, s.StartTemporal(ctx)
}

// StartTemporal starts Temporal on its file, and again at the same port.
func (s *Site) StartTemporal(ctx context.Context) (err error) {
	port := "0"
	if s.Address != "" {
		if _, port, err = net.SplitHostPort(s.Address); err != nil {
			return err
		}
	}
	if s.Temporal, err = processes.Start(s.Dir, roles.Temporal, "--dir", s.Dir, "--port", port); err != nil {
		return err
	}
	s.Address, err = s.Temporal.Out(ctx, "127.0.0.1:")
	return err
}

// Store is the name of the store.
func (s *Site) Store() string { return "sqlite:" + filepath.Join(s.Dir, record.StoreFile) }

// where is the address to serve at: the same every time.
func (s *Site) where() string {
	if s.GRPC == "" {
		return "127.0.0.1:0"
	}
	return s.GRPC
}

var servesAt = regexp.MustCompile(`The facade serves\..* grpc=(\S+)`)

// StartFacade starts the facade as it is shipped.
func (s *Site) StartFacade(ctx context.Context) (err error) {
	s.Facade, err = processes.Start(s.Dir, roles.Starter, "--temporal-address", s.Address,
		"--store", s.Store(), "--grpc-address", s.where(), "--http-address", "")
	if err != nil {
		return err
	}
	line, err := s.Facade.Err(ctx, "The facade serves.")
	if err != nil {
		return err
	}
	match := servesAt.FindStringSubmatch(line)
	if match == nil {
		return fmt.Errorf("the facade says no address: %s", line)
	}
	s.GRPC = match[1]
	return nil
}

// StartFaultyFacade starts a facade that takes orders, with a clock that may be wrong.
func (s *Site) StartFaultyFacade(ctx context.Context, clockOff time.Duration) (err error) {
	s.Facade, err = processes.Start(s.Dir, roles.FaultyStarter, "--temporal-address", s.Address,
		"--store", s.Store(), "--grpc-address", s.where(), "--clock-off", clockOff.String())
	if err != nil {
		return err
	}
	s.GRPC, err = s.Facade.Out(ctx, "127.0.0.1:")
	return err
}

// pollers is few: two cores.
const pollers = 4

// StartWorker starts a worker as it is shipped and waits until it polls.
func (s *Site) StartWorker(ctx context.Context) error {
	w, err := processes.Start(s.Dir, roles.Worker, "--temporal-address", s.Address, "--store", s.Store(),
		"--pollers", strconv.Itoa(pollers), "--heartbeat-timeout", Heartbeat.String())
	if err != nil {
		return err
	}
	s.add(w)
	_, err = w.Err(ctx, "The worker polls.")
	return err
}

// StartFaultyWorker starts a worker that takes orders and has planted performers.
func (s *Site) StartFaultyWorker(ctx context.Context) error {
	w, err := processes.Start(s.Dir, roles.FaultyWorker, "--temporal-address", s.Address, "--store", s.Store(),
		"--pollers", strconv.Itoa(pollers), "--heartbeat-timeout", Heartbeat.String())
	if err != nil {
		return err
	}
	s.add(w)
	_, err = w.Out(ctx, "polls")
	return err
}

func (s *Site) add(w *processes.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers = append(s.workers, w)
}

// Workers are those that were started and not killed.
func (s *Site) Workers() []*processes.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*processes.Process(nil), s.workers...)
}

// KillWorker kills the oldest worker -9 and says when.
func (s *Site) KillWorker() time.Time {
	s.mu.Lock()
	w := s.workers[0]
	s.workers = s.workers[1:]
	s.mu.Unlock()
	return w.Kill()
}

// Inject records what was done.
func (s *Site) Inject(i record.Injection) {
	i.At, i.Until = i.At.UTC(), i.Until.UTC()
	s.injections.Add(i)
}

// Order gives an order to a process with faults inside and waits until it is done.
func (s *Site) Order(ctx context.Context, p *processes.Process, o roles.Order) error {
	s.mu.Lock()
	s.orders++
	o.Number = s.orders
	s.mu.Unlock()
	if err := p.Tell(o); err != nil {
		return err
	}
	_, err := p.Out(ctx, o.Answer())
	return err
}

// Stop ends everything, gently.
func (s *Site) Stop() error {
	parts := append(s.Workers(), s.Facade, s.Temporal, s.Inbox)
	for _, p := range parts {
		if p != nil {
			p.Stop()
		}
	}
	return s.injections.Close()
}
