package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/tracing"
	"gnomon/workflows"
)

// What was recorded of batches of any version is decided the same by the workflows as
// they are now, with and without tracing, and tells nothing of the machine.
func TestReplayBatches(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, BatchStates()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := load(t, path)
			require.NoError(t, Run(h))
			requireClean(t, path, h)
			spans := tracetest.NewInMemoryExporter()
			traces := tracing.New(sdktrace.WithSyncer(spans))
			require.NoError(t, Run(h, traces.WorkerInterceptors()...))
			require.NoError(t, traces.Shutdown(t.Context()))
			require.Empty(t, spans.GetSpans())
		})
	}
}

// The present version has a recording of every state, each is of its state, and every end
// that the requirements know is among them.
func TestBatchStatesAreRecorded(t *testing.T) {
	t.Parallel()
	ends := requireRecorded(t, BatchStates())
	for number, end := range gnomonv1.BatchStatus_State_name {
		if batch.Ended(gnomonv1.BatchStatus_State(number)) {
			require.True(t, ends[end], end)
		}
	}
}

// batching registers a workflow in the place of Batch, which may first change the state.
func batching(before func(workflow.Context, *workflowv1.BatchState) error) func(worker.WorkflowRegistry) {
	right := workflows.New(workflows.Options{})
	return func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.BatchState) (*gnomonv1.BatchStatus, error) {
			if err := before(ctx, s); err != nil {
				return nil, err
			}
			return right.Batch(ctx, s)
		}, workflow.RegisterOptions{Name: workflowv1.BatchWorkflow})
	}
}

// A workflow that decides otherwise does not pass, also where only what its commands
// carry is another.
func TestWrongBatchesAreNoticed(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, BatchStates()) {
		h := load(t, path)
		require.NoError(t, run(h, batching(func(workflow.Context, *workflowv1.BatchState) error { return nil })), path)
		require.Error(t, run(h, batching(func(ctx workflow.Context, _ *workflowv1.BatchState) error {
			return workflow.Sleep(ctx, time.Second)
		})), path)
	}
	for name, c := range map[string]struct {
		recording, want string
		change          func(*workflowv1.BatchState)
	}{
		"a timer": {"batch-waiting", "a timer of", func(s *workflowv1.BatchState) {
			s.Head.ScheduledAt = timestamppb.New(s.GetHead().GetScheduledAt().AsTime().Add(time.Second))
		}},
		"an acceptance":  {"batch-waiting", "AcceptBatch was recorded with another input", func(s *workflowv1.BatchState) { s.Head.Uid = "another" }},
		"a round":        {"batch-processing", "ProcessBatch was recorded with another input", func(s *workflowv1.BatchState) { s.Head.Revision = 7 }},
		"a head":         {"batch-rescheduled", "StoreBatch was recorded with another input", func(s *workflowv1.BatchState) { s.Head.Revision = 7 }},
		"an end":         {"batch-cancelled", "was recorded", func(s *workflowv1.BatchState) { s.Head.Status.PendingChanges = 7 }},
		"what is handed": {"batch-waiting-continued", "another end was recorded", func(s *workflowv1.BatchState) { s.AppliedCommands = []string{"another"} }},
		"of a review":    {"batch-in-review-continued", "another end was recorded", func(s *workflowv1.BatchState) { s.CreateRequestId = "another" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(load(t, State{Name: c.recording}.Path()), batching(func(_ workflow.Context, s *workflowv1.BatchState) error {
				c.change(s)
				return nil
			}))
			require.ErrorContains(t, err, c.want)
		})
	}
}
