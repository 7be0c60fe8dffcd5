package stages

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/processes"
	"gnomon/faults/roles"
	"gnomon/store"
	"gnomon/store/open"
)

const (
	// heartbeat is the workers' heartbeat timeout: short, so that many kills fit.
	heartbeat = 2 * time.Second
	// patient is the one that workers are shipped with, for where none is killed: a machine that
	// does other things may keep a process from its turn for longer than the short one.
	patient = 10 * time.Second
)

// part is a process that is started again at the address that it had.
type part struct {
	*processes.Process

	name  string
	start func(t *testing.T)
	// at is its address.
	at string
}

// site is an installation whose parts are processes.
type site struct {
	dir, file, rows string
	temporal        *part
	facade          *part
	workers         []*part
	// servers are those of stages, by names.
	servers  map[string]*part
	entities gnomonv1.EntityServiceClient
}

// declared is a stage as the file of stages has it.
type declared struct {
	name, entityType, server string
	more                     string // more lines of the file
}

// openSite starts everything.
func openSite(t *testing.T, workers int, stages ...declared) *site {
	t.Helper()
	return openBeating(t, heartbeat, workers, stages...)
}

// openBeating is openSite with another heartbeat timeout.
func openBeating(t *testing.T, heartbeat time.Duration, workers int, stages ...declared) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{dir: dir, file: filepath.Join(dir, "stages.yaml"), rows: "sqlite:" + filepath.Join(dir, "gnomon.db"), servers: map[string]*part{}}
	text := "stages:\n"
	for _, d := range stages {
		server := s.servers[d.server]
		if server == nil {
			server = s.server(t, d.server)
		}
		text += fmt.Sprintf("  - name: %s\n    entityType: %s\n    address: %q\n", d.name, d.entityType, server.at)
		if fields := interests[d.name]; len(fields) > 0 {
			text += "    fields: [" + strings.Join(fields, ", ") + "]\n"
		}
		text += d.more
	}
	require.NoError(t, os.WriteFile(s.file, []byte(text), 0o600))
	s.temporal = s.part(t, "temporal", func(t *testing.T) {
		t.Helper()
		_, port, _ := strings.Cut(cmp.Or(s.temporal.at, ":0"), ":")
		s.temporal.Process = s.run(t, roles.Temporal, "--dir", dir, "--port", port)
		s.temporal.at = strings.TrimSpace(s.says(t, s.temporal.Out, "127.0.0.1:"))
	})
	s.temporal.start(t)
	s.facade = s.part(t, "facade", func(t *testing.T) {
		t.Helper()
		s.facade.Process = s.run(t, roles.Starter, "--temporal-address", s.temporal.at, "--store", s.rows, "--stages", s.file,
			"--grpc-address", cmp.Or(s.facade.at, "127.0.0.1:0"), "--http-address", "", "--metrics-address", "", "--log-format", "text")
		s.facade.at = servesAt.FindStringSubmatch(s.says(t, s.facade.Err, "The facade serves."))[1]
	})
	s.facade.start(t)
	for i := range workers {
		w := s.part(t, fmt.Sprintf("worker %d", i), nil)
		w.start = func(t *testing.T) {
			t.Helper()
			w.Process = s.run(t, roles.Worker, "--temporal-address", s.temporal.at, "--store", s.rows, "--stages", s.file, "--publish", "onsaved",
				"--pollers", "4", "--heartbeat-timeout", heartbeat.String(), "--isolate-performers=false", "--reconcile-interval", "0s",
				"--metrics-address", "", "--log-format", "text")
			s.says(t, w.Err, "The worker polls.")
		}
		w.start(t)
		s.workers = append(s.workers, w)
	}
	s.connect(t)
	return s
}

var servesAt = regexp.MustCompile(`The facade serves\..* grpc=(\S+)`)

// server starts a process that serves stages.
func (s *site) server(t *testing.T, name string) *part {
	t.Helper()
	p := s.part(t, "stages "+name, nil)
	p.start = func(t *testing.T) {
		t.Helper()
		p.Process = s.run(t, roleStages, cmp.Or(p.at, "127.0.0.1:0"), filepath.Join(s.dir, name+".jsonl"))
		p.at = strings.TrimSpace(s.says(t, p.Out, "127.0.0.1:"))
	}
	p.start(t)
	s.servers[name] = p
	return p
}

// part is one that ends with the test.
func (s *site) part(t *testing.T, name string, start func(*testing.T)) *part {
	t.Helper()
	p := &part{name: name, start: start}
	t.Cleanup(func() {
		if p.Process == nil {
			return
		}
		p.Kill()
		if t.Failed() {
			t.Logf("the end of what %s, process %d, wrote:\n%s", name, p.PID(), p.Tail())
		}
	})
	return p
}

func (s *site) run(t *testing.T, role string, args ...string) *processes.Process {
	t.Helper()
	p, err := processes.Start(s.dir, role, args...)
	require.NoError(t, err)
	return p
}

// says waits for a line.
func (s *site) says(t *testing.T, where func(context.Context, string) (string, error), want string) string {
	t.Helper()
	line, err := where(t.Context(), want)
	require.NoError(t, err)
	return line
}

// connect makes a client that finds a facade again that was started anew.
func (s *site) connect(t *testing.T) {
	t.Helper()
	soon := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.2, MaxDelay: 200 * time.Millisecond}
	conn, err := grpc.NewClient(s.facade.at, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: time.Second}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	s.entities = gnomonv1.NewEntityServiceClient(conn)
}

// open opens the store beside the processes.
func (s *site) open(t *testing.T) store.Store {
	t.Helper()
	rows, err := open.Store(t.Context(), s.rows)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	return rows
}

// again is kill -9 of parts, all before any is started again. It says when the first was
// killed.
func again(t *testing.T, parts ...*part) (at time.Time) {
	t.Helper()
	for _, p := range parts {
		require.True(t, p.Alive(), "%s ended by itself:\n%s", p.name, p.Tail())
		if when := p.Kill(); at.IsZero() {
			at = when
		}
	}
	for _, p := range parts {
		p.start(t)
	}
	return at
}
