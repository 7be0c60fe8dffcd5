package bind

import (
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
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
	"gnomon/faults/processes"
	"gnomon/faults/roles"
)

const (
	// within bounds what must come on a machine that is busy.
	within = 4 * time.Minute
	// exchange is the time limit of each of a worker's exchanges with BIND. A turn lasts
	// six of them and some seconds, and so long a successor waits.
	exchange = 1500 * time.Millisecond
	// patience is that of the facade, whose calls hold nobody up.
	patience = 30 * time.Second
)

// site is an installation: a facade, workers, a store and a task queue of their own,
// over the Temporal that the tests share and a name server.
type site struct {
	dir, queue string
	server     *bindtest.Server
	proxy      *bindtest.Proxy
	zones      []string
	// notifications is the file of the channels, none if empty.
	notifications string
	client        gnomonv1.BatchServiceClient
}

// open starts a facade for zones of a server. Workers come by work, and reach the server
// through the site's proxy.
func open(t *testing.T, server *bindtest.Server, zones ...string) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), queue: strings.ReplaceAll(t.Name(), "/", "."), server: server, zones: zones}
	s.proxy = server.Proxy(t)
	s.write(t, "key", server.Secret)
	// The facade needs no key and not the proxy.
	s.zonesFile(t, "facade.yaml", server.Address(), patience, "")
	s.zonesFile(t, "worker.yaml", s.proxy.Address, exchange, fmt.Sprintf(
		"    key: {name: %q, algorithm: %s, secret: {file: %s}}\n", bindtest.KeyName, server.Algorithm, filepath.Join(s.dir, "key")))
	facade := s.start(t, roles.Starter, "--grpc-address", "127.0.0.1:0", "--http-address", "", "--metrics-address", "",
		"--log-format", "text", "--dns-zones", filepath.Join(s.dir, "facade.yaml"))
	line, err := facade.Err(t.Context(), "The facade serves.")
	require.NoError(t, err)
	match := regexp.MustCompile(` grpc=(\S+)`).FindStringSubmatch(line)
	require.NotNil(t, match, line)
	conn, err := grpc.NewClient(match[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	s.client = gnomonv1.NewBatchServiceClient(conn)
	return s
}

func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
}

func (s *site) zonesFile(t *testing.T, name, address string, timeout time.Duration, key string) {
	t.Helper()
	text := "zones:\n"
	for _, zone := range s.zones {
		text += fmt.Sprintf("  - name: %s\n    server: %s\n    timeout: %s\n    clock_skew: 100ms\n"+
			"    ttl: {min: 60, max: 86400}\n    high_value: [\"*.prod.%s\"]\n%s", zone, address, timeout, zone, key)
	}
	s.write(t, name, text)
}

// start starts a process of the site, which ends with the test at the latest.
func (s *site) start(t *testing.T, role string, args ...string) *processes.Process {
	t.Helper()
	p, err := processes.Start(t.TempDir(), role, append(args, "--temporal-address", temporal.Address(),
		"--store", "sqlite:"+filepath.Join(s.dir, "gnomon.db"), "--task-queue", s.queue)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the end of what %s, process %d, wrote:\n%s", role, p.PID(), p.Tail())
		}
	})
	return p
}

// workerFlags are those of both kinds of workers.
func (s *site) workerFlags() []string {
	return []string{"--heartbeat-timeout", "1s", "--pollers", "2", "--dns-zones", filepath.Join(s.dir, "worker.yaml")}
}

// work starts a worker and waits until it polls.
func (s *site) work(t *testing.T) *processes.Process {
	t.Helper()
	flags := append(s.workerFlags(), "--metrics-address", "", "--reconcile-interval", "0s", "--log-format", "text")
	if s.notifications != "" {
		flags = append(flags, "--notifications", s.notifications)
	}
	p := s.start(t, roles.Worker, flags...)
	_, err := p.Err(t.Context(), "The worker polls.")
	require.NoError(t, err)
	return p
}

// faultyWork is work with a store that can be told to fail.
func (s *site) faultyWork(t *testing.T) *processes.Process {
	t.Helper()
	p := s.start(t, roles.FaultyWorker, s.workerFlags()...)
	_, err := p.Out(t.Context(), "polls")
	require.NoError(t, err)
	return p
}

// soon is a time at which a batch that is submitted now has not begun.
func soon() time.Time { return time.Now().Add(2 * time.Second) }

// submit submits changes for a time. Ids are shared by all tests.
func (s *site) submit(t *testing.T, id string, at time.Time, changes ...*gnomonv1.DnsRecordChange) *gnomonv1.Batch {
	t.Helper()
	b, err := s.client.CreateBatch(t.Context(), request(id, at, changes...))
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_PENDING, b.GetStatus().GetState())
	return b
}

func request(id string, at time.Time, changes ...*gnomonv1.DnsRecordChange) *gnomonv1.CreateBatchRequest {
	b := &gnomonv1.Batch{Id: id, ScheduledAt: timestamppb.New(at)}
	for _, c := range changes {
		b.Changes = append(b.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: c}})
	}
	return &gnomonv1.CreateBatchRequest{Batch: b}
}

// get reads a batch.
func (s *site) get(t *testing.T, id string) *gnomonv1.Batch {
	t.Helper()
	b, err := s.client.GetBatch(t.Context(), &gnomonv1.GetBatchRequest{Id: id})
	require.NoError(t, err)
	return b
}

// reaches watches a batch until it is in a state, or another that it does not leave by
// itself, which fails the test.
func (s *site) reaches(t *testing.T, id string, want gnomonv1.BatchStatus_State) *gnomonv1.Batch {
	t.Helper()
	return s.reachesIn(t, id, 0, want)
}

// reachesIn is reaches in a round or a later one: what was before a review is passed over.
func (s *site) reachesIn(t *testing.T, id string, round uint32, want gnomonv1.BatchStatus_State) *gnomonv1.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	watch, err := s.client.WatchBatch(ctx, &gnomonv1.WatchBatchRequest{Id: id})
	require.NoError(t, err)
	for {
		r, err := watch.Recv()
		require.NoError(t, err, "batch %s is not %s", id, want)
		st := r.GetBatch().GetStatus()
		if st.GetRound() < round {
			continue
		}
		if st.GetState() == want {
			return r.GetBatch()
		}
		switch st.GetState() {
		case gnomonv1.BatchStatus_PENDING, gnomonv1.BatchStatus_PROCESSING:
		default:
			t.Fatalf("batch %s is %s, not %s: %s", id, st.GetState(), want, st)
		}
	}
}

// change is a change in words: "ADD www A 192.0.2.1", names relative to the zone. Of
// several records each is an argument of its own.
func change(t *testing.T, zone, action, name, kind string, data ...string) *gnomonv1.DnsRecordChange {
	t.Helper()
	require.Contains(t, gnomonv1.DnsRecordChange_Action_value, action)
	require.Contains(t, gnomonv1.DnsRecordChange_Type_value, kind)
	full := name + "." + zone
	if name == "@" {
		full = zone
	}
	return &gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_Action(gnomonv1.DnsRecordChange_Action_value[action]),
		Name:   full, Type: gnomonv1.DnsRecordChange_Type(gnomonv1.DnsRecordChange_Type_value[kind]), Data: data,
	}
}

// from says what must stand before a change.
func from(c *gnomonv1.DnsRecordChange, previous ...string) *gnomonv1.DnsRecordChange {
	c.PreviousData = previous
	return c
}
