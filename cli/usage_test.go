package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

func TestUsageErrorsExitWith2AndSendNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"actions"}, `unknown command "actions" for "gnomon", did you mean "action"?`},
		{[]string{"action", "creat"}, `unknown command "creat" for "gnomon action", did you mean "create"?`},
		{[]string{"action", "frobnicate"}, `unknown command "frobnicate" for "gnomon action"`},
		{[]string{"version", "x"}, "gnomon version takes no arguments"},
		{[]string{"action", "list", "--nonsense"}, "unknown flag: --nonsense; see 'gnomon action list --help'"},
		{[]string{"action", "list", "-o", "xml"}, "must be one of table, json, yaml"},
		{[]string{"action", "list", "--limit", "-1"}, "--limit must not be negative"},
		{[]string{"action", "list", "--timeout", "-1s"}, "--timeout must not be negative"},
		{[]string{"action", "get"}, "gnomon action get takes exactly one action id, got 0"},
		{[]string{"action", "get", "a", "b"}, "got 2"},
		{[]string{"action", "create"}, "gnomon action create needs an action id, or --file"},
		{[]string{"action", "create", "a", "b"}, "takes at most one action id"},
		{[]string{"action", "create", "a", "--at", "tomorrow"}, `--at "tomorrow" must be a time in RFC 3339`},
		{[]string{"action", "create", "a", "--at", "2026-11-21T10:00:00Z", "--in", "5s"}, "--at and --in exclude each other"},
		{[]string{"action", "create", "a", "--in", "5"}, "missing unit"},
		{[]string{"action", "create", "a", "--every", "5s", "--cron", "@daily"}, "--every and --cron exclude each other"},
		{[]string{"action", "create", "a", "--time-zone", "UTC"}, "--time-zone needs --cron"},
		{[]string{"action", "create", "a", "--deadline", "x"}, `--deadline "x" must be a time`},
		{[]string{"action", "create", "a", "--deadline", "none", "--deadline-in", "5s"}, "exclude each other"},
		{[]string{"action", "create", "a", "--method", "GET"}, "the flags of an HTTP request need --url"},
		{[]string{"action", "create", "a", "--url", "http://h/", "--mock", "fail"}, "--url and --mock belong to different kinds"},
		{[]string{"action", "create", "a", "--push-type", "t"}, "a push needs --push-recipient and --push-type"},
		{[]string{"action", "create", "a", "--mock", "explode"}, `--mock "explode" must be succeed, fail`},
		{[]string{"action", "create", "a", "--mock", "fail-first=-1"}, "the number of attempts"},
		{[]string{"action", "create", "a", "--mock", "sleep=long"}, "must be a duration"},
		{[]string{"action", "create", "a", "--mock", "hang", "--action-timeout", "1s"}, "--action-timeout needs an HTTP request"},
		{[]string{"action", "create", "a", "--url", "http://h/", "--accept", "2xx"}, `--accept "2xx" must be a status code`},
		{[]string{"action", "create", "a", "--url", "http://h/", "--header", "X"}, `--header "X" must be KEY=VALUE`},
		{[]string{"action", "create", "a", "--url", "http://h/", "--header", "=v"}, `--header "=v" must be KEY=VALUE`},
		{[]string{"action", "create", "a", "--url", "http://h/", "--body", "a", "--body-file", "b"}, "--body and --body-file exclude"},
		{[]string{"action", "create", "a", "--url", "http://h/", "--label", "x"}, `--label "x" must be KEY=VALUE`},
		{[]string{"action", "update"}, "needs an action id, or --file"},
		{[]string{"action", "update", "a"}, "nothing to change"},
		{[]string{"action", "delete"}, "takes at least one action id"},
		{[]string{"action", "delete", "a", "b", "--etag", "x"}, "--etag and --request-id are for one action"},
		{[]string{"action", "watch"}, "takes exactly one action id"},
		{[]string{"action", "preview"}, "needs an action id, --file, or flags"},
		{[]string{"action", "preview", "a", "-f", "b"}, "not both"},
		{[]string{"action", "preview", "--every", "5s", "--after", "x"}, `--after "x" must be a time`},
		{[]string{"action", "apply"}, "gnomon action apply needs --file"},
		{[]string{"action", "apply", "-f", "x", "--parallel", "0"}, "--parallel must be 1 to 64"},
		{[]string{"batch", "creat"}, `unknown command "creat" for "gnomon batch", did you mean "create"?`},
		{[]string{"batch", "create", "a"}, "gnomon batch create needs --file or --zone-file"},
		{[]string{"batch", "create", "a", "b", "-f", "-"}, "takes at most one batch id, got 2"},
		{[]string{"batch", "create", "a", "-f", "-", "--zone-file", "-"}, "only one of --file and --zone-file can be '-'"},
		{[]string{"batch", "create", "a", "-f", "-", "--wait", "--validate-only"}, "--wait and --validate-only exclude each other"},
		{[]string{"batch", "create", "a", "-f", "-", "--at", "2026-11-21T10:00:00Z", "--in", "5s"}, "--at and --in exclude each other"},
		{[]string{"batch", "create", "a", "-f", "-", "--at", "tomorrow"}, `--at "tomorrow" must be a time in RFC 3339`},
		{[]string{"batch", "get"}, "gnomon batch get takes exactly one batch id, got 0"},
		{[]string{"batch", "cancel", "a", "b"}, "takes exactly one batch id, got 2"},
		{[]string{"batch", "list", "--limit", "-1"}, "--limit must not be negative"},
		{[]string{"batch", "reschedule", "a"}, "gnomon batch reschedule needs --at or --in"},
		{[]string{"batch", "review", "a"}, "takes a batch id and one of retry, reschedule and cancel, got 1 arguments"},
		{[]string{"batch", "review", "a", "forget"}, `a review is retry, reschedule or cancel, not "forget"`},
		{[]string{"batch", "review", "a", "retry", "--in", "1h"}, "goes with reschedule"},
		{[]string{"batch", "review", "a", "reschedule"}, "reschedule needs one of them"},
		{[]string{"node", "runs"}, `unknown command "runs" for "gnomon node", did you mean "run"?`},
		{[]string{"node", "run", "node-1"}, "takes either '-- PROGRAM' or --url with its flags"},
		{[]string{"node", "run", "node-1", "--url", "http://h/", "--", "uptime"}, "takes either '-- PROGRAM' or --url"},
		{[]string{"node", "run", "node-1", "uptime"}, "takes one node; the program stands behind '--'"},
		{[]string{"node", "run", "--", "uptime"}, "takes a node before '--'"},
		{[]string{"node", "run", "node-1", "--env", "A", "--", "uptime"}, `--env "A" must be NAME=VALUE`},
		{[]string{"node", "run", "node-1", "--url", "http://h/", "--env", "A=1"}, "--env is for programs"},
		{[]string{"node", "run", "node-1", "--wait", "--validate-only", "--", "uptime"}, "--wait and --validate-only exclude each other"},
		{[]string{"node", "add"}, "gnomon node add takes exactly one node, got 0"},
		{[]string{"node", "add", "a", "--label", "x"}, `--label "x" must be KEY=VALUE`},
		{[]string{"node", "cancel", "a", "b"}, "takes exactly one action id, got 2"},
		{[]string{"node", "actions", "--state", "GONE"}, `--state "GONE" is no state`},
		{[]string{"node", "actions", "--state", "STATE_UNSPECIFIED"}, "is no state"},
		{[]string{"node", "actions", "--state", "NEW", "--unfinished"}, "--state and --unfinished exclude each other"},
		{[]string{"node", "actions", "--limit", "-1"}, "--limit must not be negative"},
		{[]string{"playbook", "run"}, "gnomon playbook run takes exactly one file, got 0"},
		{[]string{"playbook", "run", "x", "--watch", "--validate-only"}, "--watch and --validate-only exclude each other"},
		{[]string{"playbook", "validate"}, "takes at least one file"},
		{[]string{"playbook", "watch"}, "takes exactly one playbook id, got 0"},
		{[]string{"playbook", "list", "--state", "LOST"}, `--state "LOST" is no state`},
		{[]string{"entity", "puts"}, `unknown command "puts" for "gnomon entity", did you mean "put"?`},
		{[]string{"entity", "put", "offer"}, "gnomon entity put takes a type and an id, got 1 arguments"},
		{[]string{"entity", "put", "offer", "o"}, "gnomon entity put needs --content or --file"},
		{[]string{"entity", "put", "offer", "o", "--content", "{}", "-f", "-"}, "--content and --file exclude each other"},
		{[]string{"entity", "put", "offer", "o", "--content", "[1]"}, "--content: "},
		{[]string{"entity", "list"}, "takes exactly one type, got 0"},
		{[]string{"entity", "list", "offer", "--limit", "-1"}, "--limit must not be negative"},
		{[]string{"entity", "state", "gets"}, `unknown command "gets" for "gnomon entity state", did you mean "get"?`},
		{[]string{"entity", "state", "get", "offer", "o"}, "takes a type and an id and a stage, got 2 arguments"},
		{[]string{"entity", "state", "set", "offer", "o", "price", "--version", "1"}, "needs --state, --file or --none"},
		{[]string{"entity", "state", "set", "offer", "o", "price", "--none"}, "needs --version: there is no unconditional write"},
		{[]string{"entity", "state", "set", "offer", "o", "price", "--none", "--state", "{}"}, "--state and --none exclude each other"},
		{[]string{"entity", "state", "set", "offer", "o", "price", "--version", "1", "--state", "7"}, "must be a JSON object"},
		{[]string{"entity", "state", "set", "offer", "o", "price", "--version", "1", "--state", `{"@type": "type.googleapis.com/acme.State"}`}, "acme.State"},
		{[]string{"stage", "queue"}, "takes exactly one stage, got 0"},
		{[]string{"stage", "rewalk", "price", "--status", "--cancel"}, "--status and --cancel exclude each other"},
		{[]string{"stage", "rewalk", "price", "--watch", "--cancel"}, "--watch and --cancel exclude each other"},
		{[]string{"stage", "rewalk", "price", "--status", "--rate", "5"}, "--rate is for a new walk"},
	} {
		fake := startFake(t)
		got := fake.run(t, tc.args...)
		require.Equal(t, ExitUsage, got.code, "%q: %s", tc.args, got.stderr)
		require.Contains(t, got.stderr, "error: ", "%q", tc.args)
		require.Contains(t, got.stderr, tc.want, "%q", tc.args)
		require.Empty(t, got.stdout, "%q", tc.args)
		fake.mu.Lock()
		require.Empty(t, fake.requests, "%q", tc.args)
		fake.mu.Unlock()
		fake.batches.mu.Lock()
		require.Empty(t, fake.batches.requests, "%q", tc.args)
		fake.batches.mu.Unlock()
		require.Empty(t, sentTo[proto.Message](&fake.clusters.history), "%q", tc.args)
		require.Empty(t, sentTo[proto.Message](&fake.playbooks.history), "%q", tc.args)
		require.Empty(t, sentTo[proto.Message](&fake.entities.history), "%q", tc.args)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := New("v9.9.9")
	root.SetArgs([]string{"version"})
	root.SetOut(&out)
	require.Equal(t, ExitOK, Run(t.Context(), root))
	require.Equal(t, "v9.9.9\n", out.String())
}

// Habit of the temporal CLI: summaries without a full stop, an example each.
func TestEveryCommandHasASummaryAndAnExample(t *testing.T) {
	t.Parallel()
	root := New("v")
	for group, verbs := range map[string]int{"action": 11, "batch": 7, "node": 11, "playbook": 9, "entity": 7, "stage": 3, "entity state": 2} {
		cmd, _, err := root.Find(strings.Fields(group))
		require.NoError(t, err)
		require.Len(t, cmd.Commands(), verbs)
		for _, cmd := range append(cmd.Commands(), root, cmd) {
			require.NotEmpty(t, cmd.Short, cmd.Name())
			require.NotRegexp(t, `\.$`, cmd.Short, cmd.Name())
			if cmd == root && strings.Contains(group, " ") {
				continue
			}
			require.Contains(t, cmd.Example, "gnomon "+group+" ", cmd.Name())
			require.NotRegexp(t, `\t`, cmd.Example, cmd.Name())
		}
	}
}

func TestGroupsShowHelp(t *testing.T) {
	t.Parallel()
	got := invocation{}.run(t.Context(), "action").ok(t)
	require.Contains(t, got.stdout, "preview     Show the next due times")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "hello"))
	require.Contains(t, fake.run(t, "completion", "bash").ok(t).stdout, "bash completion")
	require.Contains(t, fake.run(t, "__complete", "action", "get", "he").ok(t).stdout, "hello\tSCHEDULED\n")
	require.Contains(t, fake.run(t, "__complete", "action", "list", "-o", "").ok(t).stdout, "json\n")

	// Nobody at home: no offers, and no error in the middle of a command line.
	got := invocation{address: "127.0.0.1:1"}.run(t.Context(), "__complete", "action", "get", "").ok(t)
	require.NotContains(t, got.stdout, "hello")
}
