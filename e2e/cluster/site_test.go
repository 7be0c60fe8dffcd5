package cluster

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/agent"
	"gnomon/agent/kind"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/starter"
	"gnomon/store/sqlite"
	"gnomon/worker"
)

// within bounds what must come on a machine that is busy.
const within = 2 * time.Minute

// site is an installation with a task queue and a cluster of its own, over the Temporal
// that the tests share.
type site struct {
	cluster, queue string
	temporal       client.Client
	rows           *sqlite.Store
	clusters       gnomonv1.ClusterServiceClient
	playbooks      gnomonv1.PlaybookServiceClient
	rest           string
}

// open starts a facade and a worker, with a cycle every second while there is something
// to do.
func open(t *testing.T) *site {
	t.Helper()
	return openWith(t, &workflowv1.ClusterSettings{Interval: durationpb.New(time.Second), NodeTimeout: durationpb.New(5 * time.Second)})
}

// openWith is open with other settings.
func openWith(t *testing.T, settings *workflowv1.ClusterSettings) *site {
	t.Helper()
	s := openFacade(t, temporal.Address(), sqlite.Config{Path: sqlite.MemoryPath})
	s.work(t, settings)
	return s
}

// work starts a worker in this process.
func (s *site) work(t *testing.T, settings *workflowv1.ClusterSettings) {
	t.Helper()
	w, err := worker.New(s.temporal, worker.Config{TaskQueue: s.queue, Store: s.rows, StopGrace: time.Second, Logger: quiet, Clusters: settings})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

var quiet = slog.New(slog.DiscardHandler)

// openFacade starts a facade alone, before a Temporal.
func openFacade(t *testing.T, at string, in sqlite.Config) *site {
	t.Helper()
	s := &site{cluster: strings.ToLower(t.Name()), queue: t.Name()}
	var err error
	s.temporal, err = client.DialContext(t.Context(), client.Options{HostPort: at, Logger: sdklog.NewStructuredLogger(quiet)})
	require.NoError(t, err)
	t.Cleanup(s.temporal.Close)
	s.rows, err = sqlite.Open(t.Context(), in)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.rows.Close()) })

	services, ready, err := starter.NewServices(starter.Config{
		Client: s.temporal, TaskQueue: s.queue, Store: s.rows, ApplyTimeout: 30 * time.Second, WatchInterval: 10 * time.Millisecond, Logger: quiet,
	})
	require.NoError(t, err)
	facade, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", CallTimeout: within, Logger: quiet,
	}, services, ready)
	require.NoError(t, err)
	require.NoError(t, facade.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, facade.Stop(ctx))
	})
	s.rest = "http://" + facade.HTTPAddr()
	conn, err := grpc.NewClient(facade.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	s.clusters, s.playbooks = gnomonv1.NewClusterServiceClient(conn), gnomonv1.NewPlaybookServiceClient(conn)
	return s
}

// node is an agent that runs.
type node struct {
	dir  string
	stop func()
	// local is its own API.
	local gnomonv1.AgentServiceClient
}

// agent starts the agent of a node, which registers itself. Change may be nil.
func (s *site) agent(t *testing.T, name string, change func(*agent.Config)) *node {
	t.Helper()
	return s.agentIn(t, t.TempDir(), name, change)
}

// agentIn is agent with the directory of one that was stopped.
func (s *site) agentIn(t *testing.T, dir, name string, change func(*agent.Config)) *node {
	t.Helper()
	n := &node{dir: dir}
	config := agent.Config{
		Cluster: s.cluster, Node: name, DataDir: dir, Client: s.temporal, ClusterTaskQueue: s.queue,
		LocalAddress: "unix:" + filepath.Join(dir, "s"), StopGrace: time.Millisecond,
		Exec:   kind.ExecConfig{Allow: []string{"/bin/sh -c **"}},
		Logger: quiet,
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- agent.Run(ctx, config, func(address string) { started <- address }) }()
	stopped := false
	n.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(n.stop)
	var address string
	select {
	case address = <-started:
	case err := <-ended:
		require.FailNow(t, "the agent ended", "%v", err)
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	n.local = gnomonv1.NewAgentServiceClient(conn)
	return n
}

// health waits until the cluster has seen these nodes so.
func (s *site) health(t *testing.T, want gnomonv1.Node_Health, names ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		c, err := s.clusters.GetCluster(t.Context(), &gnomonv1.GetClusterRequest{Cluster: s.cluster})
		if err != nil {
			require.Equal(t, codes.NotFound, status.Code(err), "%v", err) // no agent has told yet
			return false
		}
		seen := map[string]gnomonv1.Node_Health{}
		for _, n := range c.GetNodes() {
			seen[n.GetName()] = n.GetHealth()
		}
		for _, name := range names {
			if seen[name] != want {
				return false
			}
		}
		return true
	}, within, 20*time.Millisecond, "%v are not %s", names, want)
}

// exec is a line for the shell as an action.
func exec(line string) *gnomonv1.ExecAction {
	return &gnomonv1.ExecAction{Argv: []string{"/bin/sh", "-c", line}}
}

// schedule schedules a line on a node.
func (s *site) schedule(t *testing.T, id, node, line string, change func(*gnomonv1.NodeAction)) *gnomonv1.NodeAction {
	t.Helper()
	a := &gnomonv1.NodeAction{Id: id, Node: node, RequestedBy: "ann", Action: &gnomonv1.NodeAction_Exec{Exec: exec(line)}}
	if change != nil {
		change(a)
	}
	a, err := s.clusters.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: s.cluster, Action: a})
	require.NoError(t, err)
	return a
}

// reaches watches an action until it is in a state. An end in another one fails the test.
// It returns the states that were seen.
func (s *site) reaches(t *testing.T, id string, want gnomonv1.NodeAction_State) (last *gnomonv1.NodeAction, seen []gnomonv1.NodeAction_State) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		// An action that began on its agent is not known at first.
		watch, err := s.clusters.WatchNodeAction(ctx, &gnomonv1.WatchNodeActionRequest{Cluster: s.cluster, Id: id})
		require.NoError(t, err)
		for {
			r, err := watch.Recv()
			if status.Code(err) == codes.NotFound {
				break
			}
			require.NoError(t, err, "action %s is not %s but %v", id, want, last)
			last = r.GetAction()
			seen = append(seen, last.GetState())
			if last.GetState() == want {
				return last, seen
			}
			require.Nil(t, last.GetFinishTime(), "action %s is not %s but %v", id, want, last)
		}
	}
}

// ends watches a playbook until it has ended.
func (s *site) ends(t *testing.T, id string) *gnomonv1.Playbook {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	watch, err := s.playbooks.WatchPlaybook(ctx, &gnomonv1.WatchPlaybookRequest{Id: id})
	require.NoError(t, err)
	var last *gnomonv1.Playbook
	for {
		r, err := watch.Recv()
		if err != nil && last.GetStatus().GetFinishTime() != nil {
			return last
		}
		require.NoError(t, err, "playbook %s has not ended", id)
		last = r.GetPlaybook()
	}
}

// refused holds that a call was refused for a reason, and in which state.
func refused(t *testing.T, err error, code codes.Code, reason, state string) {
	t.Helper()
	require.Equal(t, code, status.Code(err), "%v", err)
	info := infoOf(err)
	require.Equal(t, reason, info.GetReason(), "%v", err)
	require.Equal(t, state, info.GetMetadata()["state"], "%v", err)
}
