package cluster

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/agent"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// gate is where a program waits for the test: it says that it runs, and goes on when it is
// let.
type gate struct{ running, release string }

func newGate(t *testing.T) gate {
	t.Helper()
	dir := t.TempDir()
	g := gate{filepath.Join(dir, "running"), filepath.Join(dir, "release")}
	require.NoError(t, syscall.Mkfifo(g.running, 0o600))
	require.NoError(t, syscall.Mkfifo(g.release, 0o600))
	return g
}

// line is the program.
func (g gate) line() string { return "echo >" + g.running + "; read x <" + g.release }

// awaits waits until it runs.
func (g gate) awaits(t *testing.T) {
	t.Helper()
	_, err := os.ReadFile(g.running)
	require.NoError(t, err)
}

// opens lets it go on.
func (g gate) opens(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(g.release, []byte("x\n"), 0o600))
}

// deaf is a way to Temporal on which news are lost while it is told so: who sends them
// hears that they were taken.
type deaf struct {
	client.Client

	lose atomic.Bool
	lost atomic.Int64
}

func (s *site) deaf(t *testing.T) *deaf {
	t.Helper()
	d := &deaf{}
	swallow := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if r, ok := reply.(*workflowservice.SignalWithStartWorkflowExecutionResponse); ok && d.lose.Load() {
			r.RunId = "lost"
			d.lost.Add(1)
			return nil
		}
		return next(ctx, method, req, reply, conn, o...)
	}
	var err error
	d.Client, err = client.DialContext(t.Context(), client.Options{
		HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(quiet),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(swallow)}},
	})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func (s *site) command(t *testing.T, id, verb string) error {
	t.Helper()
	var err error
	switch verb {
	case "approve":
		_, err = s.clusters.ApproveNodeAction(t.Context(), &gnomonv1.ApproveNodeActionRequest{Cluster: s.cluster, Id: id, DecidedBy: "bob"})
	case "reject":
		_, err = s.clusters.RejectNodeAction(t.Context(), &gnomonv1.RejectNodeActionRequest{Cluster: s.cluster, Id: id, DecidedBy: "bob"})
	default:
		_, err = s.clusters.CancelNodeAction(t.Context(), &gnomonv1.CancelNodeActionRequest{Cluster: s.cluster, Id: id, Reason: "enough"})
	}
	return err
}

// only holds that an action's state refuses all but these commands, which are not tried.
func (s *site) only(t *testing.T, id string, state gnomonv1.NodeAction_State, allowed ...string) {
	t.Helper()
	can := map[string]bool{}
	for _, verb := range allowed {
		can[verb] = true
	}
	for _, verb := range []string{"approve", "reject", "cancel"} {
		if !can[verb] {
			refused(t, s.command(t, id, verb), codes.FailedPrecondition, "NODE_ACTION_STATE", state.String())
		}
	}
	got, err := s.clusters.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: s.cluster, Id: id, Fresh: true})
	require.NoError(t, err)
	require.Equal(t, state, got.GetState(), "a refused command changes nothing")
}

// every state is reached on the real path, and in each of them only
// the commands that it allows work; the others are FAILED_PRECONDITION with the state.
func TestStatesAndCommands(t *testing.T) {
	t.Parallel()
	s := open(t)
	healthy := filepath.Join(t.TempDir(), "healthy")
	s.agent(t, "n1", func(c *agent.Config) {
		c.Health = agent.HealthConfig{Command: []string{"/usr/bin/test", "-e", healthy}, MaxAge: time.Millisecond}
	})
	s.health(t, gnomonv1.Node_DOWN, "n1")

	waits := func(a *gnomonv1.NodeAction) { a.Approve = true }
	for _, id := range []string{"approved", "rejected", "withdrawn"} {
		a := s.schedule(t, id, "n1", "true", waits)
		require.Equal(t, gnomonv1.NodeAction_PENDING_APPROVE, a.GetState())
		s.only(t, id, gnomonv1.NodeAction_PENDING_APPROVE, "approve", "reject", "cancel")
	}
	require.NoError(t, s.command(t, "rejected", "reject"))
	a, _ := s.reaches(t, "rejected", gnomonv1.NodeAction_CANCELLED)
	require.Equal(t, "bob", a.GetDecidedBy())
	s.only(t, "rejected", gnomonv1.NodeAction_CANCELLED)
	require.NoError(t, s.command(t, "withdrawn", "cancel"))
	a, _ = s.reaches(t, "withdrawn", gnomonv1.NodeAction_CANCELLED)
	require.Equal(t, "enough", a.GetReason())
	require.NoError(t, s.command(t, "approved", "approve"))
	s.only(t, "approved", gnomonv1.NodeAction_PENDING_SCHEDULE, "cancel")
	refused(t, s.command(t, "none", "approve"), codes.NotFound, "NODE_ACTION_NOT_FOUND", "")

	// the node is not UP. Two whole cycles that visited it have given it nothing.
	s.cycle(t)
	s.cycle(t)
	s.only(t, "approved", gnomonv1.NodeAction_PENDING_SCHEDULE, "cancel")
	got, err := s.clusters.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: s.cluster, Id: "approved", Fresh: true})
	require.NoError(t, err)
	require.Nil(t, got.GetPushTime())
	require.NoError(t, os.WriteFile(healthy, nil, 0o600))
	a, _ = s.reaches(t, "approved", gnomonv1.NodeAction_DONE)
	require.Equal(t, "bob", a.GetDecidedBy())
	s.only(t, "approved", gnomonv1.NodeAction_DONE)

	s.schedule(t, "failing", "n1", "echo no >&2; exit 3", nil)
	a, _ = s.reaches(t, "failing", gnomonv1.NodeAction_FAILED)
	require.EqualValues(t, 3, a.GetResult().GetCode())
	require.Equal(t, gnomonv1.NodeAction_UNSUCCESSFUL, a.GetClass())
	s.only(t, "failing", gnomonv1.NodeAction_FAILED)

	g := newGate(t)
	s.schedule(t, "long", "n1", g.line(), nil)
	g.awaits(t)
	s.reaches(t, "long", gnomonv1.NodeAction_RUNNING)
	s.only(t, "long", gnomonv1.NodeAction_RUNNING, "cancel")
	require.NoError(t, s.command(t, "long", "cancel"))
	a, _ = s.reaches(t, "long", gnomonv1.NodeAction_CANCELLED)
	require.Equal(t, "enough", a.GetReason())
	s.only(t, "long", gnomonv1.NodeAction_CANCELLED)
}

// cycle nudges the cluster and waits until that cycle is over.
func (s *site) cycle(t *testing.T) {
	t.Helper()
	r, err := s.clusters.NudgeCluster(t.Context(), &gnomonv1.NudgeClusterRequest{Cluster: s.cluster})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		c, err := s.clusters.GetCluster(t.Context(), &gnomonv1.GetClusterRequest{Cluster: s.cluster})
		require.NoError(t, err)
		last := c.GetLastCycle()
		return last.GetNumber() > r.GetCycle() || last.GetNumber() == r.GetCycle() && last.GetDuration() != nil
	}, within, 10*time.Millisecond)
}

// what was scheduled on the agent itself is adopted, NEW and RUNNING, and an
// action of the same id with other work stands instead of the core's.
func TestAgentWins(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	g := newGate(t)
	local := func(id, line string) {
		_, err := n.local.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
			Id: id, RequestedBy: "carl", Action: &gnomonv1.NodeAction_Exec{Exec: exec(line)},
		}})
		require.NoError(t, err)
	}
	s.schedule(t, "same", "n1", "echo core", func(a *gnomonv1.NodeAction) { a.Approve = true })
	local("blocks", g.line())
	g.awaits(t)
	local("same", "echo agent")
	adopted, _ := s.reaches(t, "blocks", gnomonv1.NodeAction_RUNNING)
	require.Equal(t, gnomonv1.NodeAction_AGENT, adopted.GetOrigin())
	require.Equal(t, "carl", adopted.GetRequestedBy())
	won, _ := s.reaches(t, "same", gnomonv1.NodeAction_NEW)
	require.NotNil(t, won.GetOverwriteTime())
	require.Equal(t, "echo agent", won.GetExec().GetArgv()[2])
	s.only(t, "same", gnomonv1.NodeAction_NEW, "cancel")
	g.opens(t)
	won, _ = s.reaches(t, "same", gnomonv1.NodeAction_DONE)
	require.Equal(t, "agent\n", won.GetResult().GetOutput())
}

// an id that the agent has used for other work, which the core has heard of long ago,
// is answered with what stands there; nothing waits for it for ever, and what comes after
// it runs.
func TestAgentWinsByWhatItHasDone(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	for _, id := range []string{s.cluster + ".p.0.n1", s.cluster + ".p.1.n1"} {
		_, err := n.local.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
			Id: id, Action: &gnomonv1.NodeAction_Exec{Exec: exec("echo agent")},
		}})
		require.NoError(t, err)
		s.reaches(t, id, gnomonv1.NodeAction_DONE)
	}
	// The core has forgotten both: they have finished. The second is the same work.
	p := s.play(t, "p", nil, stage("one", "echo core", "n1"), stage("two", "echo agent", "n1"), stage("three", "true", "n1"))
	ended := s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, ended.GetStatus().GetState(), ended.GetStatus())
	won, _ := s.reaches(t, s.cluster+".p.0.n1", gnomonv1.NodeAction_DONE)
	require.NotNil(t, won.GetOverwriteTime())
	require.Equal(t, "agent\n", won.GetResult().GetOutput())
}

// an action that the agent purged before anybody saw how it ended is LOST, and is
// never given to the agent again. R-24: a nudge finds it.
func TestLostByAPurge(t *testing.T) {
	t.Parallel()
	s := openWith(t, &workflowv1.ClusterSettings{Interval: durationpb.New(time.Hour), NodeTimeout: durationpb.New(5 * time.Second)})
	ears := s.deaf(t)
	n := s.agent(t, "n1", func(c *agent.Config) { c.Client, c.RetainAge = ears.Client, time.Second })
	s.health(t, gnomonv1.Node_UP, "n1")
	g := newGate(t)
	s.schedule(t, "a", "n1", g.line(), nil)
	g.awaits(t)
	s.reaches(t, "a", gnomonv1.NodeAction_RUNNING)
	ears.lose.Store(true)
	g.opens(t)
	require.Eventually(t, func() bool {
		_, err := n.local.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: "a"})
		return status.Code(err) == codes.NotFound
	}, within, 20*time.Millisecond, "it is not purged")
	s.only(t, "a", gnomonv1.NodeAction_RUNNING, "cancel")
	s.cycle(t)
	lost, _ := s.reaches(t, "a", gnomonv1.NodeAction_LOST)
	require.Equal(t, gnomonv1.NodeAction_UNSUCCESSFUL, lost.GetClass())
	s.only(t, "a", gnomonv1.NodeAction_LOST)
	s.cycle(t)
	_, err := n.local.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: "a"})
	require.Equal(t, codes.NotFound, status.Code(err))
}

// an agent whose news are all lost is heard by the cycles on the interval.
func TestLostNewsHeal(t *testing.T) {
	t.Parallel()
	s := open(t)
	ears := s.deaf(t)
	s.agent(t, "n1", func(c *agent.Config) { c.Client = ears.Client })
	s.health(t, gnomonv1.Node_UP, "n1")
	ears.lose.Store(true)
	s.schedule(t, "a", "n1", "echo heard", nil)
	done, _ := s.reaches(t, "a", gnomonv1.NodeAction_DONE)
	require.Equal(t, "heard\n", done.GetResult().GetOutput())
	require.Positive(t, ears.lost.Load())
}

// An agent that ends in the middle of an action has it CANCELLED when it is back, and
// goes on with what waited; other nodes are not held up meanwhile.
func TestAgentGoneAndBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := s.agent(t, "n1", nil)
	s.agent(t, "n2", nil)
	s.health(t, gnomonv1.Node_UP, "n1", "n2")
	g := newGate(t)
	s.schedule(t, "cut", "n1", g.line(), nil)
	s.schedule(t, "next", "n1", "echo next", nil)
	g.awaits(t)
	s.reaches(t, "cut", gnomonv1.NodeAction_RUNNING)
	n.stop()
	s.schedule(t, "other", "n2", "true", nil)
	s.reaches(t, "other", gnomonv1.NodeAction_DONE)
	s.health(t, gnomonv1.Node_UNREACHABLE, "n1")
	s.agentIn(t, n.dir, "n1", nil)
	cut, _ := s.reaches(t, "cut", gnomonv1.NodeAction_CANCELLED)
	require.Contains(t, cut.GetReason(), "interrupted")
	s.reaches(t, "next", gnomonv1.NodeAction_DONE)
}
