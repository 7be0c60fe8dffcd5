package devserver

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"go.temporal.io/server/temporal"
)

// startTimeout bounds Start where the caller's context does not.
const startTimeout = time.Minute

// Server is a running Temporal server. Its methods may be called from any
// goroutine.
type Server struct {
	address   string
	uiAddress string
	stop      func()
}

// Start starts a server and returns when its frontend answers for each
// namespace and its Web UI serves. On an error what ran is stopped again, except
// that Temporal leaves its other services running in the process where one of
// them cannot start. The end of ctx, or a minute, ends the waiting, not a server
// that was returned.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	var parts stack
	srv, err := start(ctx, cfg, &parts)
	if err != nil {
		parts.unwind()
		return nil, err
	}
	srv.stop = sync.OnceFunc(parts.unwind)
	return srv, nil
}

// Address of the frontend, as host:port that a client in this process can dial.
func (s *Server) Address() string { return s.address }

// UIAddress of the Web UI, as host:port; empty without one.
func (s *Server) UIAddress() string { return s.uiAddress }

// Stop ends the server and returns when it ended, within 5 seconds as a rule;
// open long polls are given a second. It may be called more than once.
func (s *Server) Stop() { s.stop() }

func start(ctx context.Context, cfg Config, parts *stack) (*Server, error) {
	log := newLogger(cfg.Logger)
	p, err := choosePorts(ctx, cfg)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	parts.push(func() {
		if err := db.close(); err != nil {
			cfg.Logger.Warn("temporal's database did not close cleanly", "error", err)
		}
	})
	if err := prepareNamespaces(ctx, db.main, cfg.Namespaces, cfg.SearchAttributes); err != nil {
		return nil, err
	}
	srv := &Server{address: hostPort(cfg.dialIP(), p.frontend)}
	if err := startTemporal(cfg, p, db, log, parts); err != nil {
		return nil, fmt.Errorf("devserver: the Temporal server does not start: %w", err)
	}
	if err := awaitFrontend(ctx, srv.address, cfg.Namespaces); err != nil {
		return nil, err
	}
	if cfg.UIPort == NoUI {
		return srv, nil
	}
	ui, err := startUI(ctx, cfg, p)
	if err != nil {
		return nil, err
	}
	parts.push(ui.stop)
	srv.uiAddress = hostPort(cfg.dialIP(), p.ui)
	return srv, nil
}

func startTemporal(cfg Config, p ports, db *database, log *logger, parts *stack) error {
	var server temporal.Server
	err := guarded(log, func() (err error) {
		server, err = newTemporal(cfg, p, db, log)
		return err
	})
	if err != nil {
		return err
	}
	parts.push(func() {
		log.state.stopping.Store(true)
		if err := guarded(log, server.Stop); err != nil {
			cfg.Logger.Warn("the Temporal server did not stop cleanly", "error", err)
		}
	})
	return guarded(log, server.Start)
}

// stack ends parts in the reverse order of their start.
type stack struct{ ends []func() }

func (s *stack) push(end func()) { s.ends = append(s.ends, end) }

func (s *stack) unwind() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
	s.ends = nil
}

func isIPv6(ip string) bool {
	addr, err := netip.ParseAddr(ip)
	return err == nil && addr.Is6()
}
