package starter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// overtaken is a workflow that applied every command some time ago, and another update
// since: it answers with what stands.
func overtaken(_ string, _ *workflowv1.Command) (*workflowv1.CommandResult, error) {
	a := wantedAction("a")
	a.Meta.Guid, a.Meta.Labels = "later", map[string]string{"by": "another"}
	a.Meta.CreateTime = timestamppb.New(noon.Add(-time.Hour))
	a.Spec.StartPolicy.StartAt = timestamppb.New(noon.Add(time.Hour))
	a.Status = &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED}
	return &workflowv1.CommandResult{Action: a, Chain: "run-0", Revision: &workflowv1.Revision{Incarnation: timestamppb.New(noon), Sequence: 7}}, nil
}

// M-07: the reply to a command is what it made itself, even if a later one has made
// something else by when it is answered; the row is what stands.
func TestRepliesAreTheCommandsOwn(t *testing.T) {
	t.Parallel()
	due := wantedAction("a").GetSpec().GetStartPolicy().GetStartAt().AsTime()
	for name, c := range map[string]struct {
		mask    []string
		missing bool
		labels  map[string]string
		due     time.Time
	}{
		"an update": {labels: map[string]string{"by": "me"}, due: due},
		"an upsert": {missing: true, labels: map[string]string{"by": "me"}, due: due},
		"of a spec": {mask: []string{"spec"}, labels: map[string]string{"by": "another"}, due: due},
		"of labels": {mask: []string{"meta.labels"}, labels: map[string]string{"by": "me"}, due: noon.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f, rows := newFacade(t)
			f.apply = overtaken
			a := wantedAction("a")
			a.Meta.Labels = map[string]string{"by": "me"}
			req := &gnomonv1.UpdateActionRequest{Action: a, AllowMissing: c.missing, RequestId: "r"}
			if c.mask != nil {
				req.UpdateMask = &fieldmaskpb.FieldMask{Paths: c.mask}
			}
			reply, err := s.UpdateAction(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, f.updates[0].command.GetAction().GetMeta().GetGuid(), reply.GetMeta().GetGuid())
			require.Equal(t, c.labels, reply.GetMeta().GetLabels())
			require.Equal(t, c.due, reply.GetSpec().GetStartPolicy().GetStartAt().AsTime())
			require.Equal(t, noon.Add(-time.Hour), reply.GetMeta().GetCreateTime().AsTime())
			require.Equal(t, "later", rows.put[0].Action.GetMeta().GetGuid())
		})
	}
	t.Run("a create of what is about to end", func(t *testing.T) {
		t.Parallel()
		s, f, rows := newFacade(t)
		f.run = func(*workflowservice.StartWorkflowExecutionRequest) (string, error) {
			return "", serviceerror.NewWorkflowExecutionAlreadyStarted("open", "", "run-0")
		}
		f.apply = overtaken
		reply, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a"), RequestId: "r"})
		require.NoError(t, err)
		require.Equal(t, f.updates[0].command.GetAction().GetMeta().GetGuid(), reply.GetMeta().GetGuid())
		require.Equal(t, due, reply.GetSpec().GetStartPolicy().GetStartAt().AsTime())
		require.Equal(t, "later", rows.put[0].Action.GetMeta().GetGuid())
	})
}
