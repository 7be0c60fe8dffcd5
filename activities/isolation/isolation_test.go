//go:build unix

package isolation_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"gnomon/activities/isolation"
	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/tracing"
)

// kind is the one kind of action here; what becomes of it is the id's to say.
const kind = "http_request"

// wait bounds what must come on a machine that is busy.
const wait = 30 * time.Second

func TestMain(m *testing.M) {
	if isolation.Asked() {
		set := performers.Set{kind: obedient{}}
		if err := isolation.Serve(set, tracing.New(), slog.New(slog.DiscardHandler)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(workerVariable) != "" {
		live()
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gnomon/spawn.spawn"))
}

// workerVariable tells this program to be a worker that has a performers' process, says
// so, and then lives until it is killed.
const workerVariable = "GNOMON_TEST_WORKER"

func live() {
	p, err := isolation.Start(slog.New(slog.DiscardHandler))
	if err == nil {
		_, err = p.Set(performers.Set{kind: obedient{}})[kind].Perform(context.Background(), performers.Request{ID: "all"})
	}
	fmt.Println("performs", err)
	select {}
}

// obedient does what the id of the action says.
type obedient struct{}

func (obedient) Perform(ctx context.Context, r performers.Request) (performers.Reply, error) {
	switch r.ID {
	case "fail":
		return performers.Reply{Text: "half"}, errors.New("no")
	case "give up":
		return performers.Reply{}, performers.Permanent(errors.New("never"))
	case "panic":
		panic("planted")
	case "die":
		os.Exit(7)
	case "wait":
		<-ctx.Done()
		return performers.Reply{Text: "stopped"}, fmt.Errorf("stopped: %w", ctx.Err())
	case "left":
		deadline, ok := ctx.Deadline()
		return performers.Reply{Text: fmt.Sprint(ok && time.Until(deadline) > 0, time.Until(deadline) <= time.Minute)}, nil
	case "trace":
		_, span := tracing.Begin(ctx, "here")
		defer span.End()
		return performers.Reply{Text: fmt.Sprint(span.SpanContext().TraceID(), span.IsRecording())}, nil
	case "process":
		priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		return performers.Reply{Text: fmt.Sprint(os.Getpid(), 20-priority)}, err
	}
	return performers.Reply{Text: strings.Join([]string{
		r.ID, r.GUID, r.Occurrence.Format(time.RFC3339Nano), strconv.Itoa(int(r.Attempt)), r.IdempotencyKey,
		r.Action.GetHttpRequest().GetUrl(),
	}, " ")}, nil
}

// start starts a process and gives its performer.
func start(t *testing.T) performers.Performer {
	t.Helper()
	p, err := isolation.Start(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p.Set(performers.Set{kind: obedient{}})[kind]
}

func perform(t *testing.T, p performers.Performer, id string) (performers.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	return p.Perform(ctx, performers.Request{
		ID: id, GUID: "g", Occurrence: time.Date(2026, 11, 20, 10, 0, 0, 1000, time.UTC), Attempt: 3, IdempotencyKey: "k",
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{Url: "http://x"}}},
	})
}

// A performer is told all, and what it says comes back: reply, error and whether that is
// permanent.
func TestSaid(t *testing.T) {
	t.Parallel()
	p := start(t)
	reply, err := perform(t, p, "all")
	require.NoError(t, err)
	require.Equal(t, "all g 2026-11-20T10:00:00.000001Z 3 k http://x", reply.Text)

	reply, err = perform(t, p, "fail")
	require.EqualError(t, err, "no")
	require.False(t, performers.IsPermanent(err))
	require.False(t, performers.IsInterruption(err))
	require.Equal(t, "half", reply.Text)

	_, err = perform(t, p, "give up")
	require.EqualError(t, err, "never")
	require.True(t, performers.IsPermanent(err))
}

// The time limit is the other process's too, and a stop reaches it, which then has the
// last word (M-37).
func TestStopped(t *testing.T) {
	t.Parallel()
	p := start(t)
	reply, err := perform(t, p, "left")
	require.NoError(t, err)
	require.Equal(t, "true true", reply.Text)

	// Once it answers, its start does not count.
	bounded, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	reply, err = p.Perform(bounded, performers.Request{ID: "wait", Action: &gnomonv1.Action{}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "stopped: context deadline exceeded")
	require.Equal(t, "stopped", reply.Text)

	stopped, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	_, err = p.Perform(stopped, performers.Request{ID: "wait", Action: &gnomonv1.Action{}})
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "stopped: context canceled")
}

// F11, M-38: a panic counts as interrupted and ends nothing else; a process that dies
// takes what it performed with it, and the next one goes on.
func TestLost(t *testing.T) {
	t.Parallel()
	p := start(t)
	before, err := perform(t, p, "process")
	require.NoError(t, err)

	_, err = perform(t, p, "panic")
	require.True(t, performers.IsInterruption(err))
	require.EqualError(t, err, "panic: planted")
	same, err := perform(t, p, "process")
	require.NoError(t, err)
	require.Equal(t, before, same, "a panic does not end the process")

	others := make(chan error, 1)
	go func() {
		_, err := perform(t, p, "wait")
		others <- err
	}()
	_, err = perform(t, p, "die")
	require.True(t, performers.IsInterruption(err))
	require.True(t, performers.IsInterruption(<-others))
	after, err := perform(t, p, "process")
	for performers.IsInterruption(err) { // until its death is known
		after, err = perform(t, p, "process")
	}
	require.NoError(t, err)
	require.NotEqual(t, before, after)
}

// F11: the performers are more modest than the worker, whatever they do.
func TestNiceness(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a niceness for each thread")
	}
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, os.Getpid())
	require.NoError(t, err)
	reply, err := perform(t, start(t), "process")
	require.NoError(t, err)
	pid, niceness, ok := strings.Cut(reply.Text, " ")
	require.True(t, ok)
	require.NotEqual(t, strconv.Itoa(os.Getpid()), pid)
	require.Equal(t, strconv.Itoa(min(20-own+isolation.Niceness, 19)), niceness)
}

// The trace goes on in the other process, which exports its own spans.
func TestTrace(t *testing.T) {
	t.Parallel()
	id := trace.TraceID{1, 2, 3}
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{4}, TraceFlags: trace.FlagsSampled}))
	reply, err := start(t).Perform(ctx, performers.Request{ID: "trace", Action: &gnomonv1.Action{}})
	require.NoError(t, err)
	require.Equal(t, id.String()+" true", reply.Text)
}

// Closed, nothing is performed, and whoever waits is told.
func TestClosed(t *testing.T) {
	t.Parallel()
	p, err := isolation.Start(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	remote := p.Set(performers.Set{kind: obedient{}})[kind]
	_, err = perform(t, remote, "all")
	require.NoError(t, err)
	require.NoError(t, p.Close())
	_, err = perform(t, remote, "all")
	require.True(t, performers.IsInterruption(err))
}

// A process that is not a worker's child says so instead of waiting for nobody.
func TestNobodysChild(t *testing.T) {
	t.Parallel()
	require.False(t, isolation.Asked())
	err := isolation.Serve(nil, nil, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, isolation.Variable)
}

// Killed, a worker leaves no performers behind, which could go on with an attempt that
// has been begun anew elsewhere (promise 4).
func TestEndsWithWorker(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	worker := exec.CommandContext(t.Context(), program)
	worker.Env = append(os.Environ(), workerVariable+"=1")
	said, err := worker.StdoutPipe()
	require.NoError(t, err)
	// Both hold its end of the pipe, so that it ends when both have.
	ours, theirs, err := os.Pipe()
	require.NoError(t, err)
	defer ours.Close()
	worker.Stderr = theirs
	require.NoError(t, worker.Start())
	require.NoError(t, theirs.Close())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "performs <nil>\n", line)

	require.NoError(t, worker.Process.Kill())
	require.NoError(t, ours.SetReadDeadline(time.Now().Add(wait)))
	_, err = io.Copy(io.Discard, ours)
	require.NoError(t, err, "the performers' process lives on")
	require.Error(t, worker.Wait())
}
