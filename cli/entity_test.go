package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// offer is an entity.
func offer(t *testing.T, id string) *gnomonv1.Entity {
	t.Helper()
	return parse(t, &gnomonv1.Entity{}, `{"type": "offer", "id": "`+id+`", "version": "3", "changedByStage": "price",
		"content": {"model": "a4", "photos": ["a", {"x": null}]}, "createTime": "2026-11-20T09:00:00Z", "updateTime": "2026-11-20T09:59:00Z"}`)
}

// What flags, files and stdin hold is what is sent.
func TestEntityPut(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "offer.yaml", "model: a4\nphotos:\n  - a\n  - {x: null}\n")
	for name, tc := range map[string]struct {
		stdin, want string
		args        []string
		says        string
	}{
		"text":  {"", `{"entity": {"type": "offer", "id": "o", "content": {"a": 1.5}}}`, []string{"--content", `{"a": 1.5}`}, "put offer o: version 1\n"},
		"file":  {"", `{"entity": {"type": "offer", "id": "o", "version": "3", "content": {"model": "a4", "photos": ["a", {"x": null}]}}}`, []string{"-f", file, "--version", "3"}, "put offer o: version 1\n"},
		"stdin": {`{"a": {}}`, `{"entity": {"type": "offer", "id": "o", "content": {"a": {}}}, "createOnly": true, "requestId": "r", "validateOnly": true}`, []string{"-f", "-", "--create-only", "--request-id", "r", "--validate-only"}, "valid offer o\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			got := invocation{address: fake.address, stdin: tc.stdin}.run(t.Context(), append([]string{"entity", "put", "offer", "o"}, tc.args...)...).ok(t)
			require.Equal(t, tc.says, got.stdout)
			sent := sentTo[*gnomonv1.PutEntityRequest](&fake.entities.history)
			require.Len(t, sent, 1)
			requireProto(t, parse(t, &gnomonv1.PutEntityRequest{}, tc.want), sent[0])
		})
	}
	fake := startFake(t)
	for _, content := range []string{"- 1\n", "a: 1\n---\nb: 1\n", "{"} {
		got := fake.run(t, "entity", "put", "offer", "o", "-f", writeFile(t, "bad.yaml", content))
		require.Equal(t, ExitFailed, got.code, content)
		require.Contains(t, got.stderr, "bad.yaml: ")
	}
	fake.entities.refuse = func(proto.Message) error { return status.Error(codes.Aborted, "another version") }
	got := fake.run(t, "entity", "put", "offer", "o", "--content", "{}", "--version", "1")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: ABORTED: another version\nhint: the entity has changed meanwhile; look at it with 'gnomon entity get' and try again\n", got.stderr)
}

func TestEntityGetListDelete(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "no entities\n", fake.run(t, "entity", "list", "offer").ok(t).stdout)
	fake.entities.all["offer/o-1"], fake.entities.all["offer/o-2"] = offer(t, "o-1"), offer(t, "o-2")
	require.Equal(t, `offer o-1
  Version    3
  Changed    1m ago, 2026-11-20 10:59:00 CET by price
  Created    1h ago, 2026-11-20 10:00:00 CET
Content
  model: a4
  photos:
    - a
    - x: null
`, fake.run(t, "entity", "get", "offer", "o-1").ok(t).stdout)
	requireProto(t, offer(t, "o-1"), parse(t, &gnomonv1.Entity{}, fake.run(t, "entity", "get", "offer", "o-1", "-o", "json").ok(t).stdout))
	require.Equal(t, `ID   VERSION  CHANGED          CONTENT
o-1  3        1m ago by price  {"model":"a4","photos":["a",{"x":null}]}
o-2  3        1m ago by price  {"model":"a4","photos":["a",{"x":null}]}
`, fake.run(t, "entity", "list", "offer").ok(t).stdout)
	got := fake.run(t, "entity", "list", "offer", "--page-size", "1").ok(t)
	require.Equal(t, "note: there are more; go on with --page-token 1, or list more with --limit\n", got.stderr)
	all := fake.run(t, "entity", "list", "offer", "--page-size", "1", "--limit", "5", "-o", "json").ok(t)
	require.Len(t, parse(t, &gnomonv1.ListEntitiesResponse{}, all.stdout).GetEntities(), 2)
	require.Equal(t, "deleted offer o-1\n", fake.run(t, "entity", "delete", "offer", "o-1", "--version", "3").ok(t).stdout)
	require.EqualValues(t, 3, sentTo[*gnomonv1.DeleteEntityRequest](&fake.entities.history)[0].GetVersion())
	got = fake.run(t, "entity", "get", "offer", "o-1")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "NOT_FOUND")
}

// A watch shows versions until the entity is deleted.
func TestEntityWatch(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"table": `2026-11-20T10:00:00Z version=3 by price {"model":"a4","photos":["a",{"x":null}]}
2026-11-20T10:00:00Z version=4 {"model":"a5"}
deleted offer o-1
`,
		"json": `{"type":"offer","id":"o-1","content":{"model":"a4","photos":["a",{"x":null}]},"version":"3","createTime":"2026-11-20T09:00:00Z","updateTime":"2026-11-20T09:59:00Z","changedByStage":"price"}
{"type":"offer","id":"o-1","content":{"model":"a5"},"version":"4"}
`,
	} {
		fake := startFake(t)
		fake.entities.all["offer/o-1"] = offer(t, "o-1")
		fake.entities.changes <- parse(t, &gnomonv1.Entity{}, `{"type": "offer", "id": "o-1", "version": "4", "content": {"model": "a5"}}`)
		close(fake.entities.changes)
		require.Equal(t, want, fake.run(t, "entity", "watch", "offer", "o-1", "-o", format).ok(t).stdout)
	}
	got := startFake(t).run(t, "entity", "watch", "offer", "o-1")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "NOT_FOUND")
}

// Seed 004, check: what waits, what is armed, what went wrong.
func TestEntityCheck(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "nothing is pending\n", fake.run(t, "entity", "check", "offer", "o").ok(t).stdout)
	busy := parse(t, &gnomonv1.CheckEntityResponse{}, `{
		"pending": [
			{"stage": "price", "enqueueTime": "2026-11-20T09:59:50Z", "visiting": true},
			{"stage": "photos", "enqueueTime": "2026-11-20T09:59:55Z", "failures": 2, "error": "no \u001b[31mway", "notBefore": "2026-11-20T10:00:04Z"},
			{"stage": "video", "enqueueTime": "2026-11-20T09:59:59Z", "background": true}
		],
		"timers": [{"stage": "withdraw", "dueTime": "2026-11-21T10:00:00Z"}], "asking": ["audit", "tax"]}`)
	fake.entities.checks = []*gnomonv1.CheckEntityResponse{busy, busy, {Asking: []string{"tax"}}, {Timers: busy.GetTimers()}}
	require.Equal(t, `STAGE     STATE       SINCE/DUE                       TROUBLE
price     visiting    10s ago
photos    waiting     5s ago                          2 failures: no \x1b[31mway; again in 4s
video     background  1s ago
withdraw  timer       in 1d, 2026-11-21 11:00:00 CET
to be asked: audit, tax
`, fake.run(t, "entity", "check", "offer", "o").ok(t).stdout)
	got := fake.run(t, "entity", "check", "offer", "o", "--wait", "-o", "json").ok(t)
	require.Empty(t, parse(t, &gnomonv1.CheckEntityResponse{}, got.stdout).GetPending())
	require.Len(t, sentTo[*gnomonv1.CheckEntityRequest](&fake.entities.history), 5)
	fake.entities.checks = []*gnomonv1.CheckEntityResponse{busy}
	got = fake.run(t, "entity", "check", "offer", "o", "--wait", "--timeout", "300ms")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "DEADLINE_EXCEEDED")
}

// G-18: a state is shown, and set by compare-and-set only.
func TestEntityState(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "offer o price\n  Version    0\n  State      none\n", fake.run(t, "entity", "state", "get", "offer", "o", "price").ok(t).stdout)
	require.Equal(t, "set offer o price: version 1\n",
		fake.run(t, "entity", "state", "set", "offer", "o", "price", "--version", "0", "--state", `{"asked": 3}`).ok(t).stdout)
	require.Equal(t, `offer o price
  Version    1
  Changed    now, 2026-11-20 11:00:00 CET
  Type       type.googleapis.com/google.protobuf.Struct
State
  '@type': type.googleapis.com/google.protobuf.Struct
  value:
    asked: 3
`, strings.ReplaceAll(fake.run(t, "entity", "state", "get", "offer", "o", "price").ok(t).stdout, `"@type"`, "'@type'"))
	got := fake.run(t, "entity", "state", "set", "offer", "o", "price", "--version", "7", "--none")
	require.Equal(t, ExitOutcome, got.code)
	require.Contains(t, got.stdout, "asked: 3")
	require.Equal(t, "error: state offer o price is of version 1; it was not changed\n", got.stderr)
	got = fake.run(t, "entity", "state", "set", "offer", "o", "price", "--version", "1", "--visit", "-o", "json",
		"--state", `{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "x"}`).ok(t)
	require.Contains(t, got.stdout, `"updated": true`)
	sent := sentTo[*gnomonv1.UpdateStageStateRequest](&fake.entities.history)
	require.True(t, sent[2].GetVisit())
	require.Equal(t, "type.googleapis.com/google.protobuf.StringValue", sent[2].GetState().GetTypeUrl())
	fake.run(t, "entity", "state", "set", "offer", "o", "price", "--version", "2", "-f", writeFile(t, "state.yaml", "asked: 4\n")).ok(t)
	fake.entities.states["price"] = &gnomonv1.StageState{State: &anypb.Any{TypeUrl: "type.googleapis.com/acme.State", Value: []byte{1, 2}}, Version: 9}
	require.Contains(t, fake.run(t, "entity", "state", "get", "offer", "o", "price").ok(t).stdout, "2 bytes that only the stage can read")
	require.Equal(t, ExitFailed, fake.run(t, "entity", "state", "get", "offer", "o", "price", "-o", "json").code)
}

func TestStageListAndQueue(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, `STAGE     TYPE   WHERE           RATE   PARALLEL  FIELDS
audit     order  worker          -      -         all
price     offer  127.0.0.1:7900  2.5/s  4         model,year
withdraw  offer  worker          -      -         all
`, fake.run(t, "stage", "list").ok(t).stdout)
	require.Equal(t, "nothing waits\n", fake.run(t, "stage", "queue", "price").ok(t).stdout)
	fake.entities.queue = []*gnomonv1.PeekStageQueueResponse_Entry{
		{Type: "offer", Id: "o-1", EnqueueTime: timestamppb.New(testNow.Add(-60e9))}, {Type: "offer", Id: "o-2", EnqueueTime: timestamppb.New(testNow), Background: true},
	}
	require.Equal(t, `TYPE   ID   SINCE
offer  o-1  1m ago, 2026-11-20 10:59:00 CET
offer  o-2  now, 2026-11-20 11:00:00 CET     background
`, fake.run(t, "stage", "queue", "price", "--page-size", "7").ok(t).stdout)
	require.EqualValues(t, 7, sentTo[*gnomonv1.PeekStageQueueRequest](&fake.entities.history)[1].GetPageSize())
}

// G-30: a walk is begun, looked at, followed to its end, cancelled.
func TestStageRewalk(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Contains(t, fake.run(t, "stage", "rewalk", "price", "--rate", "5", "--unconditional").ok(t).stdout, "RUNNING")
	requireProto(t, &gnomonv1.RewalkStageRequest{Stage: "price", Rate: 5, Unconditional: true}, sentTo[*gnomonv1.RewalkStageRequest](&fake.entities.history)[0])
	require.Contains(t, fake.run(t, "stage", "rewalk", "price", "--status").ok(t).stdout, "3 of about 3")
	require.Contains(t, fake.run(t, "stage", "rewalk", "price", "--cancel").ok(t).stdout, "CANCELLED")
	half := &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING, Walked: 2, Enqueued: 1, Total: 3}
	done := &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_DONE, Walked: 3, Enqueued: 1, Total: 3}
	fake.entities.walks = []*gnomonv1.Rewalk{half, half, done}
	require.Equal(t, `2026-11-20T10:00:00Z RUNNING walked=0/3 enqueued=0
2026-11-20T10:00:00Z RUNNING walked=2/3 enqueued=1
2026-11-20T10:00:00Z DONE walked=3/3 enqueued=1
`, fake.run(t, "stage", "rewalk", "price", "--watch").ok(t).stdout)
	require.Len(t, sentTo[*gnomonv1.RewalkStageRequest](&fake.entities.history), 2)

	fake.entities.walks = []*gnomonv1.Rewalk{half, {Stage: "price", State: gnomonv1.Rewalk_CANCELLED}}
	screen := newLockedBuffer()
	got := invocation{address: fake.address, width: 60, height: 20, stdout: screen}.run(t.Context(), "stage", "rewalk", "price", "--status", "--watch")
	require.Equal(t, ExitOutcome, got.code)
	require.Equal(t, "error: walk of price is CANCELLED\n", got.stderr)
	require.Contains(t, screen.String(), "walking")
	require.Contains(t, screen.String(), "(2/3)")
}

func TestEntityCompletion(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.entities.all["offer/o-1"] = offer(t, "o-1")
	for line, want := range map[string]string{
		"entity get ":                 "offer\norder\n",
		"entity get of":               "offer\n",
		"entity get offer ":           "o-1\tversion 3\n",
		"entity state get offer o-1 ": "price\nwithdraw\n",
		"stage queue p":               "price\tof offer\n",
	} {
		args := strings.Split(line, " ")
		got := fake.run(t, append([]string{"__complete"}, args...)...).ok(t)
		for offered := range strings.Lines(want) {
			require.Contains(t, got.stdout, offered, line)
		}
	}
	got := invocation{address: "127.0.0.1:1"}.run(context.WithoutCancel(t.Context()), "__complete", "entity", "get", "").ok(t)
	require.NotContains(t, got.stdout, "offer")
}
