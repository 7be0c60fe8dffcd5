package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// stroll is a walk whose activities are played by the test.
type stroll struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
	// pages are what the store was asked for, and rows what it was given.
	pages []*workflowv1.RewalkPageInput
	rows  []*workflowv1.StoreRewalkInput
	// page answers one.
	page func(ctx context.Context, in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error)
	// stored is called after a row.
	stored func()
	// counts is how often the entities were counted.
	counts int
}

func newStroll(t *testing.T) *stroll {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	s := &stroll{t: t, env: suite.NewTestWorkflowEnvironment()}
	s.env.SetStartTime(start)
	s.env.SetTestTimeout(20 * time.Second)
	workflows.New(workflows.Options{}).Register(s.env)
	s.env.RegisterActivityWithOptions(func(context.Context, string) (uint64, error) {
		s.counts++
		return 250, nil
	}, activity.RegisterOptions{Name: workflowv1.CountEntitiesActivity})
	s.env.RegisterActivityWithOptions(func(_ context.Context, in *workflowv1.StoreRewalkInput) error {
		s.rows = append(s.rows, in)
		if s.stored != nil {
			s.stored()
		}
		return nil
	}, activity.RegisterOptions{Name: workflowv1.StoreRewalkActivity})
	s.env.RegisterActivityWithOptions(func(ctx context.Context, in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
		s.pages = append(s.pages, in)
		return s.page(ctx, in)
	}, activity.RegisterOptions{Name: workflowv1.RewalkPageActivity})
	return s
}

// begun is what the facade begins a walk with.
func begun() *workflowv1.RewalkState {
	return &workflowv1.RewalkState{Walk: &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING}, EntityType: "offer", Rate: 10}
}

// asked is the walk as the workflow has it.
func (s *stroll) asked() *gnomonv1.Rewalk {
	v, err := s.env.QueryWorkflow(workflowv1.QueryRewalk)
	require.NoError(s.t, err)
	w := &gnomonv1.Rewalk{}
	require.NoError(s.t, v.Get(w))
	return w
}

// ended is how the workflow says that it ended.
func (s *stroll) ended() *gnomonv1.Rewalk {
	w := &gnomonv1.Rewalk{}
	require.NoError(s.t, s.env.GetWorkflowResult(w))
	return w
}

// G-30: a walk goes through all pages, tries again what failed, and stores how far it is
// after each.
func TestRewalk(t *testing.T) {
	t.Parallel()
	s := newStroll(t)
	failures := 0
	s.page = func(_ context.Context, in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
		switch in.GetAfter() {
		case "":
			return &workflowv1.RewalkPageResult{Position: "b", Walked: 100, Enqueued: 7}, nil
		case "b":
			if failures++; failures < 4 {
				return nil, errors.New("the store is away")
			}
			return &workflowv1.RewalkPageResult{Position: "c", Walked: 50}, nil
		default:
			return &workflowv1.RewalkPageResult{Position: "d", Walked: 90, Enqueued: 1, End: true}, nil
		}
	}
	s.env.ExecuteWorkflow(workflowv1.RewalkWorkflow, begun())
	require.NoError(t, s.env.GetWorkflowError())
	require.Len(t, s.pages, 6)
	require.Equal(t, "c", s.pages[5].GetAfter())
	require.EqualValues(t, 100, s.pages[5].GetLimit(), "ten seconds of the rate")
	w := s.asked()
	require.Equal(t, gnomonv1.Rewalk_DONE, w.GetState())
	require.EqualValues(t, 240, w.GetWalked())
	require.EqualValues(t, 8, w.GetEnqueued())
	require.EqualValues(t, 250, w.GetTotal())
	require.NotNil(t, w.GetFinishTime())
	require.Len(t, s.rows, 4)
	for i, row := range s.rows {
		require.EqualValues(t, i+1, row.GetSequence())
		require.NotNil(t, row.GetIncarnation())
	}
	require.True(t, proto.Equal(w, s.rows[3].GetWalk()), "the last row is how it ended")
	require.True(t, proto.Equal(w, s.ended()), "and so is the result")
}

// G-30: a walk is cancelled in the midst of a page, and what was passed until then counts;
// by a cancellation in the Web UI as well.
func TestRewalkIsCancelled(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(*testsuite.TestWorkflowEnvironment){
		"signal":       func(env *testsuite.TestWorkflowEnvironment) { env.SignalWorkflow(workflowv1.SignalCancelRewalk, nil) },
		"cancellation": func(env *testsuite.TestWorkflowEnvironment) { env.CancelWorkflow() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStroll(t)
			s.page = func(ctx context.Context, _ *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
				<-ctx.Done()
				return &workflowv1.RewalkPageResult{Position: "b", Walked: 3, Enqueued: 2}, nil
			}
			s.env.RegisterDelayedCallback(func() { cancel(s.env) }, time.Second)
			s.env.ExecuteWorkflow(workflowv1.RewalkWorkflow, begun())
			require.NoError(t, s.env.GetWorkflowError())
			w := s.asked()
			require.Equal(t, gnomonv1.Rewalk_CANCELLED, w.GetState())
			require.Len(t, s.pages, 1)
			require.True(t, proto.Equal(w, s.rows[len(s.rows)-1].GetWalk()))
			require.True(t, proto.Equal(w, s.ended()))
		})
	}
}

// A long walk goes on in a new run from where it is, without counting again.
func TestRewalkGoesOnAsANewRun(t *testing.T) {
	t.Parallel()
	first := newStroll(t)
	first.page = func(context.Context, *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
		first.env.SetContinueAsNewSuggested(true)
		return &workflowv1.RewalkPageResult{Position: "b", Walked: 100, Enqueued: 7, End: len(first.pages) > 2}, nil
	}
	first.env.ExecuteWorkflow(workflowv1.RewalkWorkflow, begun())
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, first.env.GetWorkflowError(), &next)
	carried := &workflowv1.RewalkState{}
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, carried))

	second := newStroll(t)
	second.page = func(context.Context, *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
		return &workflowv1.RewalkPageResult{Position: "c", Walked: 5, End: true}, nil
	}
	second.env.ExecuteWorkflow(workflowv1.RewalkWorkflow, carried)
	require.NoError(t, second.env.GetWorkflowError())
	require.Zero(t, second.counts)
	require.Equal(t, "b", second.pages[0].GetAfter())
	require.EqualValues(t, 105, second.asked().GetWalked())
	require.Equal(t, first.rows[0].GetWalk().GetStartTime().AsTime(), second.asked().GetStartTime().AsTime())
	require.Greater(t, second.rows[0].GetSequence(), first.rows[len(first.rows)-1].GetSequence())
}

// G-30: a cancellation that comes when a run is about to hand over is not lost with it.
func TestRewalkIsCancelledBeforeItHandsOver(t *testing.T) {
	t.Parallel()
	s := newStroll(t)
	s.page = func(ctx context.Context, in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
		if in.GetAfter() == "" {
			s.env.SetContinueAsNewSuggested(true)
			return &workflowv1.RewalkPageResult{Position: "b", Walked: 100}, nil
		}
		<-ctx.Done()
		return &workflowv1.RewalkPageResult{Position: "b"}, nil
	}
	s.stored = func() {
		if len(s.rows) == 2 { // that of the first page
			s.env.SignalWorkflow(workflowv1.SignalCancelRewalk, nil)
		}
	}
	s.env.ExecuteWorkflow(workflowv1.RewalkWorkflow, begun())
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, gnomonv1.Rewalk_CANCELLED, s.ended().GetState())
	require.EqualValues(t, 100, s.ended().GetWalked())
}
