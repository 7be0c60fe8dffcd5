package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// What flags and arguments ask for is what is sent.
func TestNodeRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a program": {
			[]string{"node", "run", "node-1", "--", "echo", "-n", "a b", ""},
			`{"cluster": "local", "action": {"cluster": "local", "node": "node-1", "requestedBy": "ann", "exec": {"argv": ["echo", "-n", "a b", ""]}}}`,
		},
		"with all flags": {
			[]string{
				"node", "run", "node-1", "--cluster", "prod", "--id", "x", "--approve", "--env", "A=1", "--env", "B=", "--directory", "/srv",
				"--action-timeout", "90s", "--output-limit", "9", "--label", "team=a", "--request-id", "r", "--by", "bob", "--", "backup",
			},
			`{"cluster": "prod", "requestId": "r", "action": {"id": "x", "cluster": "prod", "node": "node-1", "approve": true, "requestedBy": "bob", "labels": {"team": "a"},
				"exec": {"argv": ["backup"], "environment": {"A": "1", "B": ""}, "workingDirectory": "/srv", "timeout": "90s", "outputLimit": 9}}}`,
		},
		"a request": {
			[]string{"node", "run", "node-1", "--url", "http://127.0.0.1:8080/flush", "--method", "put", "--body", "x", "--accept", "204", "--action-timeout", "5s", "--validate-only"},
			`{"cluster": "local", "validateOnly": true, "action": {"cluster": "local", "node": "node-1", "requestedBy": "ann",
				"httpRequest": {"url": "http://127.0.0.1:8080/flush", "method": "PUT", "body": "eA==", "acceptedStatus": [{"first": 204}], "timeout": "5s"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			got := invocation{address: fake.address, getenv: map[string]string{"USER": "ann"}}.run(t.Context(), tc.args...).ok(t)
			require.Contains(t, got.stdout, " on node-1\n")
			sent := sentTo[*gnomonv1.ScheduleNodeActionRequest](&fake.clusters.history)
			require.Len(t, sent, 1)
			requireProto(t, parse(t, &gnomonv1.ScheduleNodeActionRequest{}, tc.want), sent[0])
		})
	}
}

// The cluster is the flag's, else the environment's, else gnomon-dev's.
func TestNodeCluster(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	in := invocation{address: fake.address, getenv: map[string]string{"GNOMON_CLUSTER": "env"}}
	in.run(t.Context(), "node", "list").ok(t)
	in.run(t.Context(), "node", "list", "--cluster", "flag").ok(t)
	fake.run(t, "node", "list").ok(t)
	var clusters []string
	for _, r := range sentTo[*gnomonv1.GetClusterRequest](&fake.clusters.history) {
		clusters = append(clusters, r.GetCluster())
	}
	require.Equal(t, []string{"env", "flag", "local"}, clusters)
}

func TestNodeList(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Contains(t, fake.run(t, "node", "list").ok(t).stdout, "no nodes\ncycle 7, 3s ago, took 120ms: 2 visited, 1 pushed, 3 changed, 1 errors\n")
	fake.run(t, "node", "add", "node-1", "--label", "role=db", "--label", "rack=1").ok(t)
	fake.clusters.nodes["node-2"] = parse(t, &gnomonv1.Node{}, `{"name": "node-2", "health": "UNREACHABLE", "reason": "no agent polls",
		"lastSeen": "2026-11-20T09:50:00Z", "unfinishedActions": 3}`)
	require.Equal(t, `NODE    HEALTH       UNFINISHED  SEEN     LABELS          REASON
node-1  -            0                    rack=1,role=db
node-2  UNREACHABLE  3           10m ago                  no agent polls
cycle 7, 3s ago, took 120ms: 2 visited, 1 pushed, 3 changed, 1 errors
  node-2: it does not \x1b[31manswer
`, fake.run(t, "node", "list").ok(t).stdout)
	require.Equal(t, "removed node-2 from local\n", fake.run(t, "node", "remove", "node-2", "--force").ok(t).stdout)
	require.True(t, sentTo[*gnomonv1.RemoveNodeRequest](&fake.clusters.history)[0].GetForce())
	require.Equal(t, "nudged local: cycle 8\n", fake.run(t, "node", "nudge").ok(t).stdout)
}

func TestNodeActions(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "no actions\n", fake.run(t, "node", "actions").ok(t).stdout)
	failed, waits := restart(t, gnomonv1.NodeAction_FAILED), restart(t, gnomonv1.NodeAction_PENDING_APPROVE)
	waits.Id = "waits"
	fake.clusters.put(failed, waits)
	require.Equal(t, `ID         NODE    STATE            WHEN            ACTION                          REASON
restart-7  node-1  FAILED           ended 1s ago    systemctl restart "web server"  the program ended with exit status 3
waits      node-1  PENDING_APPROVE  created 1m ago  systemctl restart "web server"
`, fake.run(t, "node", "actions").ok(t).stdout)

	fake.run(t, "node", "actions", "--node", "node-1", "--playbook", "p", "--state", "failed,LOST", "--page-size", "7").ok(t)
	fake.run(t, "node", "actions", "--unfinished").ok(t)
	sent := sentTo[*gnomonv1.ListNodeActionsRequest](&fake.clusters.history)
	requireProto(t, parse(t, &gnomonv1.ListNodeActionsRequest{}, `{"cluster": "local", "node": "node-1", "playbook": "p", "states": ["FAILED", "LOST"], "pageSize": 7}`), sent[2])
	requireProto(t, parse(t, &gnomonv1.ListNodeActionsRequest{}, `{"cluster": "local", "states": ["PENDING_APPROVE", "PENDING_SCHEDULE", "NEW", "RUNNING"]}`), sent[3])

	got := fake.run(t, "node", "actions", "--page-size", "1").ok(t)
	require.Equal(t, "note: there are more; go on with --page-token 1, or list more with --limit\n", got.stderr)
	all := fake.run(t, "node", "actions", "--page-size", "1", "--limit", "5", "-o", "json").ok(t)
	require.Len(t, parse(t, &gnomonv1.ListNodeActionsResponse{}, all.stdout).GetActions(), 2, "paged through")
}

// who decided is told.
func TestNodeDecisions(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	in := invocation{address: fake.address, getenv: map[string]string{"USER": "ann"}}
	for _, tc := range []struct {
		state gnomonv1.NodeAction_State
		args  []string
		want  string
	}{
		{gnomonv1.NodeAction_PENDING_APPROVE, []string{"approve", "restart-7"}, "approved restart-7: PENDING_SCHEDULE on node-1\n"},
		{gnomonv1.NodeAction_PENDING_APPROVE, []string{"reject", "restart-7", "--by", "bob", "--reason", "no"}, "rejected restart-7: CANCELLED on node-1\n"},
		{gnomonv1.NodeAction_PENDING_SCHEDULE, []string{"cancel", "restart-7", "--reason", "no"}, "cancelled restart-7: CANCELLED on node-1\n"},
		{gnomonv1.NodeAction_RUNNING, []string{"cancel", "restart-7"}, "cancelled restart-7: RUNNING on node-1, its agent is told by the next cycle\n"},
	} {
		fake.clusters.put(restart(t, tc.state))
		require.Equal(t, tc.want, in.run(t.Context(), append([]string{"node"}, tc.args...)...).ok(t).stdout)
	}
	require.Equal(t, "ann", sentTo[*gnomonv1.ApproveNodeActionRequest](&fake.clusters.history)[0].GetDecidedBy())
	requireProto(t, parse(t, &gnomonv1.RejectNodeActionRequest{}, `{"cluster": "local", "id": "restart-7", "decidedBy": "bob", "reason": "no"}`),
		sentTo[*gnomonv1.RejectNodeActionRequest](&fake.clusters.history)[0])
	require.Equal(t, "no", sentTo[*gnomonv1.CancelNodeActionRequest](&fake.clusters.history)[0].GetReason())

	fake.clusters.refuse = func(proto.Message) error {
		return status.Error(codes.FailedPrecondition, "the action is DONE")
	}
	got := fake.run(t, "node", "approve", "restart-7")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: FAILED_PRECONDITION: the action is DONE\n", got.stderr)
}

func TestNodeGet(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.clusters.put(restart(t, gnomonv1.NodeAction_FAILED))
	require.Equal(t, `restart-7
  State      FAILED
  Class      UNSUCCESSFUL
  Reason     the program ended with exit status 3
  Node       node-1 of prod
  Action     systemctl restart "web server"
  Asked by   USER ann
  Created    1m ago, 2026-11-20 10:59:00 CET
  Began      2s ago, 2026-11-20 10:59:58 CET
  Ended      1s ago, 2026-11-20 10:59:59 CET, took 1s
  Label      team=a
  Code       3
  Output     its end, 9 bytes before are gone
    no
`, fake.run(t, "node", "get", "restart-7").ok(t).stdout)
	got := fake.run(t, "node", "get", "restart-7", "--fresh", "-o", "json").ok(t)
	requireProto(t, restart(t, gnomonv1.NodeAction_FAILED), parse(t, &gnomonv1.NodeAction{}, got.stdout))
	require.True(t, sentTo[*gnomonv1.GetNodeActionRequest](&fake.clusters.history)[1].GetFresh())
}

func TestNodeWatch(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	for _, state := range []gnomonv1.NodeAction_State{gnomonv1.NodeAction_PENDING_SCHEDULE, gnomonv1.NodeAction_RUNNING, gnomonv1.NodeAction_DONE} {
		fake.clusters.changes <- restart(t, state)
	}
	got := fake.run(t, "node", "watch", "restart-7").ok(t)
	require.Equal(t, `2026-11-20T10:00:00Z PENDING_SCHEDULE node=node-1
2026-11-20T10:00:00Z RUNNING node=node-1
2026-11-20T10:00:00Z DONE node=node-1 code=0
up again
and \x1b[31mwell
`, got.stdout)

	fake = startFake(t) // a watch that is over may still take what is sent
	fake.clusters.changes <- restart(t, gnomonv1.NodeAction_FAILED)
	got = fake.run(t, "node", "watch", "restart-7", "-o", "json")
	require.Equal(t, ExitOutcome, got.code)
	requireProto(t, restart(t, gnomonv1.NodeAction_FAILED), parse(t, &gnomonv1.NodeAction{}, got.stdout))
	require.JSONEq(t, `{"code": 9, "message": "action restart-7 is FAILED; the program ended with exit status 3"}`, got.stderr)

	fake = startFake(t)
	close(fake.clusters.changes)
	got = fake.run(t, "node", "watch", "restart-7")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "the server ended the watch before the action ended")
}

// On a terminal the action is drawn in its place, with its output at the end.
func TestNodeRunWaitsOnATerminal(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.clusters.changes <- restart(t, gnomonv1.NodeAction_RUNNING)
	fake.clusters.changes <- restart(t, gnomonv1.NodeAction_DONE)
	got := invocation{address: fake.address, width: 60, height: 40}.run(t.Context(), "node", "run", "node-1", "--id", "restart-7", "--wait", "--no-color", "--", "uptime").ok(t)
	frames := strings.Split(got.stdout, "\x1b[J")
	require.Len(t, frames, 2)
	require.True(t, strings.HasPrefix(frames[0], "scheduled restart-7: PENDING_SCHEDULE on node-1\nrestart-7\n  State      RUNNING\n"), frames[0])
	require.Contains(t, frames[1], "  Output\n    up again\n    and \\x1b[31mwell\n")
	require.Equal(t, 1, strings.Count(got.stdout, "up again"))
	require.Equal(t, "restart-7", sentTo[*gnomonv1.WatchNodeActionRequest](&fake.clusters.history)[0].GetId())
}

func TestNodeCompletion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.run(t, "node", "add", "node-1").ok(t)
	fake.clusters.put(restart(t, gnomonv1.NodeAction_PENDING_APPROVE))
	require.Contains(t, fake.run(t, "__complete", "node", "run", "no").ok(t).stdout, "node-1\t-\n")
	require.Contains(t, fake.run(t, "__complete", "node", "approve", "re").ok(t).stdout, "restart-7\tPENDING_APPROVE on node-1\n")
	require.Equal(t, []gnomonv1.NodeAction_State{gnomonv1.NodeAction_PENDING_APPROVE}, sentTo[*gnomonv1.ListNodeActionsRequest](&fake.clusters.history)[0].GetStates())
	require.Contains(t, fake.run(t, "__complete", "node", "actions", "--state", "").ok(t).stdout, "LOST\n")
}
