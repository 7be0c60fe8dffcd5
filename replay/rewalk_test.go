package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// What was recorded of walks of any version is decided the same by the workflow as it is
// now, also by a worker with other settings, and tells nothing of the machine.
func TestReplayRewalks(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, RewalkStates()) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := load(t, path)
			require.NoError(t, Run(h))
			require.NoError(t, RunWith(workflows.Options{HeartbeatTimeout: time.Minute}, h))
			requireClean(t, path, h)
		})
	}
}

// The present version has a recording of every state, each is of its state, and every end
// that a walk can have is among them.
func TestRewalkStatesAreRecorded(t *testing.T) {
	t.Parallel()
	ends := requireRecorded(t, RewalkStates())
	for number, end := range gnomonv1.Rewalk_State_name {
		if state := gnomonv1.Rewalk_State(number); state != gnomonv1.Rewalk_STATE_UNSPECIFIED && state != gnomonv1.Rewalk_RUNNING {
			require.True(t, ends[end], end)
		}
	}
}

// strolling registers a workflow in the place of Rewalk, which may first change the state.
func strolling(before func(workflow.Context, *workflowv1.RewalkState)) func(worker.WorkflowRegistry) {
	right := workflows.New(workflows.Options{})
	return func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.RewalkState) (*gnomonv1.Rewalk, error) {
			before(ctx, s)
			return right.Rewalk(ctx, s)
		}, workflow.RegisterOptions{Name: workflowv1.RewalkWorkflow})
	}
}

// A workflow that decides otherwise does not pass, also where only what its commands
// carry is another.
func TestWrongRewalksAreNoticed(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t, RewalkStates()) {
		h := load(t, path)
		require.NoError(t, run(h, strolling(func(workflow.Context, *workflowv1.RewalkState) {})), path)
		require.Error(t, run(h, strolling(func(ctx workflow.Context, _ *workflowv1.RewalkState) {
			_ = workflow.Sleep(ctx, time.Second)
		})), path)
	}
	for name, c := range map[string]struct {
		recording, want string
		change          func(*workflowv1.RewalkState)
	}{
		"a page":         {"rewalk-running", "RewalkPage was recorded with another input", func(s *workflowv1.RewalkState) { s.Rate = 7 }},
		"who is asked":   {"rewalk-unconditional", "RewalkPage was recorded with another input", func(s *workflowv1.RewalkState) { s.Unconditional = false }},
		"where it is":    {"rewalk-continued-next", "was recorded with another input", func(s *workflowv1.RewalkState) { s.Walk.Position = "another" }},
		"a row":          {"rewalk-continued-next", "StoreRewalk was recorded with another input", func(s *workflowv1.RewalkState) { s.Sequence = 7 }},
		"whose row":      {"rewalk-continued-next", "StoreRewalk was recorded with another input", func(s *workflowv1.RewalkState) { s.Incarnation = timestamppb.New(time.Unix(1, 0)) }},
		"what it counts": {"rewalk-continued-next", "was recorded with another input", func(s *workflowv1.RewalkState) { s.Walk.Walked++ }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := run(load(t, State{Name: c.recording}.Path()), strolling(func(_ workflow.Context, s *workflowv1.RewalkState) { c.change(s) }))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A walk that ends otherwise does not pass, nor one that hands on something else.
func TestWrongEndsOfRewalksAreNoticed(t *testing.T) {
	t.Parallel()
	right := workflows.New(workflows.Options{})
	for _, name := range []string{"rewalk-continued", "rewalk-done", "rewalk-cancelled"} {
		err := run(load(t, State{Name: name}.Path()), func(r worker.WorkflowRegistry) {
			r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s *workflowv1.RewalkState) (*gnomonv1.Rewalk, error) {
				ended, err := right.Rewalk(ctx, s)
				if workflow.IsContinueAsNewError(err) {
					return nil, workflow.NewContinueAsNewError(ctx, workflowv1.RewalkWorkflow, &workflowv1.RewalkState{})
				}
				if err == nil {
					ended.Enqueued++
				}
				return ended, err
			}, workflow.RegisterOptions{Name: workflowv1.RewalkWorkflow})
		})
		require.ErrorContains(t, err, "another end was recorded", name)
	}
}
