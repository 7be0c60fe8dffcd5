package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// The flags say everything the contract can: M-02, M-10, M-12, M-17.
func TestCreateSendsWhatFlagsSay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"the shortest": {
			args: []string{"hello", "--url", "http://h/"},
			want: `{"meta": {"id": "hello"}, "spec": {
				"startPolicy": {"startAt": "2026-11-20T10:00:00Z"},
				"sendPolicy": {"sendOncePolicy": {}},
				"action": {"httpRequest": {"url": "http://h/"}}}}`,
		},
		"all of http": {
			args: []string{
				"a", "--in", "5s", "--jitter", "2m", "--url", "https://h/x", "--method", "put", "--header", "X-A=1=2",
				"--header", "X-B=b,c", "--body", `{"a":1}`, "--action-timeout", "3s", "--accept", "200-204,304",
				"--give-up-on-client-error", "--label", "team=a", "--label", "empty=",
			},
			want: `{"meta": {"id": "a", "labels": {"team": "a", "empty": ""}}, "spec": {
				"startPolicy": {"startAt": "2026-11-20T10:00:05Z", "jitter": "120s"},
				"sendPolicy": {"sendOncePolicy": {}},
				"action": {"httpRequest": {"url": "https://h/x", "method": "PUT", "headers": {"X-A": "1=2", "X-B": "b,c"},
					"body": "eyJhIjoxfQ==", "timeout": "3s", "giveUpOnClientError": true,
					"acceptedStatus": [{"first": 200, "last": 204}, {"first": 304}]}}}}`,
		},
		"periodic with one retry flag": {
			args: []string{
				"p", "--at", "2026-11-21T10:00:00+01:00", "--every", "90m", "--deadline", "2026-12-01T00:00:00Z",
				"--max-retries", "2", "--push-recipient", "r", "--push-type", "t", "--push-payload", "x", "--action-timeout", "1s",
			},
			want: `{"meta": {"id": "p"}, "spec": {
				"startPolicy": {"startAt": "2026-11-21T09:00:00Z"},
				"sendPolicy": {"deadline": "2026-12-01T00:00:00Z", "sendPeriodicallyPolicy": {"period": "5400s", "retryPolicy": {
					"maxRetries": 2, "restartPeriodScale": "1s", "restartPeriodBackOff": 2,
					"minRestartPeriod": "1s", "maxRestartPeriod": "60s"}}},
				"action": {"sendTechnicalPush": {"recipient": "r", "type": "t", "payload": "eA==", "timeout": "1s"}}}}`,
		},
		"calendar with a least delay above the usual greatest": {
			args: []string{
				"c", "--cron", "30 9 * * MON-FRI", "--time-zone", "Europe/Amsterdam", "--deadline-in", "24h",
				"--min-delay", "5m", "--mock", "fail-first=2",
			},
			want: `{"meta": {"id": "c"}, "spec": {
				"startPolicy": {"startAt": "2026-11-20T10:00:00Z"},
				"sendPolicy": {"deadline": "2026-11-21T10:00:00Z", "sendByCalendarPolicy": {
					"cron": "30 9 * * MON-FRI", "timeZone": "Europe/Amsterdam", "retryPolicy": {
					"maxRetries": 5, "restartPeriodScale": "1s", "restartPeriodBackOff": 2,
					"minRestartPeriod": "300s", "maxRestartPeriod": "300s"}}},
				"action": {"mockAction": {"failFirst": {"attempts": 2}}}}}`,
		},
		"all of retry": {
			args: []string{
				"r", "--max-retries", "9", "--min-delay", "2s", "--max-delay", "3s", "--scale", "0s",
				"--back-off", "0.5", "--mock", "sleep=2s",
			},
			want: `{"meta": {"id": "r"}, "spec": {
				"startPolicy": {"startAt": "2026-11-20T10:00:00Z"},
				"sendPolicy": {"sendOncePolicy": {"retryPolicy": {"maxRetries": 9, "restartPeriodScale": "0s",
					"restartPeriodBackOff": 0.5, "minRestartPeriod": "2s", "maxRestartPeriod": "3s"}}},
				"action": {"mockAction": {"sleep": {"duration": "2s"}}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			got := fake.run(t, append([]string{"action", "create"}, tc.args...)...).ok(t)
			require.Contains(t, got.stdout, "created "+tc.args[0]+": SCHEDULED, due ")
			require.Empty(t, got.stderr)
			sent := requestsOf[*gnomonv1.CreateActionRequest](fake)
			require.Len(t, sent, 1)
			requireProto(t, parseAction(t, tc.want), sent[0].GetAction())
		})
	}
}

// M-03
func TestCreateKnowsEveryMock(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	for flag, want := range map[string]string{
		"succeed": `{"succeed": {}}`, "fail": `{"fail": {}}`, "fail=broken": `{"fail": {"message": "broken"}}`,
		"fail-first=3": `{"failFirst": {"attempts": 3}}`, "panic": `{"panic": {}}`, "hang": `{"hang": {}}`,
		"sleep=1m": `{"sleep": {"duration": "60s"}}`,
	} {
		fake.run(t, "action", "create", "m-"+flag, "--mock", flag).ok(t)
		sent := requestsOf[*gnomonv1.CreateActionRequest](fake)
		got := sent[len(sent)-1].GetAction().GetSpec().GetAction().GetMockAction()
		requireProto(t, parse(t, &gnomonv1.MockAction{}, want), got)
	}
}

func TestCreateFromFile(t *testing.T) {
	t.Parallel()
	const asYAML = `# a comment
meta: {id: from-file, guid: ignored, labels: {team: a}}
spec:
  startPolicy: {startAt: 2026-11-21T10:00:00Z}
  sendPolicy:
    sendPeriodicallyPolicy: {period: 3600s}
  action:
    httpRequest: {url: "http://h/", body: aGk=}
status: {state: SUCCEEDED}
`
	const asJSON = `{"meta": {"id": "from-file", "labels": {"team": "a"}}, "spec": {
		"startPolicy": {"startAt": "2026-11-21T10:00:00Z"},
		"sendPolicy": {"sendPeriodicallyPolicy": {"period": "3600s"}},
		"action": {"httpRequest": {"url": "http://h/", "body": "aGk="}}}}`
	for name, tc := range map[string]struct{ file, content, stdin string }{
		"YAML":                  {file: "a.yaml", content: asYAML},
		"JSON":                  {file: "a.json", content: asJSON},
		"YAML without a suffix": {file: "a", content: asYAML},
		"JSON without a suffix": {file: "a", content: asJSON},
		"YAML from stdin":       {stdin: asYAML},
		"JSON from stdin":       {stdin: asJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			file := "-"
			if tc.file != "" {
				file = writeFile(t, tc.file, tc.content)
			}
			invocation{address: fake.address, stdin: tc.stdin}.run(t.Context(), "action", "create", "-f", file).ok(t)
			sent := requestsOf[*gnomonv1.CreateActionRequest](fake)
			require.Len(t, sent, 1)
			requireProto(t, parseAction(t, asJSON), sent[0].GetAction())
		})
	}
}

func TestCreateFlagsChangeTheFile(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "a.yaml", "meta: {id: a}\nspec: {action: {httpRequest: {url: 'http://h/', method: PUT}}}\n")
	fake.run(t, "action", "create", "b", "-f", file, "--url", "http://other/", "--request-id", "r1").ok(t)
	sent := requestsOf[*gnomonv1.CreateActionRequest](fake)[0]
	requireProto(t, parse(t, &gnomonv1.CreateActionRequest{}, `{"requestId": "r1", "action": {"meta": {"id": "b"}, "spec": {
		"startPolicy": {"startAt": "2026-11-20T10:00:00Z"}, "sendPolicy": {"sendOncePolicy": {}},
		"action": {"httpRequest": {"url": "http://other/", "method": "PUT"}}}}}`), sent)
}

func TestCreateBodyFromFileAndStdin(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "body", "\x00\xffbinary")
	fake.run(t, "action", "create", "a", "--url", "http://h/", "--body-file", file).ok(t)
	invocation{address: fake.address, stdin: "from stdin"}.
		run(t.Context(), "action", "create", "b", "--url", "http://h/", "--body-file", "-").ok(t)
	sent := requestsOf[*gnomonv1.CreateActionRequest](fake)
	require.Equal(t, "\x00\xffbinary", string(sent[0].GetAction().GetSpec().GetAction().GetHttpRequest().GetBody()))
	require.Equal(t, "from stdin", string(sent[1].GetAction().GetSpec().GetAction().GetHttpRequest().GetBody()))

	got := fake.run(t, "action", "create", "c", "--url", "http://h/", "--body-file", file+".missing")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: --body-file: open ")
}

func TestCreateValidateOnly(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	got := fake.run(t, "action", "create", "a", "--url", "http://h/", "--validate-only").ok(t)
	require.Equal(t, "valid a: SCHEDULED, due now, 2026-11-20 11:00:00 CET\n", got.stdout)
	require.True(t, requestsOf[*gnomonv1.CreateActionRequest](fake)[0].GetValidateOnly())
	require.Equal(t, ExitFailed, fake.run(t, "action", "get", "a").code)
}

func TestBrokenFilesAreRefusedInTheirOwnWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, content, want string }{
		"unknown field":  {"a.yaml", "meta: {id: a}\nspecs: {}\n", `unknown field "specs"`},
		"unknown in":     {"a.json", `{"meta": {"ids": "a"}}`, `unknown field "ids"`},
		"bad duration":   {"a.yaml", "spec: {sendPolicy: {sendPeriodicallyPolicy: {period: 5 minutes}}}", `invalid google.protobuf.Duration value "5 minutes"`},
		"no object":      {"a.yaml", "just a string", "must be an action with the fields meta and spec"},
		"two documents":  {"a.yaml", "meta: {id: a}\n---\nmeta: {id: b}\n", "must hold exactly one action, it holds 2"},
		"nothing":        {"a.yaml", "# nothing\n", "must hold exactly one action, it holds 0"},
		"broken YAML":    {"a.yaml", "meta: {id: a\n", "a.yaml: [1:7] "},
		"truncated JSON": {"a.json", `{"meta": {"id": "a"}`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			file := writeFile(t, tc.file, tc.content)
			got := fake.run(t, "action", "create", "-f", file)
			require.Equal(t, ExitFailed, got.code)
			require.Contains(t, got.stderr, tc.want)
			require.NotContains(t, got.stderr, "proto:")
			require.Empty(t, requestsOf[*gnomonv1.CreateActionRequest](fake))
		})
	}
}
