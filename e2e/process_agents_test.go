package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/cli"
	"gnomon/playbook"
)

// Issue 6: gnomon-dev runs agents; a playbook typed at them changes files, stage by stage,
// and one at a time where it says so. What fails is told by the exit code.
func TestProcessDevAgents(t *testing.T) {
	t.Parallel()
	dev, at := runDev(t, "--ephemeral", "--agents", "3", "--allow-exec", "/bin/sh -c **")
	require.Contains(t, dev.says(t, dev.err, "node run node-1"), "--address "+at.GRPC)
	said := func(want int, args ...string) (out, people string) {
		out, people, code := gnomon(t, append([]string{"--address", at.GRPC}, args...)...)
		require.Equal(t, want, code, "gnomon %v: %s%s", args, out, people)
		return out, people
	}
	list, _ := said(cli.ExitOK, "node", "list")
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		require.Contains(t, list, node)
	}
	out, _ := said(cli.ExitOK, "node", "run", "node-2", "--id", "hello", "--wait", "--", "/bin/sh", "-c", "echo hello")
	require.Contains(t, out, "DONE node=node-2 code=0\nhello\n")
	out, people := said(cli.ExitOutcome, "node", "run", "node-2", "--id", "reboots", "--wait", "--", "/sbin/reboot")
	require.Contains(t, out, "FAILED")
	require.Contains(t, people, "allow-list")

	log := filepath.Join(t.TempDir(), "log")
	file := filepath.Join(t.TempDir(), "tour.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
id: tour
variables: {log: "`+log+`"}
stages:
  - name: first
    nodes: [node-3]
    exec: {argv: [/bin/sh, -c, "echo first $$0 >>${log}", "${node}"]}
  - name: one-by-one
    allNodes: true
    parallel: 1
    exec: {argv: [/bin/sh, -c, "echo begin $$0 >>${log}; echo end $$0 >>${log}", "${node}"]}
  - name: last
    nodeLabels: {zone: a}
    exec: {argv: [/bin/sh, -c, "echo last >>${log}; exit $$0", "0"]}
`), 0o600))
	out, _ = said(cli.ExitOK, "playbook", "run", file, "--watch")
	require.Contains(t, out, "began tour: RUNNING, 3 stages on local")
	require.Contains(t, out, "stage=3/3:last")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "first node-3|begin node-1|end node-1|begin node-2|end node-2|begin node-3|end node-3|last|last",
		strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "|"))
	out, _ = said(cli.ExitOK, "playbook", "get", "tour")
	require.Contains(t, out, "tour.2.node-1")
	require.NotContains(t, out, "tour.2.node-2", "it is in zone b")
	_, people = said(cli.ExitFailed, "playbook", "run", file)
	require.Contains(t, people, "ALREADY_EXISTS")

	// What runs when gnomon-dev is stopped has a moment, and then ends with it.
	said(cli.ExitOK, "node", "run", "node-1", "--id", "long", "--", "/bin/sh", "-c", "echo $$ >"+log+"; exec sleep 1000")
	require.Eventually(t, func() bool {
		out, _ := said(cli.ExitOK, "node", "get", "long", "-o", "json")
		var a struct {
			State string `json:"state"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &a))
		require.False(t, playbook.Finished(gnomonv1.NodeAction_State(gnomonv1.NodeAction_State_value[a.State])), out)
		return a.State == "RUNNING"
	}, 30*time.Second, 50*time.Millisecond)
	dev.signal(t, syscall.SIGINT)
	require.Zero(t, dev.exit(t, 15*time.Second), dev.err.Tail(20))
}
