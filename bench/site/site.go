package site

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"gnomon/bench/contenders"
	"gnomon/faults/postgres"
	"gnomon/faults/processes"
	"gnomon/receiver"
	"gnomon/store"
	"gnomon/store/open"
	"gnomon/worker"
)

// Kind is what Temporal and the mirror keep their data in.
type Kind string

// Kinds of sites.
const (
	// Memory: both in SQLite in memory, as with gnomon-dev --ephemeral.
	Memory Kind = "SQLite in memory"
	// File: both in SQLite on disk, every commit with an fsync.
	File Kind = "SQLite on disk"
	// Postgres: Temporal in PostgreSQL and the mirror in SQLite on disk, every commit
	// with an fsync.
	Postgres Kind = "PostgreSQL"
)

// kept is how many arrivals the receiver remembers.
const kept = 50_000

// Site is one Temporal server with what is measured on it.
type Site struct {
	Kind Kind
	// Dir is its directory, Log nearly silent.
	Dir string
	Log *slog.Logger
	// Client is that of the default namespace.
	Client client.Client
	Inbox  *receiver.Receiver

	temporal *processes.Process
	address  string
	postgres *postgres.Server
	ends     []func()
}

// Start starts a Temporal server and a receiver in a directory that is made. Close ends
// them.
func Start(ctx context.Context, kind Kind, dir string) (_ *Site, err error) {
	s := &Site{Kind: kind, Dir: dir, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // PostgreSQL's user has to pass
		return nil, err
	}
	var args []string
	switch kind {
	case File:
		args = []string{"--dir", s.TemporalDir()}
	case Postgres:
		if err := s.startPostgres(ctx); err != nil {
			return nil, err
		}
		args = []string{"--postgres", s.postgres.Address, "--password-file", s.postgres.PasswordFile}
	case Memory:
	}
	if s.temporal, err = processes.Start(dir, roleTemporal, args...); err != nil {
		return nil, err
	}
	if s.address, err = s.temporal.Out(ctx, ":"); err != nil {
		return nil, err
	}
	s.address = strings.TrimSpace(s.address)
	if s.Client, err = s.Dial(ctx, Namespace); err != nil {
		return nil, err
	}
	s.Inbox, err = receiver.Start(context.WithoutCancel(ctx), receiver.Config{Keep: kept})
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = s.Inbox.Close() })
	return s, nil
}

// TemporalDir is where a site on disk has Temporal's database.
func (s *Site) TemporalDir() string { return filepath.Join(s.Dir, "temporal") }

// startPostgres starts a PostgreSQL of the site's own, as it is shipped: every commit
// is on disk.
func (s *Site) startPostgres(ctx context.Context) error {
	if s.postgres != nil {
		return nil
	}
	var err error
	// In a directory that PostgreSQL's own user can pass.
	s.postgres, err = postgres.Start(ctx, postgres.Config{Settings: map[string]string{"shared_buffers": "256MB"}})
	return err
}

// Dial connects to a namespace with the SDK's defaults, its short identity among them;
// Close gives the connection up.
func (s *Site) Dial(ctx context.Context, namespace string) (client.Client, error) {
	return s.dial(ctx, namespace, "", client.ConnectionOptions{})
}

func (s *Site) dial(ctx context.Context, namespace, identity string, how client.ConnectionOptions) (client.Client, error) {
	c, err := client.DialContext(ctx, client.Options{
		HostPort: s.address, Namespace: namespace, Identity: identity, Logger: sdklog.NewStructuredLogger(s.Log),
		ConnectionOptions: how,
	})
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, c.Close)
	return c, nil
}

// mirror names the store that fits the site.
func (s *Site) mirror(name string) string {
	if s.Kind == Memory {
		return "sqlite::memory:"
	}
	return "sqlite:" + filepath.Join(s.Dir, name+".db")
}

// OpenMirror opens a mirror that fits the site.
func (s *Site) OpenMirror(ctx context.Context, name string) (store.Store, error) {
	rows, err := open.Store(ctx, s.mirror(name))
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = rows.Close() })
	return rows, nil
}

// Contender starts one of the contenders.
func (s *Site) Contender(ctx context.Context, name string) (contenders.Contender, error) {
	c, err := s.contender(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.ends = append(s.ends, c.Close)
	return c, nil
}

func (s *Site) contender(ctx context.Context, name string) (contenders.Contender, error) {
	switch name {
	case contenders.A1:
		return contenders.NewA1(s.Client)
	case contenders.A2:
		return contenders.NewA2(s.Client)
	case contenders.TS, contenders.Lifted:
		c, err := s.Dial(ctx, map[string]string{contenders.TS: SchedulesNS, contenders.Lifted: LiftedNS}[name])
		if err != nil {
			return nil, err
		}
		return contenders.NewSchedules(c, name)
	case contenders.Gnomon:
		c, rows, err := s.ofGnomon(ctx, "gnomon")
		if err != nil {
			return nil, err
		}
		return contenders.NewGnomon(contenders.GnomonConfig{Client: c, Store: rows, Queue: "gnomon", Logger: s.Log})
	case contenders.RV:
		if err := s.startPostgres(ctx); err != nil {
			return nil, err
		}
		url := fmt.Sprintf("postgres://%s:%s@%s/postgres?sslmode=disable&pool_max_conns=30", postgres.User, s.postgres.Password, s.postgres.Address)
		return contenders.NewRiver(ctx, url, s.Log)
	default:
		return nil, fmt.Errorf("there is no contender %q", name)
	}
}

// ofGnomon is a connection as gnomon's processes have it, and a mirror.
func (s *Site) ofGnomon(ctx context.Context, mirror string) (client.Client, store.Store, error) {
	rows, err := s.OpenMirror(ctx, mirror)
	if err != nil {
		return nil, nil, err
	}
	c, err := s.dial(ctx, Namespace, worker.Identity("bench"), worker.Connection(client.ConnectionOptions{}))
	return c, rows, err
}

// Systems starts gnomon with its batches, an agent on each node and a stage, in a directory
// that is made for the agents. Who starts it closes it.
func (s *Site) Systems(ctx context.Context, dir string, nodes []string) (*contenders.Systems, error) {
	c, rows, err := s.ofGnomon(ctx, "systems")
	if err != nil {
		return nil, err
	}
	return contenders.NewSystems(ctx, contenders.SystemsConfig{
		Client: c, Store: rows, Queue: "systems", Dir: dir, Nodes: nodes, Logger: s.Log,
	})
}

// MirrorPath is the file that a process on a task queue has its rows in.
func (s *Site) MirrorPath(queue string) string { return filepath.Join(s.Dir, queue+".db") }

// Process starts gnomon in a process of its own.
func (s *Site) Process(ctx context.Context, queue string, args ...string) (*processes.Process, string, error) {
	all := append([]string{
		"--temporal-address", s.address, "--task-queue", queue, "--store", "sqlite:" + s.MirrorPath(queue),
	}, args...)
	p, err := processes.Start(s.Dir, roleGnomon, all...)
	if err != nil {
		return nil, "", err
	}
	s.ends = append(s.ends, func() { p.Kill() })
	at, err := p.Out(ctx, "")
	return p, strings.TrimSpace(at), err
}

// Close ends everything, the last first. The directory stays.
func (s *Site) Close() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
	s.ends = nil
	if s.temporal != nil {
		s.temporal.Stop()
	}
	if s.postgres != nil {
		_ = s.postgres.Stop()
	}
}
