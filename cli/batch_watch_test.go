package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestBatchWatchPrintsALineForEachChange(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	for _, state := range []gnomonv1.BatchStatus_State{gnomonv1.BatchStatus_PENDING, gnomonv1.BatchStatus_PROCESSING, gnomonv1.BatchStatus_COMPLETE} {
		fake.batches.changes <- release(t, state)
	}
	got := fake.run(t, "batch", "watch", "release").ok(t)
	require.Equal(t, `2026-11-20T10:00:00Z PENDING due=2026-11-20T11:00:00Z done/fail/left=0/0/2
2026-11-20T10:00:00Z PROCESSING done/fail/left=1/0/1
2026-11-20T10:00:00Z COMPLETE done/fail/left=2/0/0
`, got.stdout)
	require.Empty(t, got.stderr)
	require.True(t, batchRequests[*gnomonv1.WatchBatchRequest](fake)[0].GetOmitChanges(), "counts are enough")
}

// V-09, V-17: a watch ends where a person must decide, and shows what stands against the
// batch; programs tell it by the exit code.
func TestBatchWatchEndsAtAReview(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	review := release(t, gnomonv1.BatchStatus_MANUAL_REVIEW)
	fake.batches.put(review)
	fake.batches.changes <- review
	got := fake.run(t, "batch", "watch", "release")
	require.Equal(t, ExitOutcome, got.code)
	require.Equal(t, `2026-11-20T10:00:00Z MANUAL_REVIEW done/fail/left=0/0/2 message="it is no longer valid"
CHANGE  KIND  CODE           FIELD            MESSAGE
0       HARD  RECORD_EXISTS  dns_record.name  www.example.org. A exists
1       SOFT  FRIDAY                          it is Friday
`, got.stdout)
	require.Equal(t, "error: batch release is MANUAL_REVIEW; decide with 'gnomon batch review'\n", got.stderr)

	fake = startFake(t) // a watch that is over may still take what is sent
	fake.batches.changes <- review
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_COMPLETE)
	got = fake.run(t, "batch", "watch", "release", "--through-review").ok(t)
	require.Equal(t, 2, strings.Count(got.stdout, "\n"))
}

// V-10: an end that is not COMPLETE has an exit code of its own, and rejected changes are
// shown.
func TestBatchWatchShowsRejectedChanges(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	partial := release(t, gnomonv1.BatchStatus_PARTIAL_FAILURE)
	fake.batches.put(partial)
	fake.batches.changes <- partial
	got := fake.run(t, "batch", "watch", "release")
	require.Equal(t, ExitOutcome, got.code)
	require.Equal(t, `2026-11-20T10:00:00Z PARTIAL_FAILURE done/fail/left=1/1/0
#  STATE   ATTEMPTS  CHANGE                            ERROR
1  FAILED  1         POST http://127.0.0.1:7790/apply  status 409 Conflict: already \x1b[31mshipped
`, got.stdout)
	require.Equal(t, "error: batch release is PARTIAL_FAILURE\n", got.stderr)

	narrow := startFake(t)
	narrow.batches.put(partial)
	narrow.batches.changes <- partial
	got = invocation{address: narrow.address, width: 40, height: 30}.run(t.Context(), "batch", "watch", "release", "--no-color")
	require.Contains(t, got.stdout, "status 409 Conflict: already", "a narrow window cuts no error")

	fake = startFake(t)
	fake.batches.changes <- partial
	got = fake.run(t, "batch", "watch", "release", "-o", "json", "--changes")
	require.Equal(t, ExitOutcome, got.code)
	requireProto(t, partial, parseBatch(t, got.stdout))
	require.JSONEq(t, `{"code": 9, "message": "batch release is PARTIAL_FAILURE"}`, got.stderr)
	require.False(t, batchRequests[*gnomonv1.WatchBatchRequest](fake)[0].GetOmitChanges())
}

func TestBatchWatchShowsAProgressBarOnATerminal(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	processing := release(t, gnomonv1.BatchStatus_PROCESSING)
	processing.Status.CompleteChanges, processing.Status.FailedChanges, processing.Status.PendingChanges = 490, 10, 500
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_PENDING)
	fake.batches.changes <- processing
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_COMPLETE)
	got := invocation{address: fake.address, width: 60, height: 30}.run(t.Context(), "batch", "watch", "release", "--no-color").ok(t)
	frames := strings.Split(got.stdout, "\x1b[J")
	require.Len(t, frames, 3)
	require.NotContains(t, frames[0], "applying")
	require.Contains(t, frames[0], "State      PENDING\n")
	bar, _, _ := strings.Cut(frames[1], "\n")
	require.Regexp(t, `^applying  50% \|█+ +\| +\(500/1000\)$`, bar)
	require.Contains(t, frames[1], "Changes    490 complete, 10 failed, 500 pending\n")
	require.NotContains(t, frames[2], "applying")
	require.Contains(t, frames[2], "State      COMPLETE\n")
	for line := range strings.SplitSeq(frames[1], "\n") {
		require.LessOrEqual(t, len([]rune(line)), 60)
	}
}

// A bar stands from the first change to the last, also in a narrow window.
func TestProgressBars(t *testing.T) {
	t.Parallel()
	b := release(t, gnomonv1.BatchStatus_PROCESSING)
	for _, width := range []int{20, 80} {
		w := &batchWatcher{watcher: watcher{p: &printer{width: width}}}
		for done, want := range map[uint32]string{0: "   0%", 1: "   0%", 999: "  99%", 1000: " 100%"} {
			b.Status.CompleteChanges, b.Status.FailedChanges, b.Status.PendingChanges = done, 0, 1000-done
			bar := w.progress(b)
			require.Contains(t, bar, "applying"+want)
			require.NotContains(t, bar, "\n")
			require.LessOrEqual(t, len([]rune(bar)), width)
		}
	}
	b.Status.State = gnomonv1.BatchStatus_PENDING
	require.Empty(t, (&batchWatcher{watcher: watcher{p: &printer{}}}).progress(b))
}

func TestBatchCreateWaits(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	file := writeFile(t, "b.json", releaseJSON)
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_COMPLETE)
	got := fake.run(t, "batch", "create", "-f", file, "--wait").ok(t)
	require.Equal(t, "created release: PENDING, 2 changes, due in 17h, 2026-11-21 04:00:00 CET\n"+
		"2026-11-20T10:00:00Z COMPLETE done/fail/left=2/0/0\n", got.stdout)
	require.Equal(t, "release", batchRequests[*gnomonv1.WatchBatchRequest](fake)[0].GetId())

	fake = startFake(t)
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_CANCELLED)
	got = fake.run(t, "batch", "create", "-f", file, "--wait", "-o", "json")
	require.Equal(t, ExitOutcome, got.code)
	require.Equal(t, gnomonv1.BatchStatus_CANCELLED, parseBatch(t, got.stdout).GetStatus().GetState(), "one line, the last")
}

func TestBatchWatchThatTheServerEndsIsAnError(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_PENDING)
	close(fake.batches.changes)
	got := fake.run(t, "batch", "watch", "release")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "ended the watch before the batch ended")

	fake = startFake(t)
	fake.batches.refuse = func(proto.Message) error { return status.Error(codes.NotFound, `no batch "release"`) }
	got = fake.run(t, "batch", "watch", "release")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, `error: NOT_FOUND: no batch "release"`)
}

func TestBatchWatchEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.batches.changes <- release(t, gnomonv1.BatchStatus_PENDING)
	ctx, interrupt := context.WithCancel(t.Context())
	out := newLockedBuffer()
	ended := make(chan ran, 1)
	go func() {
		ended <- invocation{address: fake.address, stdout: out}.run(ctx, "batch", "watch", "release", "--timeout", "1ns")
	}()
	<-out.wrote
	interrupt()
	got := <-ended
	require.Equal(t, ExitInterrupted, got.code)
	require.Empty(t, got.stderr)
}

// Between changes a terminal shows how the time goes by.
func TestBatchWatchRepaintsAsTimeGoesBy(t *testing.T) {
	t.Parallel()
	out := newLockedBuffer()
	now := testNow
	tick := make(chan time.Time)
	changes := make(chan batchChange)
	w := &batchWatcher{watcher: watcher{
		p:      &printer{out: out, format: outputTable, moment: moment{now: func() time.Time { return now }, local: time.UTC}},
		height: 50, repaints: true, tick: tick,
	}}
	ended := make(chan error, 1)
	go func() {
		_, err := w.follow(t.Context(), changes)
		ended <- err
	}()
	tick <- now // nothing to repaint yet
	changes <- batchChange{batch: release(t, gnomonv1.BatchStatus_PENDING)}
	<-out.wrote
	require.Contains(t, out.String(), "in 1h,")
	now = now.Add(10 * time.Minute)
	tick <- now
	<-out.wrote
	require.Contains(t, out.String(), "in 50m,")
	changes <- batchChange{batch: release(t, gnomonv1.BatchStatus_COMPLETE)}
	require.NoError(t, <-ended)
}
