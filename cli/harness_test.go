package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// testNow is what the commands under test take for now.
var testNow = time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)

// ran is what a command left behind.
type ran struct {
	stdout, stderr string
	code           int
}

// invocation is a command to be run against a fake server.
type invocation struct {
	address string
	stdin   string
	getenv  map[string]string
	// width and height are the terminal's on stdout and stderr, none if 0.
	width, height int
	stdout        io.Writer
}

// run executes the real root command with args.
func (in invocation) run(ctx context.Context, args ...string) ran {
	var stdout, stderr bytes.Buffer
	out := io.Writer(&stdout)
	if in.stdout != nil {
		out = in.stdout
	}
	root := newRoot("v1.2.3", environment{
		now:    func() time.Time { return testNow },
		local:  time.FixedZone("CET", 3600),
		getenv: func(name string) string { return in.getenv[name] },
		terminal: func(io.Writer) (int, int, bool) {
			return in.width, in.height, in.width > 0
		},
	})
	root.SetIn(strings.NewReader(in.stdin))
	root.SetOut(out)
	root.SetErr(&stderr)
	if in.address != "" {
		args = append([]string{"--address", in.address}, args...)
	}
	root.SetArgs(args)
	code := Run(ctx, root)
	return ran{stdout: stdout.String(), stderr: stderr.String(), code: code}
}

// run executes a command against the fake, with no terminal.
func (f *fakeServer) run(t *testing.T, args ...string) ran {
	t.Helper()
	return invocation{address: f.address}.run(t.Context(), args...)
}

func (r ran) ok(t *testing.T) ran {
	t.Helper()
	require.Equal(t, ExitOK, r.code, "stderr: %s", r.stderr)
	return r
}

// parse reads proto3 JSON into a new message.
func parse[M proto.Message](t *testing.T, m M, text string) M {
	t.Helper()
	require.NoError(t, protojson.Unmarshal([]byte(text), m), text)
	return m
}

func parseAction(t *testing.T, text string) *gnomonv1.ScheduledAction {
	t.Helper()
	return parse(t, &gnomonv1.ScheduledAction{}, text)
}

// requireProto compares messages by their JSON, which reads well when they differ.
func requireProto(t *testing.T, want, got proto.Message) {
	t.Helper()
	wantText, err := encodeIndented(want)
	require.NoError(t, err)
	gotText, err := encodeIndented(got)
	require.NoError(t, err)
	require.Equal(t, string(wantText), string(gotText))
}

// writeFile makes a file in a directory of the test's own.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// lockedBuffer may be read while a command writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	// wrote receives after every write.
	wrote chan struct{}
}

func newLockedBuffer() *lockedBuffer { return &lockedBuffer{wrote: make(chan struct{}, 100)} }

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	select {
	case b.wrote <- struct{}{}:
	default:
	}
	return n, err
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// waiting is an action that waits for its time.
func waiting(t *testing.T, id string) *gnomonv1.ScheduledAction {
	t.Helper()
	return parseAction(t, `{
		"meta": {"id": "`+id+`", "guid": "guid-of-`+id+`", "labels": {"team": "a"},
			"createTime": "2026-11-20T09:00:00Z", "updateTime": "2026-11-20T09:00:00Z"},
		"spec": {
			"startPolicy": {"startAt": "2026-11-20T10:00:05Z"},
			"sendPolicy": {"sendOncePolicy": {"retryPolicy": {"maxRetries": 3, "restartPeriodScale": "0s",
				"minRestartPeriod": "1s", "maxRestartPeriod": "60s"}}},
			"action": {"httpRequest": {"method": "POST", "url": "http://127.0.0.1:7790/`+id+`", "body": "eyJoZWxsbyI6IndvcmxkIn0="}}
		},
		"status": {"state": "SCHEDULED", "scheduledAt": "2026-11-20T10:00:05Z"}
	}`)
}
