package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/tracing"
	"gnomon/workflows"
)

// What was recorded of clusters and playbooks of any version is decided the same by the
// workflows as they are now, also by a worker with other settings and with tracing, and
// tells nothing of the machine.
func TestReplayNodes(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, ClusterStates(), PlaybookStates()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := load(t, path)
			require.NoError(t, Run(h))
			requireClean(t, path, h)
			require.NoError(t, RunWith(workflows.Options{Clusters: &workflowv1.ClusterSettings{
				Interval: durationpb.New(time.Millisecond), SlowInterval: durationpb.New(time.Minute), NodeTimeout: durationpb.New(time.Minute),
				UnfinishedPerAgent: 7, BusyNodes: 1,
			}}, h))
			spans := tracetest.NewInMemoryExporter()
			traces := tracing.New(sdktrace.WithSyncer(spans))
			require.NoError(t, Run(h, traces.WorkerInterceptors()...))
			require.NoError(t, traces.Shutdown(t.Context()))
			require.Empty(t, spans.GetSpans())
		})
	}
}

// The present version has a recording of every state, each is of its state, and every end
// that a playbook can have is among them.
func TestNodeStatesAreRecorded(t *testing.T) {
	t.Parallel()
	requireRecorded(t, ClusterStates())
	ends := requireRecorded(t, PlaybookStates())
	for number, end := range gnomonv1.PlaybookStatus_State_name {
		if playbook.Ended(gnomonv1.PlaybookStatus_State(number)) {
			require.True(t, ends[end], end)
		}
	}
}

// orchestrating registers workflows in the place of Cluster and Playbook, which may first
// change the state.
func orchestrating(cluster func(workflow.Context, *workflowv1.ClusterState), book func(workflow.Context, *workflowv1.PlaybookState)) func(worker.WorkflowRegistry) {
	right := workflows.New(workflows.Options{})
	return func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.ClusterState) error {
			cluster(ctx, s)
			return right.Cluster(ctx, s)
		}, workflow.RegisterOptions{Name: workflowv1.ClusterWorkflow})
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.PlaybookState) (*gnomonv1.PlaybookStatus, error) {
			book(ctx, s)
			return right.Playbook(ctx, s)
		}, workflow.RegisterOptions{Name: workflowv1.PlaybookWorkflow})
	}
}

func unchanged(workflow.Context, *workflowv1.ClusterState)      {}
func unchangedBook(workflow.Context, *workflowv1.PlaybookState) {}

// A workflow that decides otherwise does not pass, also where only what its commands
// carry is another.
func TestWrongClustersAndPlaybooksAreNoticed(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, ClusterStates(), PlaybookStates()) {
		h := load(t, path)
		require.NoError(t, run(h, orchestrating(unchanged, unchangedBook)), path)
		require.Error(t, run(h, orchestrating(
			func(ctx workflow.Context, _ *workflowv1.ClusterState) { _ = workflow.Sleep(ctx, time.Second) },
			func(ctx workflow.Context, _ *workflowv1.PlaybookState) { _ = workflow.Sleep(ctx, time.Second) },
		)), path)
	}
	for name, c := range map[string]struct {
		recording, want string
		cluster         func(*workflowv1.ClusterState)
		book            func(*workflowv1.PlaybookState)
	}{
		"what an agent is asked":   {"cluster-continued-next", "AgentSync was recorded", func(s *workflowv1.ClusterState) { s.Nodes[0].Cursor++ }, nil},
		"what an agent is given":   {"cluster-pushed", "was recorded", func(s *workflowv1.ClusterState) { s.Cluster = "another" }, nil},
		"rows of actions":          {"cluster-pending-approve", "MirrorNodes was recorded with another input", func(s *workflowv1.ClusterState) { s.Sequence = 7 }, nil},
		"when a cycle begins":      {"cluster-quiet", "a timer of", func(s *workflowv1.ClusterState) { s.LastRound = timestamppb.New(time.Unix(1<<33, 0)) }, nil},
		"what is handed over":      {"cluster-continued", "another end was recorded", func(s *workflowv1.ClusterState) { s.AppliedCommands = []string{"another"} }, nil},
		"what the cluster is told": {"playbook-done", "was recorded", nil, func(s *workflowv1.PlaybookState) { s.Playbook.Labels = map[string]string{"a": "b"} }},
		"the row of a playbook":    {"playbook-pending-approve", "MirrorPlaybook was recorded with another input", nil, func(s *workflowv1.PlaybookState) { s.Digest = "another" }},
		"the end of a playbook": {"playbook-withdrawn", "was recorded", nil, func(s *workflowv1.PlaybookState) {
			s.Playbook.Stages = append(s.GetPlaybook().GetStages(), s.GetPlaybook().GetStages()[0])
		}},
		"the timeout of a stage": {"playbook-in-time", "was recorded", nil, func(s *workflowv1.PlaybookState) { s.Playbook.Stages[0].Timeout = durationpb.New(time.Minute) }},
		"what it hands over":     {"playbook-continued-pending", "another end was recorded", nil, func(s *workflowv1.PlaybookState) { s.AppliedCommands = []string{"another"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(load(t, State{Name: c.recording}.Path()), orchestrating(
				func(_ workflow.Context, s *workflowv1.ClusterState) {
					if c.cluster != nil {
						c.cluster(s)
					}
				},
				func(_ workflow.Context, s *workflowv1.PlaybookState) {
					if c.book != nil {
						c.book(s)
					}
				}))
			require.ErrorContains(t, err, c.want)
		})
	}
}
