// Package site is an installation of gnomon made of separate processes, which are
// killed and started again: over one Temporal on a file and with rows in a file or in
// YDB's double, or as production has it, over a PostgreSQL and with rows in the double.
package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"gnomon/faults/postgres"
	"gnomon/faults/processes"
	"gnomon/faults/record"
	"gnomon/faults/roles"
)

// shortHeartbeat is the workers' heartbeat timeout: short, so that many kills fit.
const shortHeartbeat = 2 * time.Second

// Heartbeat is the workers' heartbeat timeout.
func (s *Site) Heartbeat() time.Duration { return s.heartbeat }

// Site is an installation. Its parts are started by its methods.
type Site struct {
	// Dir has all records, and the files of Temporal and of the store.
	Dir string
	// Address is Temporal's, GRPC the facade's, Target the receiver's.
	Address, GRPC, Target string

	Temporal, Facade, Inbox *processes.Process
	// Second is a facade beside Facade, SecondGRPC its address.
	Second     *processes.Process
	SecondGRPC string

	postgres *postgres.Server   // nil where Temporal is on a file
	ydb      *processes.Process // nil where the rows are in a file
	store    string
	// heartbeat is the workers' heartbeat timeout.
	heartbeat time.Duration

	injections *record.Log
	mu         sync.Mutex
	workers    []*processes.Process
	orders     int
}

// New starts Temporal, a receiver and what the rows are in on a directory, which is made.
func New(ctx context.Context, dir string, rows Rows) (*Site, error) {
	s, err := newSite(ctx, dir)
	if err != nil {
		return s, err
	}
	if rows == YDB {
		if err := s.startYDB(ctx); err != nil {
			return s, err
		}
	}
	return s, s.StartTemporal(ctx)
}

// newSite starts a receiver on a directory, which is made.
func newSite(ctx context.Context, dir string) (*Site, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	log, err := record.OpenLog(dir, record.InjectionsFile)
	if err != nil {
		return nil, err
	}
	s := &Site{Dir: dir, injections: log, heartbeat: shortHeartbeat, store: "sqlite:" + filepath.Join(dir, record.StoreFile)}
	if s.Inbox, err = processes.Start(dir, roles.Receiver, "--dir", dir); err != nil {
		return nil, err
	}
	s.Target, err = s.Inbox.Out(ctx, "127.0.0.1:")
	return s, err
}

// StartTemporal starts Temporal on what it has, and again at the same port.
func (s *Site) StartTemporal(ctx context.Context) (err error) {
	port := "0"
	if s.Address != "" {
		if _, port, err = net.SplitHostPort(s.Address); err != nil {
			return err
		}
	}
	if s.Temporal, err = processes.Start(s.Dir, roles.Temporal, append(s.database(), "--port", port)...); err != nil {
		return err
	}
	s.Address, err = s.Temporal.Out(ctx, "127.0.0.1:")
	return err
}

// Store is the name of the store.
func (s *Site) Store() string { return s.store }

// where is the address to serve at: the same every time.
func where(before string) string { return cmp.Or(before, "127.0.0.1:0") }

var servesAt = regexp.MustCompile(`The facade serves\..* grpc=(\S+)`)

// StartFacade starts the facade as it is shipped, and again at the same address.
func (s *Site) StartFacade(ctx context.Context) (err error) {
	s.Facade, s.GRPC, err = s.facade(ctx, s.GRPC)
	return err
}

// StartSecond starts another facade beside it, and again at the same address.
func (s *Site) StartSecond(ctx context.Context) (err error) {
	s.Second, s.SecondGRPC, err = s.facade(ctx, s.SecondGRPC)
	return err
}

// facade starts one and gives its address.
func (s *Site) facade(ctx context.Context, before string) (*processes.Process, string, error) {
	f, err := processes.Start(s.Dir, roles.Starter, "--temporal-address", s.Address,
		"--store", s.Store(), "--grpc-address", where(before), "--http-address", "", "--log-format", "text")
	if err != nil {
		return nil, before, err
	}
	line, err := f.Err(ctx, "The facade serves.")
	if err != nil {
		return f, before, err
	}
	match := servesAt.FindStringSubmatch(line)
	if match == nil {
		return f, before, fmt.Errorf("the facade says no address: %s", line)
	}
	return f, match[1], nil
}

// StartFaultyFacade starts a facade that takes orders, with a clock that may be wrong.
func (s *Site) StartFaultyFacade(ctx context.Context, clockOff time.Duration) (err error) {
	s.Facade, err = processes.Start(s.Dir, roles.FaultyStarter, "--temporal-address", s.Address,
		"--store", s.Store(), "--grpc-address", where(s.GRPC), "--clock-off", clockOff.String())
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
		"--pollers", strconv.Itoa(pollers), "--heartbeat-timeout", s.heartbeat.String())
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
		"--pollers", strconv.Itoa(pollers), "--heartbeat-timeout", s.heartbeat.String())
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
	_, _, err := s.order(ctx, p, o)
	return err
}

// order is Order, with what was sent and what was answered.
func (s *Site) order(ctx context.Context, p *processes.Process, o roles.Order) (roles.Order, string, error) {
	s.mu.Lock()
	s.orders++
	o.Number = s.orders
	s.mu.Unlock()
	if err := p.Tell(o); err != nil {
		return o, "", err
	}
	answer, err := p.Out(ctx, o.Answer())
	return o, answer, err
}

// Stop ends everything, gently.
func (s *Site) Stop() error {
	parts := append(s.Workers(), s.Facade, s.Second, s.Temporal, s.Inbox, s.ydb)
	for _, p := range parts {
		if p != nil {
			p.Stop()
		}
	}
	var err error
	if s.postgres != nil {
		err = s.postgres.Stop()
	}
	return errors.Join(err, s.injections.Close())
}
