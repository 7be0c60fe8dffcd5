package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	done            = gnomonv1.NodeAction_DONE
	failedOn        = gnomonv1.NodeAction_FAILED
	runs            = gnomonv1.NodeAction_RUNNING
	waits           = gnomonv1.NodeAction_PENDING_SCHEDULE
	playbookRunning = gnomonv1.PlaybookStatus_RUNNING
)

// A playbook is the same in YAML and JSON, from a file and from stdin.
func TestPlaybookRun(t *testing.T) {
	t.Parallel()
	want := definition(upgrade(t, playbookRunning))
	asJSON, err := encodeIndented(want)
	require.NoError(t, err)
	for name, tc := range map[string]struct{ file, content string }{
		"YAML":            {"upgrade.yaml", upgradeYAML},
		"JSON":            {"upgrade.json", string(asJSON)},
		"YAML from stdin": {"-", upgradeYAML},
		"JSON from stdin": {"-", string(asJSON)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			file := tc.file
			if file != "-" {
				file = writeFile(t, tc.file, tc.content)
			}
			got := invocation{address: fake.address, stdin: tc.content, getenv: map[string]string{"USER": "ann"}}.run(t.Context(), "playbook", "run", file).ok(t)
			require.Equal(t, "began upgrade-7: RUNNING, 3 stages on prod\n", got.stdout)
			requireProto(t, &gnomonv1.CreatePlaybookRequest{Playbook: want}, sentTo[*gnomonv1.CreatePlaybookRequest](&fake.playbooks.history)[0])
		})
	}
}

// Flags change what the file says.
func TestPlaybookRunFlags(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "upgrade.yaml", upgradeYAML)
	got := fake.run(t, "playbook", "create", file, "--id", "other", "--cluster", "test", "--var", "version=2", "--var", "more=x", "--label", "team-",
		"--approve", "--by", "bob", "--request-id", "r", "--validate-only").ok(t)
	require.Equal(t, "valid other: PENDING_APPROVE, 3 stages on test\n", got.stdout)
	sent := sentTo[*gnomonv1.CreatePlaybookRequest](&fake.playbooks.history)[0]
	want := definition(upgrade(t, playbookRunning))
	want.Id, want.Cluster, want.Labels, want.Approve, want.RequestedBy = "other", "test", nil, true, "bob"
	want.Variables = map[string]string{"version": "2", "more": "x"}
	require.True(t, proto.Equal(&gnomonv1.CreatePlaybookRequest{Playbook: want, RequestId: "r", ValidateOnly: true}, sent), "%v", sent)

	// Without a cluster in the file it is the environment's, else gnomon-dev's.
	bare := writeFile(t, "p.yaml", "id: p\nstages: [{name: a, allNodes: true, exec: {argv: [uptime]}}]\n")
	invocation{address: fake.address, getenv: map[string]string{"GNOMON_CLUSTER": "env"}}.run(t.Context(), "playbook", "run", bare).ok(t)
	fake.run(t, "playbook", "run", bare).ok(t)
	all := sentTo[*gnomonv1.CreatePlaybookRequest](&fake.playbooks.history)
	require.Equal(t, "env", all[1].GetPlaybook().GetCluster())
	require.Equal(t, "local", all[2].GetPlaybook().GetCluster())
}

// All problems are shown at once, a line for each.
func TestPlaybookProblems(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	st, err := status.New(codes.InvalidArgument, "many things").WithDetails(&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: "playbook.stages[0].name", Description: "name must be set"}, {Field: "playbook.stages[1]", Description: "exactly one of nodes, node_labels and all_nodes must be set"},
	}})
	require.NoError(t, err)
	fake.playbooks.refuse = func(proto.Message) error { return st.Err() }
	got := fake.run(t, "playbook", "run", writeFile(t, "upgrade.yaml", upgradeYAML), "--watch")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, `error: INVALID_ARGUMENT: playbook.stages[0].name: name must be set
error: INVALID_ARGUMENT: playbook.stages[1]: exactly one of nodes, node_labels and all_nodes must be set
`, got.stderr)
	require.Empty(t, sentTo[*gnomonv1.WatchPlaybookRequest](&fake.playbooks.history))
}

// validate says all that is wrong with all files and asks nobody.
func TestPlaybookValidate(t *testing.T) {
	t.Parallel()
	good := writeFile(t, "good.yaml", upgradeYAML)
	bad := writeFile(t, "bad.yaml", `
cluster: Prod
stages:
  - name: a
    exec: {argv: ["${nobody}"]}
  - name: a
    allNodes: true
    nodes: [x]
`)
	unknown := writeFile(t, "unknown.json", `{"id": "x", "stagez": []}`)
	offline := invocation{address: "127.0.0.1:1"}
	require.Equal(t, "valid "+good+": 3 stages\n", offline.run(t.Context(), "playbook", "validate", good).ok(t).stdout)
	got := offline.run(t.Context(), "playbook", "validate", bad, good, unknown)
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "valid "+good+": 3 stages\n", got.stdout)
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	for i, want := range []string{
		"error: " + bad + ": cluster: cluster has lower-case letters",
		"error: " + bad + ": stages[0]: exactly one of nodes, node_labels and all_nodes must be set",
		"error: " + bad + ": stages[0].exec.argv[0]: ${nobody} is no variable of the playbook",
		"error: " + bad + ": stages[1]: exactly one of nodes, node_labels and all_nodes must be set",
		"error: " + bad + ": stages[1]: exactly one of exec and http_request must be set",
		"error: " + bad + ": stages[1].name: two stages have this name",
		"error: " + unknown + `: unknown field "stagez"`,
		"error: 2 of 3 files not valid",
	} {
		require.Less(t, i, len(lines), got.stderr)
		require.True(t, strings.HasPrefix(lines[i], want), lines[i])
	}
	require.Len(t, lines, 8)
}

func TestPlaybookFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ content, want string }{
		"a list":  {"- a\n", "must be a playbook with the fields id, cluster and stages"},
		"two":     {"id: a\n---\nid: b\n", "must hold exactly one playbook, it holds 2"},
		"nothing": {"# nothing\n", "must hold exactly one playbook, it holds 0"},
		"a state": {"id: a\nstages: [{onFailure: MAYBE}]\n", `invalid value for enum`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			got := fake.run(t, "playbook", "run", writeFile(t, "p.yaml", tc.content))
			require.Equal(t, ExitFailed, got.code)
			require.Contains(t, got.stderr, tc.want)
			require.NotContains(t, got.stderr, "proto:")
			require.Empty(t, sentTo[*gnomonv1.CreatePlaybookRequest](&fake.playbooks.history))
		})
	}
}

func TestPlaybookVerbs(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	in := invocation{address: fake.address, getenv: map[string]string{"USER": "ann"}}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"nudge", "upgrade-7"}, "nudged upgrade-7: PENDING_APPROVE, 3 stages on prod\n"},
		{[]string{"approve", "upgrade-7"}, "approved upgrade-7: RUNNING, 3 stages on prod\n"},
		{[]string{"reject", "upgrade-7", "--by", "bob", "--reason", "no"}, "rejected upgrade-7: CANCELLED, 3 stages on prod\n"},
		{[]string{"cancel", "upgrade-7", "--reason", "no"}, "cancelled upgrade-7: CANCELLED, 3 stages on prod\n"},
	} {
		fake.playbooks.put(upgrade(t, gnomonv1.PlaybookStatus_PENDING_APPROVE))
		require.Equal(t, tc.want, in.run(t.Context(), append([]string{"playbook"}, tc.args...)...).ok(t).stdout)
	}
	require.Equal(t, "ann", sentTo[*gnomonv1.ApprovePlaybookRequest](&fake.playbooks.history)[0].GetDecidedBy())
	requireProto(t, &gnomonv1.RejectPlaybookRequest{Id: "upgrade-7", DecidedBy: "bob", Reason: "no"}, sentTo[*gnomonv1.RejectPlaybookRequest](&fake.playbooks.history)[0])
	require.Equal(t, "no", sentTo[*gnomonv1.CancelPlaybookRequest](&fake.playbooks.history)[0].GetReason())
}

func TestPlaybookGet(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.playbooks.put(upgrade(t, playbookRunning, done, failedOn, runs))
	require.Equal(t, `upgrade-7
  State      RUNNING
  Cluster    prod
  Asked by   ann
  Created    1m ago, 2026-11-20 10:59:00 CET
  Began      12s ago, 2026-11-20 10:59:48 CET
  Variable   version=1.2.3
  Label      team=a
Stages
#  STAGE    STATE      DONE/BAD/RUN/LEFT  ACTION
1  drain    SUCCEEDED  1/0/0/0            /opt/app/drain
2  upgrade  ACTIVE     1/1/1/0            /opt/app/upgrade --to ${version}
3  check    WAITING    0/0/0/0            GET http://${node}:8080/health
Actions
STAGE    NODE    STATE    ACTION
drain    node-1  DONE     upgrade-7.0.node-1
upgrade  node-1  DONE     upgrade-7.1.node-1
upgrade  node-2  FAILED   upgrade-7.1.node-2
upgrade  node-3  RUNNING  upgrade-7.1.node-3
`, fake.run(t, "playbook", "get", "upgrade-7").ok(t).stdout)

	// What 'get' shows can be run again under another id.
	for _, format := range []string{"yaml", "json"} {
		text := fake.run(t, "playbook", "get", "upgrade-7", "-o", format).ok(t).stdout
		invocation{address: fake.address, stdin: text}.run(t.Context(), "playbook", "run", "-", "--id", "again").ok(t)
		sent := sentTo[*gnomonv1.CreatePlaybookRequest](&fake.playbooks.history)
		want := definition(upgrade(t, playbookRunning))
		want.Id = "again"
		requireProto(t, want, sent[len(sent)-1].GetPlaybook())
	}
}

func TestPlaybookList(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "no playbooks\n", fake.run(t, "playbook", "list").ok(t).stdout)
	failed := upgrade(t, gnomonv1.PlaybookStatus_FAILED, done, failedOn)
	failed.Id = "z"
	fake.playbooks.put(upgrade(t, gnomonv1.PlaybookStatus_PENDING_APPROVE), failed)
	require.Equal(t, `ID         CLUSTER  STATE            WHEN            STAGE        REASON
upgrade-7  prod     PENDING_APPROVE  created 1m ago  0/3
z          prod     FAILED           ended now       2/3 upgrade  stage upgrade had more failures than are allowed
`, fake.run(t, "playbook", "list").ok(t).stdout)
	fake.run(t, "playbook", "list", "--cluster", "prod", "--state", "running,FAILED", "--page-size", "9").ok(t)
	requireProto(t, parse(t, &gnomonv1.ListPlaybooksRequest{}, `{"cluster": "prod", "states": ["RUNNING", "FAILED"], "pageSize": 9}`),
		sentTo[*gnomonv1.ListPlaybooksRequest](&fake.playbooks.history)[2])
	all := fake.run(t, "playbook", "list", "--page-size", "1", "--limit", "9", "-o", "json").ok(t)
	require.Len(t, parse(t, &gnomonv1.ListPlaybooksResponse{}, all.stdout).GetPlaybooks(), 2, "paged through")
}

func TestPlaybookCompletion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.playbooks.put(upgrade(t, gnomonv1.PlaybookStatus_PENDING_APPROVE))
	require.Contains(t, fake.run(t, "__complete", "playbook", "approve", "up").ok(t).stdout, "upgrade-7\tPENDING_APPROVE\n")
	require.Contains(t, fake.run(t, "__complete", "playbook", "list", "--state", "").ok(t).stdout, "DONE\n")
}
