package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func succeeded(t *testing.T) *gnomonv1.ScheduledAction {
	t.Helper()
	action := waiting(t, "hello")
	action.Status.State = gnomonv1.Status_SUCCEEDED
	action.Status.SuccessfulAttemptsCounter = 1
	return action
}

func TestWatchPrintsALineForEachChangeAndEndsWithTheAction(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	running := waiting(t, "hello")
	running.Status.State = gnomonv1.Status_RUNNING
	running.Status.CurrentAttemptStatus = &gnomonv1.AttemptStatus{Attempt: 1}
	for _, action := range []*gnomonv1.ScheduledAction{waiting(t, "hello"), running, retrying(t), succeeded(t)} {
		fake.changes <- action
	}
	got := fake.run(t, "action", "watch", "hello").ok(t)
	require.Equal(t, `2026-11-20T10:00:00Z SCHEDULED due=2026-11-20T10:00:05Z ok/fail/int=0/0/0
2026-11-20T10:00:00Z RUNNING due=2026-11-20T10:00:05Z ok/fail/int=0/0/0 current=#1
2026-11-20T10:00:00Z RETRYING due=2026-11-20T10:00:03.5Z ok/fail/int=0/2/1 last=#3:FAILURE error="status 503" Mirrored=FALSE
2026-11-20T10:00:00Z SUCCEEDED ok/fail/int=1/0/0
`, got.stdout)
	require.Empty(t, got.stderr)
}

func TestWatchAsJSONIsOneLineEach(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	fake.changes <- succeeded(t)
	got := fake.run(t, "action", "watch", "hello", "-o", "json").ok(t)
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	require.Len(t, lines, 2)
	requireProto(t, waiting(t, "hello"), parseAction(t, lines[0]))
	requireProto(t, succeeded(t), parseAction(t, lines[1]))
}

func TestWatchAsYAMLIsOneDocumentEach(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	fake.changes <- succeeded(t)
	got := fake.run(t, "action", "watch", "hello", "-o", "yaml").ok(t)
	trees, err := decodeTrees("a.yaml", []byte(got.stdout))
	require.NoError(t, err)
	require.Len(t, trees, 2)
}

func TestWatchRepaintsOnATerminal(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	fake.changes <- succeeded(t)
	in := invocation{address: fake.address, width: 40, height: 9}
	got := in.run(t.Context(), "action", "watch", "hello", "--no-color").ok(t)
	before, after, found := strings.Cut(got.stdout, "\x1b[8A\x1b[J")
	require.True(t, found, "%q", got.stdout)
	require.Equal(t, 8, strings.Count(before, "\n"), "cut to a line less than the terminal's height")
	require.Contains(t, before, "State      SCHEDULED\n")
	require.Contains(t, after, "State      SUCCEEDED\n")
	for line := range strings.SplitSeq(before, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 40)
	}
}

// Between changes a terminal shows how the time goes by.
func TestWatchRepaintsAsTimeGoesBy(t *testing.T) {
	t.Parallel()
	out := newLockedBuffer()
	now := testNow
	tick := make(chan time.Time)
	changes := make(chan change)
	w := &watcher{
		p:      &printer{out: out, format: outputTable, moment: moment{now: func() time.Time { return now }, local: time.UTC}},
		height: 50, repaints: true, tick: tick,
	}
	ended := make(chan error, 1)
	go func() { ended <- w.follow(t.Context(), changes) }()
	tick <- now // nothing to repaint yet
	changes <- change{action: waiting(t, "hello")}
	<-out.wrote
	require.Contains(t, out.String(), "in 5s")
	now = now.Add(3 * time.Second)
	tick <- now
	<-out.wrote
	require.Contains(t, out.String(), "in 2s")
	changes <- change{action: succeeded(t)}
	require.NoError(t, <-ended)
}

func TestWatchEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	ctx, interrupt := context.WithCancel(t.Context())
	out := newLockedBuffer()
	ended := make(chan ran, 1)
	go func() { ended <- invocation{address: fake.address, stdout: out}.run(ctx, "action", "watch", "hello") }()
	<-out.wrote
	interrupt()
	got := <-ended
	require.Equal(t, ExitInterrupted, got.code)
	require.Empty(t, got.stderr)
	require.Contains(t, out.String(), "SCHEDULED")
}

func TestWatchThatTheServerEndsIsAnError(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	close(fake.changes)
	got := fake.run(t, "action", "watch", "hello")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "ended the watch before the action ended")
}

// --timeout is for a call, and a watch is not one: it lasts as long as the action.
func TestWatchHasNoTimeout(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.changes <- waiting(t, "hello")
	out := newLockedBuffer()
	ended := make(chan ran, 1)
	go func() {
		ended <- invocation{address: fake.address, stdout: out}.run(t.Context(), "action", "watch", "hello", "--timeout", "1ns")
	}()
	<-out.wrote
	fake.changes <- succeeded(t)
	require.Equal(t, ExitOK, (<-ended).code)
}

func TestPreview(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.occurrences = []time.Time{testNow.Add(time.Hour), testNow.Add(25 * time.Hour)}
	fake.put(waiting(t, "hello"))

	got := fake.run(t, "action", "preview", "hello", "--count", "2", "--after", "2026-11-20T12:00:00Z").ok(t)
	require.Equal(t, `#  TIME                         UTC                   FROM NOW
1  Fri 2026-11-20 12:00:00 CET  2026-11-20T11:00:00Z  in 1h
2  Sat 2026-11-21 12:00:00 CET  2026-11-21T11:00:00Z  in 1d1h
`, got.stdout)
	requireProto(t, parse(t, &gnomonv1.PreviewOccurrencesRequest{}, `{"id": "hello", "count": 2, "after": "2026-11-20T12:00:00Z"}`),
		requestsOf[*gnomonv1.PreviewOccurrencesRequest](fake)[0])

	got = fake.run(t, "action", "preview", "--cron", "@daily", "--time-zone", "Asia/Tokyo").ok(t)
	require.Contains(t, got.stdout, "Fri 2026-11-20 20:00:00 JST  2026-11-20T11:00:00Z")
	requireProto(t, parse(t, &gnomonv1.Spec{}, `{"startPolicy": {"startAt": "2026-11-20T10:00:00Z"},
		"sendPolicy": {"sendByCalendarPolicy": {"cron": "@daily", "timeZone": "Asia/Tokyo"}},
		"action": {"httpRequest": {"url": "http://127.0.0.1/"}}}`),
		requestsOf[*gnomonv1.PreviewOccurrencesRequest](fake)[1].GetSpec())

	fake.occurrences = nil
	require.Equal(t, "no occurrences\n", fake.run(t, "action", "preview", "hello").ok(t).stdout)
}

// With an id and flags: what the action would do if it were updated so.
func TestPreviewOfAChange(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	action := waiting(t, "hello")
	action.Spec.StartPolicy.StartAt = timestamppb.New(testNow.Add(-time.Hour - time.Minute))
	fake.put(action)
	fake.run(t, "action", "preview", "hello", "--every", "1h").ok(t)
	sent := requestsOf[*gnomonv1.PreviewOccurrencesRequest](fake)[0]
	require.Equal(t, "hello", sent.GetId())
	require.Equal(t, time.Hour, sent.GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy().GetPeriod().AsDuration())
	require.Equal(t, testNow.Add(59*time.Minute), sent.GetSpec().GetStartPolicy().GetStartAt().AsTime())
	require.Equal(t, "http://127.0.0.1:7790/hello", sent.GetSpec().GetAction().GetHttpRequest().GetUrl())
}
