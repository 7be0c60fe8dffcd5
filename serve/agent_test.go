//go:build linux

package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/processes"
	"gnomon/serve"
)

// node is an agent as a process, whose Temporal does not answer.
type node struct {
	*processes.Process
	api     gnomonv1.AgentServiceClient
	metrics string
}

var (
	runsAt   = regexp.MustCompile(`"The agent runs\.".* local=(\S+)`)
	servedAt = regexp.MustCompile(`"The metrics are served\.".* metrics=(\S+)`)
)

// start starts an agent on a directory and waits until it runs.
func start(t *testing.T, dir string, env []string, flags ...string) node {
	t.Helper()
	p := launch(t, dir, env, flags...)
	metrics, err := p.Err(t.Context(), "The metrics are served.")
	require.NoError(t, err)
	line, err := p.Err(t.Context(), "The agent runs.")
	require.NoError(t, err)
	match := runsAt.FindStringSubmatch(line)
	require.NotNil(t, match, line)
	conn, err := grpc.NewClient(match[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return node{Process: p, api: gnomonv1.NewAgentServiceClient(conn), metrics: servedAt.FindStringSubmatch(metrics)[1]}
}

func launch(t *testing.T, dir string, env []string, flags ...string) *processes.Process {
	t.Helper()
	p, err := processes.StartWith(env, t.TempDir(), "gnomon", append([]string{
		"agent", "--cluster", "c", "--node", "n", "--data-dir", dir, "--temporal-address", "127.0.0.1:1",
		"--metrics-address", "127.0.0.1:0", "--log-format", "text", "--allow-exec", "/bin/sh -c **",
	}, flags...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Log(p.Tail())
		}
	})
	return p
}

func (n node) schedule(t *testing.T, id, script string) {
	t.Helper()
	_, err := n.api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
		Id: id, Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/sh", "-c", script}}},
	}})
	require.NoError(t, err)
}

// ended waits until an action has ended.
func (n node) ended(t *testing.T, id string) *gnomonv1.NodeAction {
	t.Helper()
	var a *gnomonv1.NodeAction
	require.Eventually(t, func() bool {
		var err error
		a, err = n.api.GetLocal(t.Context(), &gnomonv1.GetLocalRequest{Id: id})
		require.NoError(t, err)
		return a.GetFinishTime() != nil
	}, 30*time.Second, 5*time.Millisecond)
	return a
}

// hangs schedules an action that says its process id and goes on until it is stopped,
// and waits until it runs.
func (n node) hangs(t *testing.T, id, dir, trap string) (pid int) {
	t.Helper()
	fifo := filepath.Join(dir, id+".fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	n.schedule(t, id, trap+"echo $$ >"+fifo+"; while :; do sleep 1000; done")
	said, err := os.ReadFile(fifo)
	require.NoError(t, err)
	pid, err = strconv.Atoi(string(bytes.TrimSpace(said)))
	require.NoError(t, err)
	return pid
}

// gone says whether a process has ended.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// exits waits for the end of the process and gives its exit code.
func (n node) exits(t *testing.T) int {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	select {
	case <-n.Ended():
	case <-limit.C:
		t.Fatal("the agent does not end")
	}
	return n.ExitCode()
}

// R-02, issue 6: the local API schedules, lists, cancels and tells the node's health,
// without a core; variables of the environment are flags.
func TestAgentAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sick := filepath.Join(dir, "sick")
	n := start(t, dir, []string{
		"GNOMON_ALLOW_ENVIRONMENT=WHO\nWHERE\n", "GNOMON_HEALTH_COMMAND=/usr/bin/test ! -e " + sick, "GNOMON_LABEL=role=db\nrack=1",
	})
	info, err := os.Stat(filepath.Join(dir, "agent.sock"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else schedules on the node")

	hung := n.hangs(t, "hangs", dir, "")
	_, err = n.api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
		Id: "says", Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{
			Argv: []string{"/bin/sh", "-c", "echo $WHO at $WHERE"}, Environment: map[string]string{"WHO": "me", "WHERE": "home"},
		}},
	}})
	require.NoError(t, err)
	list, err := n.api.ListLocal(t.Context(), &gnomonv1.ListLocalRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetActions(), 2)
	require.Equal(t, gnomonv1.NodeAction_RUNNING, list.GetActions()[0].GetState())
	require.Equal(t, gnomonv1.NodeAction_NEW, list.GetActions()[1].GetState(), "one at a time (R-01)")
	_, err = n.api.CancelLocal(t.Context(), &gnomonv1.CancelLocalRequest{Id: "hangs", Reason: "enough"})
	require.NoError(t, err)
	hangs := n.ended(t, "hangs")
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, hangs.GetState())
	require.Equal(t, "enough", hangs.GetReason())
	require.True(t, gone(hung))
	require.Equal(t, "me at home\n", n.ended(t, "says").GetResult().GetOutput())

	_, err = n.api.ScheduleLocal(t.Context(), &gnomonv1.ScheduleLocalRequest{Action: &gnomonv1.NodeAction{
		Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}},
	}})
	require.Equal(t, codes.PermissionDenied, status.Code(err))

	h, err := n.api.GetHealth(t.Context(), &gnomonv1.GetHealthRequest{})
	require.NoError(t, err)
	require.True(t, h.GetUp(), h.GetReason())
	require.False(t, h.GetTemporalReachable())
	require.NoError(t, os.WriteFile(sick, nil, 0o600))
	require.Eventually(t, func() bool {
		h, err = n.api.GetHealth(t.Context(), &gnomonv1.GetHealthRequest{})
		require.NoError(t, err)
		return !h.GetUp()
	}, 30*time.Second, 10*time.Millisecond)
	require.NotEmpty(t, h.GetReason())
}

// Issue 6: what ran when the agent died is stopped and CANCELLED with the reason, never
// run again; what waited runs.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := start(t, dir, nil)
	count := filepath.Join(dir, "count")
	left := n.hangs(t, "hangs", dir, "echo once >>"+count+"; ")
	n.schedule(t, "waits", "echo waited >>"+count)
	n.Kill()
	require.False(t, gone(left), "a crash of the agent stops nothing by itself")

	n = start(t, dir, nil)
	require.True(t, gone(left), "before anything else runs")
	hangs := n.ended(t, "hangs")
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, hangs.GetState())
	require.Equal(t, gnomonv1.NodeAction_NOT_EXECUTED, hangs.GetClass())
	require.Equal(t, "interrupted: the agent ended while it ran", hangs.GetReason())
	require.Equal(t, gnomonv1.NodeAction_DONE, n.ended(t, "waits").GetState())
	text, err := os.ReadFile(count)
	require.NoError(t, err)
	require.Equal(t, "once\nwaited\n", string(text))
}

// SIGTERM gives what runs its grace, ends it then, and exits with 0. What ends within the
// grace is DONE.
func TestAgentStopped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		grace, trap string
		state       gnomonv1.NodeAction_State
		reason      string
	}{
		"over its grace": {"1ms", "", gnomonv1.NodeAction_CANCELLED, "interrupted: the agent was stopped"},
		"within it":      {"1m", "", gnomonv1.NodeAction_DONE, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			n := start(t, dir, nil, "--stop-grace", tc.grace)
			began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go-on")
			require.NoError(t, syscall.Mkfifo(began, 0o600))
			require.NoError(t, syscall.Mkfifo(goOn, 0o600))
			// For both directions: neither opening nor writing waits for the action.
			word, err := os.OpenFile(goOn, os.O_RDWR, 0)
			require.NoError(t, err)
			defer word.Close()
			n.schedule(t, "a", "echo >"+began+"; read word <"+goOn)
			n.schedule(t, "next", "true")
			_, err = os.ReadFile(began)
			require.NoError(t, err)
			require.NoError(t, n.Signal(syscall.SIGTERM))
			_, err = n.Err(t.Context(), "The agent stops:")
			require.NoError(t, err)
			if tc.state == gnomonv1.NodeAction_DONE {
				_, err = word.WriteString("on\n")
				require.NoError(t, err)
			}
			require.Zero(t, n.exits(t))

			n = start(t, dir, nil)
			a := n.ended(t, "a")
			require.Equal(t, tc.state, a.GetState())
			require.Equal(t, tc.reason, a.GetReason())
			require.Equal(t, gnomonv1.NodeAction_DONE, n.ended(t, "next").GetState())
		})
	}
}

// It lives without Temporal, is not ready then, and shows metrics of its own.
func TestAgentProbes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := start(t, dir, nil, "--local-address", "127.0.0.1:0", "--health-command", "/bin/false")
	n.schedule(t, "fails", "exit 1")
	n.ended(t, "fails")
	n.hangs(t, "hangs", dir, "")
	n.schedule(t, "waits", "true")
	_, err := n.api.GetHealth(t.Context(), &gnomonv1.GetHealthRequest{})
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	for _, at := range [][2]string{
		{"/livez", "ok\n"},
		{"/readyz", "temporal: does not answer\n"},
		{"/metrics", "gnomon_build_info{goversion="},
		{"/metrics", `gnomon_agent_actions_total{state="FAILED"} 1`},
		{"/metrics", "gnomon_agent_unfinished_actions 2"},
		{"/metrics", "gnomon_agent_node_up 0"},
		{"/metrics", "gnomon_agent_action_seconds_count 1"},
	} {
		path, want := at[0], at[1]
		reply, err := http.Get("http://" + n.metrics + path)
		require.NoError(t, err)
		text, err := io.ReadAll(reply.Body)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		require.Contains(t, string(text), want, path)
		for _, name := range regexp.MustCompile(`(?m)^# TYPE (gnomon_agent_\w+)`).FindAllSubmatch(text, -1) {
			require.Contains(t, string(page), "`"+string(name[1]))
		}
	}
}

// What cannot be is said, and the agent does not start.
func TestAgentRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := start(t, dir, nil)
	for _, tc := range []struct {
		flags []string
		want  string
	}{
		{nil, "another agent has it open"},
		{[]string{"--cluster", ""}, "an agent needs --cluster, --node and --data-dir"},
		{[]string{"--node", "Node 1"}, "the node: name has lower-case letters"},
		{[]string{"--label", "x"}, `--label "x" must be KEY=VALUE`},
		{[]string{"--allow-exec", "backup"}, `"backup" must be an absolute path`},
		{[]string{"--allow-environment", "LD_PRELOAD"}, "LD_PRELOAD cannot be allowed"},
		{[]string{"--health-command", "/bin/true", "--health-url", "http://127.0.0.1:1/"}, "at most one of"},
		{[]string{"--retain-count", "-1"}, "RetainCount is -1"},
		{[]string{"--local-address", "0.0.0.0:0", "--data-dir", filepath.Join(dir, "other")}, "must be on the loopback"},
	} {
		p := launch(t, dir, nil, tc.flags...)
		require.Equal(t, 1, node{Process: p}.exits(t), tc.want)
		require.Contains(t, p.Stderr().Text(), tc.want)
	}
	require.True(t, n.Alive())
}

// Every flag of the agent is in the README, with its variable.
func TestAgentFlagsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	variable := regexp.MustCompile(`\(env (\w+)\)`)
	found := 0
	serve.Agent("test").Flags().VisitAll(func(f *pflag.Flag) {
		match := variable.FindStringSubmatch(f.Usage)
		if match == nil {
			return // of Temporal, or help
		}
		found++
		require.Equal(t, "GNOMON_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")), match[1])
		require.Contains(t, string(page), "`--"+f.Name+"`")
		require.Contains(t, string(page), "`"+match[1]+"`")
	})
	require.Greater(t, found, 15)
}
