package starter

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// applied is a workflow that applies every update.
func applied(_ string, c *workflowv1.Command) (*workflowv1.CommandResult, error) {
	a := wantedAction("a")
	a.Meta.Guid = c.GetAction().GetMeta().GetGuid()
	a.Status = &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED}
	return &workflowv1.CommandResult{
		Action: a, Chain: "run-0",
		Revision: &workflowv1.Revision{Incarnation: timestamppb.New(noon), Sequence: 7, Attempt: 2, Phase: 1},
	}, nil
}

// M-07: each update has a Guid of its own, the facade's, and its row the place that
// the workflow gave it.
func TestUpdateIsAppliedByTheWorkflow(t *testing.T) {
	t.Parallel()
	s, f, rows := newFacade(t)
	f.apply = applied
	var guids []string
	for range 2 {
		reply, err := s.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: wantedAction("a"), Etag: "guid-0"})
		require.NoError(t, err)
		guids = append(guids, reply.GetMeta().GetGuid())
		require.False(t, isFalse(reply, life.ConditionApplied))
	}
	require.NotEmpty(t, guids[0])
	require.NotEqual(t, guids[0], guids[1])
	c := f.updates[0].command
	require.Equal(t, workflowv1.CommandUpdate, f.updates[0].name)
	require.Equal(t, "guid-0", c.GetEtag())
	require.Equal(t, noon, c.GetAcceptTime().AsTime(), "M-11")
	require.NotEqual(t, f.updates[0].command.GetId(), f.updates[1].command.GetId())
	require.Empty(t, c.GetPaths())
	require.Empty(t, f.signals)
	require.Equal(t, store.Revision{Incarnation: noon, Sequence: 7, Attempt: 2, Phase: 1}, rows.put[0].Revision)
	require.Equal(t, "run-0", rows.put[0].Chain)
}

// The mask reaches the workflow.
func TestUpdateOfLabelsAlone(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	f.apply = applied
	a := &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Labels: map[string]string{"team": "x"}}}
	_, err := s.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: a, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels"}}})
	require.NoError(t, err)
	require.Equal(t, []string{pathLabels}, f.updates[0].command.GetPaths())
	require.Equal(t, "x", f.updates[0].command.GetAction().GetMeta().GetLabels()["team"])
}

// P-02: what the workflow refuses is told by its code.
func TestRefusedCommands(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]codes.Code{
		workflowv1.RefusedEtag:      codes.Aborted,
		workflowv1.RefusedNotFound:  codes.NotFound,
		workflowv1.RefusedExists:    codes.AlreadyExists,
		workflowv1.RefusedNotPaused: codes.FailedPrecondition,
		workflowv1.RefusedPaused:    codes.FailedPrecondition,
	} {
		s, f, rows := newFacade(t)
		f.apply = refusing(reason)
		_, err := s.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: "a", Etag: "guid-0"})
		require.Equal(t, code, status.Code(err), reason)
		require.Equal(t, "guid-0", f.updates[0].command.GetEtag())
		require.Empty(t, f.signals, "what was refused is not left")
		require.Empty(t, rows.put)
	}
}

// design.md, The workflow: without a worker a command is left under the id of the
// update that nobody answered, and the reply says so.
func TestCommandsWithoutAWorker(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*Actions) (*gnomonv1.ScheduledAction, error){
		workflowv1.CommandUpdate: func(s *Actions) (*gnomonv1.ScheduledAction, error) {
			return s.UpdateAction(context.Background(), &gnomonv1.UpdateActionRequest{Action: wantedAction("a"), RequestId: "r-1"})
		},
		workflowv1.CommandPause: func(s *Actions) (*gnomonv1.ScheduledAction, error) {
			return s.PauseAction(context.Background(), &gnomonv1.PauseActionRequest{Id: "a", RequestId: "r-1"})
		},
		workflowv1.CommandTrigger: func(s *Actions) (*gnomonv1.ScheduledAction, error) {
			return s.TriggerAction(context.Background(), &gnomonv1.TriggerActionRequest{Id: "a", RequestId: "r-1"})
		},
		workflowv1.CommandCancel: func(s *Actions) (*gnomonv1.ScheduledAction, error) {
			return s.DeleteAction(context.Background(), &gnomonv1.DeleteActionRequest{Id: "a", RequestId: "r-1"})
		},
	} {
		s, f, _ := newFacade(t)
		reply, err := call(s)
		require.NoError(t, err, name)
		require.True(t, isFalse(reply, life.ConditionApplied), name)
		require.Len(t, f.signals, 1, name)
		require.Equal(t, sent{"action/a", name, f.updates[0].command}, f.signals[0])
		require.Equal(t, "r-1", f.signals[0].command.GetId(), name)
		require.Equal(t, name == workflowv1.CommandCancel, len(f.cancels) == 1, name)
	}
}

// While nobody can ask the workflow the etag is compared with the row: what does not
// fit is not left. A deletion with an etag is left to the workflow alone, since a
// cancellation cannot carry one.
func TestEtagWithoutAWorker(t *testing.T) {
	t.Parallel()
	s, f, rows := newFacade(t)
	a := wantedAction("a")
	a.Meta.Guid = "guid-1"
	rows.rows["a"] = store.Row{Action: a}
	_, err := s.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: "a", Etag: "guid-0"})
	require.Equal(t, codes.Aborted, status.Code(err))
	require.Empty(t, f.signals)
	_, err = s.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: "a", Etag: "guid-1"})
	require.NoError(t, err)
	require.Len(t, f.signals, 1)
	require.Empty(t, f.cancels)
}

// A caller who has gone has left nothing behind that he does not know of.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.PauseAction(ctx, &gnomonv1.PauseActionRequest{Id: "a"})
	require.Equal(t, codes.Canceled, status.Code(err))
	require.Empty(t, f.signals)
}

// M-08: allow_missing creates what is missing, and the run that starts with the
// command has applied it.
func TestUpsert(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	f.apply = applied
	_, err := s.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: wantedAction("a"), AllowMissing: true, RequestId: "r-1"})
	require.NoError(t, err)
	require.Len(t, f.withRun, 1)
	require.True(t, life.Applied(f.withRun[0], "r-1"))
	require.True(t, f.updates[0].command.GetRevive())

	_, err = s.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: wantedAction("a")})
	require.NoError(t, err)
	require.Len(t, f.withRun, 1, "without it nothing is started")
	require.False(t, f.updates[1].command.GetRevive())
}

// Deleting what is missing is refused, unless allow_missing.
func TestDeleteOfTheMissing(t *testing.T) {
	t.Parallel()
	s, f, _ := newFacade(t)
	f.apply = refusing(workflowv1.RefusedNotFound)
	_, err := s.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: "a"})
	require.Equal(t, codes.NotFound, status.Code(err))
	reply, err := s.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: "a", AllowMissing: true})
	require.NoError(t, err)
	require.Equal(t, "a", reply.GetMeta().GetId())
}

// M-25: what finished by itself is shown until its tombstone expires, what was
// deleted is not found.
func TestGetOfTheEnded(t *testing.T) {
	t.Parallel()
	for state, code := range map[gnomonv1.Status_State]codes.Code{
		gnomonv1.Status_SUCCEEDED: codes.OK, gnomonv1.Status_FAILED: codes.OK,
		gnomonv1.Status_EXPIRED: codes.OK, gnomonv1.Status_DELETED: codes.NotFound,
	} {
		s, _, rows := newFacade(t)
		a := wantedAction("a")
		a.Status = &gnomonv1.Status{State: state}
		rows.rows["a"] = store.Row{Action: a, Tombstone: true}
		_, err := s.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "a"})
		require.Equal(t, code, status.Code(err), state)
	}
}
