package cluster

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/faults/processes"
	"gnomon/faults/roles"
	"gnomon/store/sqlite"
)

// startTemporal starts a Temporal as a process on a directory and gives its address.
func startTemporal(t *testing.T, dir, port string) (*processes.Process, string) {
	t.Helper()
	p, err := processes.Start(t.TempDir(), roles.Temporal, "--dir", dir, "--port", port)
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill() })
	line, err := p.Out(t.Context(), "127.0.0.1:")
	require.NoError(t, err)
	return p, strings.TrimSpace(line)
}

// Issue 6: Temporal is killed with -9 or stopped (SIGSTOP) in the middle of a stage and
// comes back. What ran on the nodes ended meanwhile (the nodes' work does not wait for it),
// nothing runs twice, and the playbook goes on.
func TestTemporalKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, address := startTemporal(t, dir, "0")
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	goesOnWithoutTemporal(t, address, func() { server.Kill() }, func() { startTemporal(t, dir, port) })
}

func TestTemporalStopped(t *testing.T) {
	t.Parallel()
	server, address := startTemporal(t, t.TempDir(), "0")
	goesOnWithoutTemporal(t, address, func() { require.NoError(t, server.Freeze(t.Context())) }, server.Thaw)
}

func goesOnWithoutTemporal(t *testing.T, address string, goes, comes func()) {
	t.Helper()
	s := openFacade(t, address, sqlite.Config{Path: sqlite.MemoryPath})
	s.work(t, &workflowv1.ClusterSettings{Interval: durationpb.New(time.Second), NodeTimeout: durationpb.New(5 * time.Second)})
	first := s.agent(t, "n1", nil)
	s.agent(t, "n2", nil)
	s.health(t, gnomonv1.Node_UP, "n1", "n2")
	g := newGate(t)
	log := t.TempDir() + "/log"
	p := s.play(t, "p", nil,
		stage("one", g.line()+"; echo one >>"+log, "n1"),
		stage("two", "echo two ${node} >>"+log, "n1", "n2"))
	g.awaits(t)
	id := p.GetId() + ".0.n1"
	s.reaches(t, id, gnomonv1.NodeAction_RUNNING)

	goes()
	g.opens(t)
	require.Eventually(t, func() bool {
		a, err := first.local.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: id})
		require.NoError(t, err)
		return a.GetState() == gnomonv1.NodeAction_DONE
	}, within, 10*time.Millisecond, "the node goes on without Temporal")
	comes()
	ended := s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, ended.GetStatus().GetState(), ended.GetStatus())
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Equal(t, "one", lines[0])
	require.ElementsMatch(t, []string{"one", "two n1", "two n2"}, lines)
}
