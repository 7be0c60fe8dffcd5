package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// What was recorded of entities of any version is decided the same by the workflow as it
// is now, and tells nothing of the machine.
func TestReplayEntities(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, EntityStates()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := load(t, path)
			require.NoError(t, Run(h))
			requireClean(t, path, h)
		})
	}
}

// The present version has a recording of every state, and each is of its state.
func TestEntityStatesAreRecorded(t *testing.T) {
	t.Parallel()
	requireRecorded(t, EntityStates())
}

// altered registers a workflow in the place of Entity, which may first change the state.
func altered(before func(workflow.Context, *workflowv1.EntityState) error) func(worker.WorkflowRegistry) {
	right := workflows.New(workflows.Options{})
	return func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.EntityState) error {
			if err := before(ctx, s); err != nil {
				return err
			}
			return right.Entity(ctx, s)
		}, workflow.RegisterOptions{Name: workflowv1.EntityWorkflow})
	}
}

// A workflow that decides otherwise does not pass, also where only what its commands
// carry is another.
func TestWrongEntitiesAreNoticed(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, EntityStates()) {
		h := load(t, path)
		require.NoError(t, run(h, altered(func(workflow.Context, *workflowv1.EntityState) error { return nil })), path)
		require.Error(t, run(h, altered(func(ctx workflow.Context, _ *workflowv1.EntityState) error {
			return workflow.Sleep(ctx, time.Second)
		})), path)
	}
	for name, c := range map[string]struct {
		recording, want string
		change          func(*workflowv1.EntityState)
	}{
		"a question":     {"entity-fan-out", "AskStages was recorded with another input", func(s *workflowv1.EntityState) { s.Id = "another" }},
		"a visit":        {"entity-visiting", "Process was recorded with another input", func(s *workflowv1.EntityState) { s.Visits = 7 }},
		"rows":           {"entity-continued", "MirrorQueue was recorded with another input", func(s *workflowv1.EntityState) { s.Incarnation = timestamppb.New(time.Unix(1, 0)) }},
		"what is handed": {"entity-continued", "another end was recorded", func(s *workflowv1.EntityState) { s.Rules = 7 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(load(t, State{Name: c.recording}.Path()), altered(func(_ workflow.Context, s *workflowv1.EntityState) error {
				c.change(s)
				return nil
			}))
			require.ErrorContains(t, err, c.want)
		})
	}
}
