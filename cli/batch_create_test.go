package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const releaseYAML = `# a comment
id: release
uid: ignored
scheduledAt: 2026-11-21T03:00:00Z
labels: {team: a}
changes:
  - dnsRecord: {action: ADD, name: www.example.org, type: A, data: [192.0.2.1], ttl: 300}
    status: {state: COMPLETE}
  - httpChange:
      validateUrl: http://127.0.0.1:7790/judge
      applyUrl: http://127.0.0.1:7790/apply
      body: {order: 7, lines: [1, null, "x"]}
status: {state: COMPLETE}
`

const releaseJSON = `{"id": "release", "scheduledAt": "2026-11-21T03:00:00Z", "labels": {"team": "a"}, "changes": [
	{"dnsRecord": {"action": "ADD", "name": "www.example.org", "type": "A", "data": ["192.0.2.1"], "ttl": 300}},
	{"httpChange": {"validateUrl": "http://127.0.0.1:7790/judge", "applyUrl": "http://127.0.0.1:7790/apply",
		"body": {"order": 7, "lines": [1, null, "x"]}}}]}`

func parseBatch(t *testing.T, text string) *gnomonv1.Batch {
	t.Helper()
	return parse(t, &gnomonv1.Batch{}, text)
}

func TestBatchCreateFromFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, content, stdin string }{
		"YAML":            {file: "b.yaml", content: releaseYAML},
		"JSON":            {file: "b.json", content: releaseJSON},
		"YAML from stdin": {stdin: releaseYAML},
		"JSON from stdin": {stdin: releaseJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			file := "-"
			if tc.file != "" {
				file = writeFile(t, tc.file, tc.content)
			}
			got := invocation{address: fake.address, stdin: tc.stdin}.run(t.Context(), "batch", "create", "-f", file).ok(t)
			require.Equal(t, "created release: PENDING, 2 changes, due in 17h, 2026-11-21 04:00:00 CET\n", got.stdout)
			require.Empty(t, got.stderr)
			sent := batchRequests[*gnomonv1.CreateBatchRequest](fake)
			require.Len(t, sent, 1)
			requireProto(t, &gnomonv1.CreateBatchRequest{Batch: parseBatch(t, releaseJSON)}, sent[0])
		})
	}
}

const zoneText = `$ORIGIN example.org.
$TTL 300
$OWNER shop
+ www  A  192.0.2.1
+ www  A  192.0.2.2
- old  TXT
`

const zoneChanges = `
	{"dnsRecord": {"action": "ADD", "name": "www.example.org.", "type": "A", "ttl": 300, "data": ["192.0.2.1", "192.0.2.2"], "owner": "shop"}},
	{"dnsRecord": {"action": "DELETE", "name": "old.example.org.", "type": "TXT", "owner": "shop"}}`

func TestBatchCreateFromAZoneFile(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	zone := writeFile(t, "changes.zone", zoneText)
	got := fake.run(t, "batch", "create", "dns-1", "--zone-file", zone, "--in", "1h", "--comment", "why",
		"--label", "team=b", "--request-id", "r1", "-o", "json").ok(t)
	requireProto(t, parse(t, &gnomonv1.CreateBatchRequest{}, `{"requestId": "r1", "batch": {"id": "dns-1", "comment": "why",
		"labels": {"team": "b"}, "scheduledAt": "2026-11-20T11:00:00Z", "changes": [`+zoneChanges+`]}}`),
		batchRequests[*gnomonv1.CreateBatchRequest](fake)[0])
	require.Equal(t, gnomonv1.BatchStatus_PENDING, parseBatch(t, got.stdout).GetStatus().GetState())

	// The changes of both kinds of files follow each other, one of them from stdin.
	file := writeFile(t, "b.json", releaseJSON)
	invocation{address: fake.address, stdin: zoneText}.run(t.Context(), "batch", "create", "both", "-f", file, "--zone-file", "-", "--label", "team-").ok(t)
	want := parseBatch(t, releaseJSON)
	want.Id, want.Labels = "both", nil
	want.Changes = append(want.Changes, parseBatch(t, `{"changes": [`+zoneChanges+`]}`).GetChanges()...)
	sent := batchRequests[*gnomonv1.CreateBatchRequest](fake)[1].GetBatch()
	sent.Labels = nil // an empty map is sent as none
	requireProto(t, want, sent)
}

// All mistakes of a file are named, with their lines, and nothing is sent.
func TestMistakesOfAZoneFile(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	zone := writeFile(t, "changes.zone", "$ORIGIN example.org.\n+ www A 192.0.2.1.1\nwww A 192.0.2.1\n")
	got := fake.run(t, "batch", "create", "a", "--zone-file", zone, "--in", "1h")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, zone+":2: ")
	require.Contains(t, got.stderr, zone+":3: a line begins with")
	require.Empty(t, batchRequests[*gnomonv1.CreateBatchRequest](fake))
}

func TestBatchFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, content, want string }{
		"unknown field": {"b.yaml", "id: a\nchange: []\n", `unknown field "change"`},
		"a list":        {"b.yaml", "- dnsRecord: {}\n", "must be a batch with the fields scheduledAt and changes"},
		"a zone":        {"b", zoneText, "b: "},
		"two":           {"b.yaml", "id: a\n---\nid: b\n", "must hold exactly one batch, it holds 2"},
		"nothing":       {"b.yaml", "# nothing\n", "must hold exactly one batch, it holds 0"},
		"truncated":     {"b.json", `{"id": "a"`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			got := fake.run(t, "batch", "create", "-f", writeFile(t, tc.file, tc.content), "--in", "1h")
			require.Equal(t, ExitFailed, got.code)
			require.Contains(t, got.stderr, tc.want)
			require.NotContains(t, got.stderr, "proto:")
			require.Empty(t, batchRequests[*gnomonv1.CreateBatchRequest](fake))
		})
	}
	got := startFake(t).run(t, "batch", "create", "-f", "missing.yaml")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: missing.yaml: open: ")
}

// V-03: all problems are a table, each with its change's index; programs get the status.
func TestProblemsAreATable(t *testing.T) {
	t.Parallel()
	problems := append([]*gnomonv1.Problem{
		{Severity: gnomonv1.Problem_HARD, Code: "TOO_EARLY", Field: "scheduled_at", Message: "scheduled_at must lie in the future"},
	}, twoProblems()...)
	problems[2].Message = "it is \x1b[31mFriday"
	fake := refusingBatches(t, "1003", problems, &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: "request_id", Description: "must be visible ASCII"}, {Field: "batch.scheduled_at", Description: "must lie in the future"},
	}})
	file := writeFile(t, "b.json", releaseJSON)
	got := invocation{address: fake.address, width: 40, height: 9}.run(t.Context(), "batch", "create", "-f", file, "--validate-only")
	require.Equal(t, ExitFailed, got.code)
	require.Empty(t, got.stdout)
	require.Equal(t, `error: the batch is refused and nothing was stored, 1003 problems:
CHANGE  KIND  CODE           FIELD            MESSAGE
-       HARD  TOO_EARLY      scheduled_at     scheduled_at must lie in the future
0       HARD  RECORD_EXISTS  dns_record.name  www.example.org. A exists
1       SOFT  FRIDAY                          it is \x1b[31mFriday
note: 1000 more are not shown
error: request_id: must be visible ASCII
`, got.stderr)

	got = fake.run(t, "batch", "create", "-f", file, "-o", "json")
	require.Equal(t, ExitFailed, got.code)
	var answer struct {
		Code    int              `json:"code"`
		Details []map[string]any `json:"details"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stderr), &answer))
	require.Equal(t, 3, answer.Code)
	require.Equal(t, "type.googleapis.com/gnomon.v1.BatchProblems", answer.Details[1]["@type"])
	require.Len(t, answer.Details[1]["problems"], 3)
}

func TestBatchCreateValidateOnly(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	got := fake.run(t, "batch", "create", "-f", writeFile(t, "b.json", releaseJSON), "--validate-only").ok(t)
	require.Equal(t, "valid release: PENDING, 2 changes, due in 17h, 2026-11-21 04:00:00 CET\n", got.stdout)
	require.True(t, batchRequests[*gnomonv1.CreateBatchRequest](fake)[0].GetValidateOnly())
	require.Equal(t, ExitFailed, fake.run(t, "batch", "get", "release").code)
}

// What 'get' shows can be submitted again under another id.
func TestBatchGetIsAFile(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"yaml", "json"} {
		fake := startFake(t)
		fake.batches.put(release(t, gnomonv1.BatchStatus_PARTIAL_FAILURE))
		text := fake.run(t, "batch", "get", "release", "-o", format).ok(t).stdout
		invocation{address: fake.address, stdin: text}.run(t.Context(), "batch", "create", "again", "-f", "-", "--in", "1h").ok(t)
		want := release(t, gnomonv1.BatchStatus_PENDING)
		want = &gnomonv1.Batch{Id: "again", ScheduledAt: want.GetScheduledAt(), Changes: want.GetChanges(), Labels: want.GetLabels(), Comment: want.GetComment()}
		for _, c := range want.GetChanges() {
			c.Status = nil
		}
		got := batchRequests[*gnomonv1.CreateBatchRequest](fake)[0].GetBatch()
		require.True(t, proto.Equal(want, got), "%v", got)
	}
}
