package starter

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// M-08, M-49: a create starts a run, never over an open one, and writes its row.
func TestCreateStartsAndWritesARow(t *testing.T) {
	t.Parallel()
	s, f, rows := newFacade(t)
	reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
	require.NoError(t, err)
	require.NotEmpty(t, reply.GetMeta().GetGuid())
	require.Len(t, f.starts, 1)
	require.Equal(t, "action/a", f.starts[0].GetWorkflowId())
	require.Equal(t, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, f.starts[0].GetWorkflowIdConflictPolicy())
	require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, f.starts[0].GetWorkflowIdReusePolicy())
	require.Equal(t, reply.GetMeta().GetGuid(), f.begun["run-1"].GetMeta().GetGuid())
	require.Len(t, rows.inserted, 1)
	require.Equal(t, "run-1", rows.inserted[0].Chain)
	require.False(t, isFalse(reply, life.ConditionMirrored))
	require.Empty(t, f.signals)
}

// Issue 8: only a release's build is noted as one that takes part.
func TestBuildsOfANewRun(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	for build, want := range map[string]string{"": "", "dev": "", "v1.2.3": `["unversioned","unversioned:v1.2.3"]`} {
		f.starts = nil
		s.Build = build
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
		require.NoError(t, err)
		require.Equal(t, want, string(f.starts[0].GetSearchAttributes().GetIndexedFields()["BuildIds"].GetData()))
	}
}

// F1: a worker that is killed with a workflow task holds its action up for TaskTimeout,
// however the run was started.
func TestWorkflowTasksAreLimited(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
	require.NoError(t, err)
	require.Equal(t, workflowv1.TaskTimeout, f.starts[0].GetWorkflowTaskTimeout().AsDuration())
	require.Equal(t, workflowv1.TaskTimeout, s.startOptions(&workflowv1.ActionState{}).WorkflowTaskTimeout)
}

// F3: the same request_id reaches the same run and gives the same reply; another
// spec under it is refused.
func TestCreateRepeated(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	f.run = func(req *workflowservice.StartWorkflowExecutionRequest) (string, error) {
		return "run of " + req.GetRequestId(), nil // as Temporal does
	}
	req := &gnomonv1.CreateActionRequest{Action: wantedAction("a"), RequestId: "r-1"}
	first, err := s.CreateAction(t.Context(), req)
	require.NoError(t, err)
	again, err := s.CreateAction(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, first.GetMeta().GetGuid(), again.GetMeta().GetGuid())
	require.Equal(t, []string{"r-1", "r-1"}, []string{f.starts[0].GetRequestId(), f.starts[1].GetRequestId()})

	other := wantedAction("a")
	other.Spec.Action.GetHttpRequest().Url = "https://example.com/other"
	_, err = s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: other, RequestId: "r-1"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))

	// Without a request_id every create is one of its own.
	for range 2 {
		_, err = s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
		require.NoError(t, err)
	}
	require.NotEqual(t, f.starts[3].GetRequestId(), f.starts[4].GetRequestId())
}

// M-03: mock_action is for installations that allow it.
func TestCreateOfAMock(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		s, f, _ := newFacade(t)
		s.AllowMockActions = allowed
		a := wantedAction("a")
		a.Spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
			Behaviour: &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}},
		}}}
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
		if allowed {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		require.Empty(t, f.starts)
	}
}

// issue 2: a call that only validates leaves nothing behind.
func TestCreateValidatesOnly(t *testing.T) {
	t.Parallel()
	s, f, rows := newFacade(t)
	reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a"), ValidateOnly: true})
	require.NoError(t, err)
	require.NotNil(t, reply.GetStatus().GetScheduledAt())
	require.Empty(t, f.starts)
	require.Empty(t, rows.inserted)
}

// M-60: a create that meets a run whose last row is stored waits for it to close;
// one that meets a live run is refused.
func TestCreateMeetsAnOpenRun(t *testing.T) {
	t.Parallel()
	s, f, rows := newFacade(t)
	f.chainOf = "run-0"
	open := true
	f.run = func(*workflowservice.StartWorkflowExecutionRequest) (string, error) {
		if open {
			return "", serviceerror.NewWorkflowExecutionAlreadyStarted("open", "", "run-0")
		}
		return "run-1", nil
	}
	f.apply = refusing(workflowv1.RefusedExists)
	_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	require.True(t, f.updates[0].command.GetCreateOnly())

	rows.rows["a"] = store.Row{Action: wantedAction("a"), Chain: "run-0", Tombstone: true}
	f.apply = func(string, *workflowv1.Command) (*workflowv1.CommandResult, error) {
		open = false // by the next look it has closed
		return refusing(workflowv1.RefusedExists)("", nil)
	}
	reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
	require.NoError(t, err)
	require.Equal(t, f.begun["run-1"].GetMeta().GetGuid(), reply.GetMeta().GetGuid())
}
