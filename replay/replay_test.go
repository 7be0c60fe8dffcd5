package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile/periodic"
	"gnomon/tracing"
	"gnomon/workflows"
)

// What was recorded of any version is decided the same by the workflows as
// they are now, so that a deployment goes on with the actions that are alive.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, States()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, Run(load(t, path)))
		})
	}
}

// Tracing takes part in no decision: recordings of workers without it are decided the
// same by workers with it, and a replay leaves no span.
func TestReplayTraced(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, States()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			spans := tracetest.NewInMemoryExporter()
			traces := tracing.New(sdktrace.WithSyncer(spans))
			require.NoError(t, Run(load(t, path), traces.WorkerInterceptors()...))
			require.NoError(t, traces.Shutdown(t.Context()))
			require.Empty(t, spans.GetSpans())
		})
	}
}

// Issue 4: the reconciler that runs goes on at a deployment as actions do.
func TestReplayReconciler(t *testing.T) {
	t.Parallel()
	for _, s := range ReconcilerStates() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			h := load(t, s.Path())
			require.NoError(t, s.Check(h))
			require.NoError(t, Run(h))
			requireClean(t, s.Path(), h)
		})
	}
	recorded, err := filepath.Glob(filepath.Join("testdata", Reconciler, "*"+Extension))
	require.NoError(t, err)
	require.Len(t, recorded, len(ReconcilerStates()), "one for each state")
}

// A reconciler that decides otherwise is noticed, also by what its commands carry.
func TestWrongReconcilersAreNoticed(t *testing.T) {
	t.Parallel()
	begins := func(change func(workflow.Context, *periodic.State)) func(worker.WorkflowRegistry) {
		return func(r worker.WorkflowRegistry) {
			r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s periodic.State) error {
				change(ctx, &s)
				return periodic.Reconcile(ctx, s)
			}, workflow.RegisterOptions{Name: periodic.WorkflowName})
		}
	}
	for _, s := range ReconcilerStates() {
		h := load(t, s.Path())
		require.Error(t, run(h, begins(func(ctx workflow.Context, _ *periodic.State) { _ = workflow.Sleep(ctx, time.Second) })), s.Name)
		require.NoError(t, run(h, begins(func(workflow.Context, *periodic.State) {})), s.Name)
		if s.Name == "reconciler-continued-next" { // the others are told their interval by a signal
			err := run(h, begins(func(_ workflow.Context, state *periodic.State) { state.Interval.Seconds *= 2 }))
			require.ErrorContains(t, err, "a timer of", s.Name)
		}
		if s.End == Continued {
			err := run(h, begins(func(_ workflow.Context, state *periodic.State) { state.Rounds++ }))
			require.ErrorContains(t, err, "another end was recorded", s.Name)
		}
	}
}

// The present version has a recording of every state, and each is of its state.
func TestStatesAreRecorded(t *testing.T) {
	t.Parallel()
	requireRecorded(t, States())
}

// registering registers a workflow in the place of Action.
func registering(f func(workflow.Context, *workflowv1.ActionState) (*gnomonv1.Status, error)) func(worker.WorkflowRegistry) {
	return func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: workflowv1.ActionWorkflow})
	}
}

// A workflow that decides otherwise does not pass: every recording notices another
// command.
func TestWrongWorkflowsAreNoticed(t *testing.T) {
	t.Parallel()
	right := workflows.New(workflows.Options{})
	for name, wrong := range map[string]func(workflow.Context, *workflowv1.ActionState) (*gnomonv1.Status, error){
		"sleeps once more": func(ctx workflow.Context, s *workflowv1.ActionState) (*gnomonv1.Status, error) {
			if err := workflow.Sleep(ctx, time.Second); err != nil {
				return nil, err
			}
			return right.Action(ctx, s)
		},
		"ends at once": func(workflow.Context, *workflowv1.ActionState) (*gnomonv1.Status, error) {
			return &gnomonv1.Status{State: gnomonv1.Status_SUCCEEDED}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range recordings(t, States()) {
				require.Error(t, run(load(t, path), registering(wrong)), path)
			}
		})
	}
}

// A workflow that gives the same commands in the same order passes the SDK's replay
// whatever they carry. Here it does not.
func TestWrongContentsAreNoticed(t *testing.T) {
	t.Parallel()
	right := workflows.New(workflows.Options{})
	for name, c := range map[string]struct {
		recording, want string
		change          func(*workflowv1.ActionState)
	}{
		"a timer": {"once-waiting", "a timer of", func(s *workflowv1.ActionState) {
			s.Status.ScheduledAt = timestamppb.New(s.GetStatus().GetScheduledAt().AsTime().Add(time.Second))
		}},
		"an attempt": {"once-running", "Perform was recorded with another input", func(s *workflowv1.ActionState) {
			s.Status.FailedAttemptsCounter = 1
		}},
		"a row": {"once-paused-sleeping", "Mirror was recorded with another input", func(s *workflowv1.ActionState) {
			s.Meta.Labels = nil
		}},
		"the next run": {"once-revived", "another end was recorded", func(s *workflowv1.ActionState) {
			s.AppliedCommands = []string{"another"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := load(t, State{Name: c.recording}.Path())
			require.NoError(t, run(h, registering(right.Action)))
			err := run(h, registering(func(ctx workflow.Context, s *workflowv1.ActionState) (*gnomonv1.Status, error) {
				c.change(s)
				return right.Action(ctx, s)
			}))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Workers send timers shorter by what their task took (worker.Connection), and not by more.
func TestTimersThatWereSentShorter(t *testing.T) {
	t.Parallel()
	right := workflows.New(workflows.Options{})
	for name, c := range map[string]struct {
		shorter, took time.Duration
		want          string
	}{
		"as recorded":           {0, 0, ""},
		"by what the task took": {20 * time.Millisecond, 20 * time.Millisecond, ""},
		"by more":               {20 * time.Millisecond, 19 * time.Millisecond, "a timer of"},
		"longer":                {-time.Millisecond, time.Second, "a timer of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := load(t, State{Name: "once-waiting"}.Path())
			timers := 0
			for _, e := range h.GetEvents() {
				if timer := e.GetTimerStartedEventAttributes(); timer != nil {
					timers++
					timer.StartToFireTimeout = durationpb.New(timer.GetStartToFireTimeout().AsDuration() - c.shorter)
					started := h.GetEvents()[timer.GetWorkflowTaskCompletedEventId()-2]
					require.NotNil(t, started.GetWorkflowTaskStartedEventAttributes())
					e.EventTime = timestamppb.New(started.GetEventTime().AsTime().Add(c.took))
				}
			}
			require.Equal(t, 1, timers)
			err := run(h, registering(right.Action))
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

// machine is what would tell of the machine that recorded: identities with a
// process, paths, names of source files.
var machine = regexp.MustCompile(`\d+@\w|gnomon-worker@[^r]|/(work|home|root|tmp|Users|usr|var)/|\.go:\d`)

// The recordings say nothing of the machine that made them, and are small.
func TestRecordingsAreClean(t *testing.T) {
	t.Parallel()
	var size int64
	for _, path := range recordings(t, States()) {
		requireClean(t, path, load(t, path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		size += info.Size()
	}
	require.Less(t, size, int64(1<<20))
}

func requireClean(t *testing.T, path string, h *historypb.History) {
	t.Helper()
	require.Empty(t, machine.FindString(prototext.Format(h)), path)
	again := proto.CloneOf(h)
	Scrub(again)
	require.True(t, proto.Equal(h, again), "%s was not scrubbed", path)
}

// Every end that the requirements know has a recording.
func TestEveryEndIsAmongTheStates(t *testing.T) {
	t.Parallel()
	for number, end := range gnomonv1.Status_State_name {
		if number < int32(gnomonv1.Status_SUCCEEDED) {
			continue
		}
		require.True(t, slices.ContainsFunc(States(), func(s State) bool { return s.End == end }), end)
	}
}
