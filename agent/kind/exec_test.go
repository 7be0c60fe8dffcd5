//go:build linux

package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// run runs a line of shell, which this list permits by name.
func run(ctx context.Context, t *testing.T, change func(*gnomonv1.ExecAction), line string) Outcome {
	t.Helper()
	return prepare(t, change, line)(ctx)
}

func prepare(t *testing.T, change func(*gnomonv1.ExecAction), line string) func(context.Context) Outcome {
	t.Helper()
	e, err := NewExec(ExecConfig{Allow: []string{"/bin/sh -c **"}, AllowEnvironment: []string{"GREETING"}, Directories: []string{t.TempDir(), "/usr"}})
	require.NoError(t, err)
	x := &gnomonv1.ExecAction{Argv: []string{"/bin/sh", "-c", line}}
	if change != nil {
		change(x)
	}
	return func(ctx context.Context) Outcome {
		return e.Run(ctx, &gnomonv1.NodeAction{Action: &gnomonv1.NodeAction_Exec{Exec: x}}, func(string) error { return nil })
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	done := run(t.Context(), t, func(x *gnomonv1.ExecAction) {
		x.Environment = map[string]string{"GREETING": "hello"}
		x.WorkingDirectory = "/usr/bin"
	}, `echo $GREETING; pwd; echo "home:$HOME" >&2`)
	require.Equal(t, gnomonv1.NodeAction_DONE, done.State, done.Reason)
	require.Equal(t, "hello\n/usr/bin\nhome:\n", done.Result.GetOutput(), "nothing of the agent's environment")

	bad := run(t.Context(), t, nil, "echo oh; exit 3")
	require.Equal(t, gnomonv1.NodeAction_FAILED, bad.State)
	require.Equal(t, "the program ended with exit status 3", bad.Reason)
	require.EqualValues(t, 3, bad.Result.GetCode())

	for name, change := range map[string]func(*gnomonv1.ExecAction){
		"a variable that is not permitted": func(x *gnomonv1.ExecAction) { x.Environment = map[string]string{"LD_PRELOAD": "x"} },
		"a directory that is not":          func(x *gnomonv1.ExecAction) { x.WorkingDirectory = "/etc" },
		"a way up out of one":              func(x *gnomonv1.ExecAction) { x.WorkingDirectory = "/usr/../etc" },
	} {
		refused := run(t.Context(), t, change, "true")
		require.Equal(t, gnomonv1.NodeAction_FAILED, refused.State, name)
		require.Contains(t, refused.Reason, "does not permit", name)
	}
}

// Only the end is kept, and what is told of the rest is how much it was.
func TestOutputIsLimited(t *testing.T) {
	t.Parallel()
	o := run(t.Context(), t, func(x *gnomonv1.ExecAction) { x.OutputLimit = 100 }, "head -c 1000000 /dev/zero | tr '\\0' x; echo end")
	require.Len(t, o.Result.GetOutput(), 100)
	require.True(t, strings.HasSuffix(o.Result.GetOutput(), "xend\n"))
	require.EqualValues(t, 1_000_004-100, o.Result.GetOutputDroppedBytes())
}

// Cancel and the time limit stop the whole group, grandchildren too.
func TestStopsTheGroup(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]struct {
		change func(*gnomonv1.ExecAction)
		state  gnomonv1.NodeAction_State
		reason string
	}{
		"cancel":     {nil, gnomonv1.NodeAction_CANCELLED, "enough"},
		"time limit": {func(x *gnomonv1.ExecAction) { x.Timeout = durationpb.New(300 * time.Millisecond) }, gnomonv1.NodeAction_FAILED, "it ran longer than 300ms and was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			require.NoError(t, syscall.Mkfifo(pids, 0o600))
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan Outcome, 1)
			perform := prepare(t, stop.change, "sleep 1000 & echo $! >"+pids+"; wait")
			go func() { ended <- perform(ctx) }()
			text, err := os.ReadFile(pids)
			require.NoError(t, err)
			grandchild, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			if stop.change == nil {
				cancel(errors.New("enough"))
			}
			o := <-ended
			require.Equal(t, stop.state, o.State)
			require.Equal(t, stop.reason, o.Reason)
			require.Eventually(t, func() bool {
				_, err := startTime(grandchild)
				return errors.Is(err, os.ErrNotExist)
			}, 10*time.Second, 5*time.Millisecond)
		})
	}
}

// What an agent that died left running is stopped by the next one, and nothing else.
func TestStopGroup(t *testing.T) {
	t.Parallel()
	e, err := NewExec(ExecConfig{Allow: []string{"/bin/sleep 1000"}})
	require.NoError(t, err)
	noted := make(chan string, 1)
	ended := make(chan Outcome, 1)
	go func() {
		ended <- e.Run(context.Background(), &gnomonv1.NodeAction{Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/sleep", "1000"}}}},
			func(process string) error { noted <- process; return nil })
	}()
	process := <-noted
	require.NoError(t, StopGroup(strings.Fields(process)[0]+" 1"), "of another time")
	select {
	case o := <-ended:
		require.Fail(t, "it was stopped: "+o.Reason)
	default:
	}
	require.NoError(t, StopGroup(process))
	require.Equal(t, gnomonv1.NodeAction_FAILED, (<-ended).State)
	require.NoError(t, StopGroup(process), "it is gone")
	require.NoError(t, StopGroup(""))
}
