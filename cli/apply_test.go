package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const twoActions = `meta: {id: a, labels: {team: x}}
spec:
  startPolicy: {startAt: "2026-11-20T12:00:00Z"}
  sendPolicy: {sendOncePolicy: {}}
  action: {httpRequest: {url: "http://h/a"}}
---
meta: {id: b}
spec:
  sendPolicy: {sendPeriodicallyPolicy: {period: 3600s}}
  action: {httpRequest: {url: "http://h/b", method: PUT}}
`

// changes are the updates that were meant to change something.
func changes(fake *fakeServer) []*gnomonv1.UpdateActionRequest {
	var found []*gnomonv1.UpdateActionRequest
	for _, request := range requestsOf[*gnomonv1.UpdateActionRequest](fake) {
		if !request.GetValidateOnly() {
			found = append(found, request)
		}
	}
	return found
}

// Unchanged actions are not sent, or their counters and pauses would be lost (M-42).
// The first document differs from what stands, since the server filled in defaults
// (M-19); the second says nothing of its start.
func TestApplyTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "actions.yaml", twoActions)
	got := fake.run(t, "action", "apply", "-f", file).ok(t)
	require.Equal(t, "created   a\ncreated   b\n2 created\n", got.stdout)
	sent := changes(fake)
	require.Len(t, sent, 2)
	for _, request := range sent {
		require.True(t, request.GetAllowMissing())
		require.Empty(t, request.GetEtag())
	}

	fake.mu.Lock()
	fake.actions["a"].Status.State = gnomonv1.Status_PAUSED
	fake.mu.Unlock()
	got = fake.run(t, "action", "apply", "-f", file).ok(t)
	require.Equal(t, "unchanged a\nunchanged b\n2 unchanged\n", got.stdout)
	require.Len(t, changes(fake), 2, "nothing more was sent")
	require.Empty(t, got.stderr)
}

func TestApplyChangesWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ from, to string }{
		"spec":   {"http://h/a", "http://h/other"},
		"label":  {"team: x", "team: y"},
		"start":  {"12:00:00Z", "13:00:00Z"},
		"method": {`url: "http://h/a"`, `url: "http://h/a", method: GET`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			fake.run(t, "action", "apply", "-f", writeFile(t, "a.yaml", twoActions)).ok(t)
			changed := strings.Replace(twoActions, tc.from, tc.to, 1)
			require.NotEqual(t, twoActions, changed)
			got := fake.run(t, "action", "apply", "-f", writeFile(t, "a.yaml", changed)).ok(t)
			require.Equal(t, "changed   a\nunchanged b\n1 changed, 1 unchanged\n", got.stdout)
			sent := changes(fake)
			require.Len(t, sent, 3)
			require.Equal(t, "a", sent[2].GetAction().GetMeta().GetId())
		})
	}
}

// A server that answers a trial with the action as it stands must not make a change
// look like none.
func TestApplyTrustsOnlyAnAnswerToItsQuestion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	stands := waiting(t, "a")
	fake.put(stands)
	want := proto.CloneOf(stands)
	want.GetSpec().GetAction().GetHttpRequest().Url = "http://h/other"
	a := applier{client: echo{stands: stands}, session: &session{env: environment{now: func() time.Time { return testNow }}}}
	require.False(t, a.same(t.Context(), want, stands, testNow))
}

// M-11: a document without a start keeps the one that stands, in phase.
func TestApplyWithoutAStartKeepsThePhase(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.run(t, "action", "apply", "-f", writeFile(t, "a.yaml", twoActions)).ok(t)
	fake.mu.Lock()
	fake.actions["b"].Spec.StartPolicy.StartAt = timestamppb.New(testNow.Add(-25*time.Hour - 10*time.Minute))
	fake.mu.Unlock()

	got := fake.run(t, "action", "apply", "-f", writeFile(t, "a.yaml", twoActions)).ok(t)
	require.Contains(t, got.stdout, "unchanged b\n", "the start has passed long ago")

	got = fake.run(t, "action", "apply", "-f", writeFile(t, "a.yaml", strings.Replace(twoActions, "PUT", "GET", 1))).ok(t)
	require.Contains(t, got.stdout, "changed   b\n")
	sent := changes(fake)
	require.Equal(t, testNow.Add(50*time.Minute), startOf(sent[len(sent)-1].GetAction()))
}

func TestApplyDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "a"))
	got := fake.run(t, "action", "apply", "--dry-run", "-f", writeFile(t, "a.yaml", twoActions)).ok(t)
	require.Equal(t, "changed   a (dry run)\ncreated   b (dry run)\n1 created, 1 changed (dry run)\n", got.stdout)
	require.Empty(t, changes(fake))
}

func TestApplyGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.refuse = func(m proto.Message) error {
		if r, ok := m.(*gnomonv1.UpdateActionRequest); ok && r.GetAction().GetMeta().GetId() == "a" {
			return status.Error(codes.InvalidArgument, "no")
		}
		return nil
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"1.yaml": twoActions, "2.json": `{"meta": {"id": "b"}}`, "3.yml": "meta: {idd: x}\n---\nmeta: {}\n",
		"4.yaml": "meta: {id: [", "5.jsonl": "{\"meta\":{\"id\":\"c\"}}\n{\"meta\":{\"id\":\"d\"}}\n", "6.txt": "not read", "7.yaml": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	got := fake.run(t, "action", "apply", "-f", dir, "-f", filepath.Join(dir, "missing"))
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "failed    a\ncreated   b\nfailed    b\ncreated   c\ncreated   d\n3 created, 7 failed\n", got.stdout)
	path := func(name string) string { return filepath.Join(dir, name) }
	errors := strings.Split(strings.TrimSpace(got.stderr), "\n")
	require.Len(t, errors, 8, got.stderr)
	require.Equal(t, "error: "+path("1.yaml")+", document 1 (a): INVALID_ARGUMENT: no", errors[0])
	require.Equal(t, "error: "+path("2.json")+` (b): meta.id "b" stands in `+path("1.yaml")+", document 2 already", errors[1])
	require.Equal(t, "error: "+path("3.yml")+`, document 1: unknown field "idd"`, errors[2])
	require.Equal(t, "error: "+path("3.yml")+", document 2: meta.id must be set", errors[3])
	require.Contains(t, errors[4], "error: "+path("4.yaml")+": ")
	require.Equal(t, "error: "+path("7.yaml")+": holds no action", errors[5])
	require.Contains(t, errors[6], "missing: stat: no such file")
	require.Equal(t, "error: 7 of 10 documents failed", errors[7])
}

// What list prints can be applied, elsewhere or after a loss.
func TestApplyTakesWhatListPrints(t *testing.T) {
	t.Parallel()
	from, to := startFake(t), startFake(t)
	for i := range 5 {
		from.put(waiting(t, fmt.Sprintf("a-%d", i)))
	}
	for _, format := range []string{"yaml", "json"} {
		backup := from.run(t, "action", "list", "-o", format).ok(t).stdout
		got := invocation{address: to.address, stdin: backup}.run(t.Context(), "action", "apply", "-f", "-").ok(t)
		require.Contains(t, got.stdout, map[string]string{"yaml": "\n5 created\n", "json": "\n5 unchanged\n"}[format])
	}
	sent := changes(to)
	require.Len(t, sent, 5)
	require.Nil(t, sent[0].GetAction().GetStatus())
	require.Empty(t, sent[0].GetAction().GetMeta().GetGuid())
}

func TestApplyForPrograms(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "a.yaml", twoActions+"---\nmeta: {}\n")
	got := fake.run(t, "action", "apply", "-f", file, "-o", "json")
	require.Equal(t, ExitFailed, got.code)
	var results []string
	for scanner := bufio.NewScanner(strings.NewReader(got.stdout)); scanner.Scan(); {
		var line struct {
			ID     string          `json:"id"`
			Result string          `json:"result"`
			Action json.RawMessage `json:"action"`
		}
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line))
		results = append(results, line.ID+" "+line.Result)
		if line.Result == "created" {
			require.Equal(t, line.ID, parseAction(t, string(line.Action)).GetMeta().GetId())
		}
	}
	require.Equal(t, []string{"a created", "b created", " failed"}, results)
	for line := range strings.Lines(got.stderr) {
		require.True(t, json.Valid([]byte(line)), line)
	}

	asYAML := fake.run(t, "action", "apply", "-f", file, "-o", "yaml")
	trees, err := decodeTrees("x.yaml", []byte(asYAML.stdout))
	require.NoError(t, err)
	require.Len(t, trees, 3)
	require.Equal(t, "unchanged", trees[0].(map[string]any)["result"])
}

func TestApplyShowsProgressOfManyOnATerminal(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	var file strings.Builder
	for i := range 40 {
		fmt.Fprintf(&file, "---\nmeta: {id: a-%02d}\nspec: {action: {httpRequest: {url: 'http://h/'}}}\n", i)
	}
	in := invocation{address: fake.address, stdin: file.String(), width: 80, height: 20}
	got := in.run(t.Context(), "action", "apply", "-f", "-").ok(t)
	require.Contains(t, got.stderr, "applying")
	require.Contains(t, got.stderr, "39/40")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 41)
	require.Equal(t, "created   a-00", lines[0], "in the order of the documents")
	require.Equal(t, "created   a-39", lines[39])
	require.Equal(t, "40 created", lines[40])

	in.width = 0
	require.Empty(t, in.run(t.Context(), "action", "apply", "-f", "-").ok(t).stderr)
}

func TestApplyFreshAsksTheActions(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.run(t, "action", "apply", "--fresh", "-f", writeFile(t, "a.yaml", twoActions)).ok(t)
	for _, request := range requestsOf[*gnomonv1.GetActionRequest](fake) {
		require.True(t, request.GetFresh())
	}
}
