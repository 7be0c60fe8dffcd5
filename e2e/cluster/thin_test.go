package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func infoOf(err error) *errdetails.ErrorInfo {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// scheduled over gRPC, run by its agent, seen DONE, with who
// asked and what came of it.
func TestScheduleToDone(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	a := s.schedule(t, "a", "n1", "echo hello", nil)
	require.Equal(t, gnomonv1.NodeAction_PENDING_SCHEDULE, a.GetState())
	require.Equal(t, gnomonv1.NodeAction_CORE_INTERMEDIATE, a.GetClass())
	got, err := s.clusters.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: s.cluster, Id: "a"})
	require.NoError(t, err, "who schedules reads it")
	require.Equal(t, "ann", got.GetRequestedBy())
	done, _ := s.reaches(t, "a", gnomonv1.NodeAction_DONE)
	require.Equal(t, "hello\n", done.GetResult().GetOutput())
	require.Equal(t, gnomonv1.NodeAction_SUCCESS, done.GetClass())
	require.Equal(t, gnomonv1.NodeAction_USER, done.GetOrigin())
	require.Equal(t, "ann", done.GetRequestedBy())
	require.NotNil(t, done.GetPushTime())

	_, err = s.clusters.CancelNodeAction(t.Context(), &gnomonv1.CancelNodeActionRequest{Cluster: s.cluster, Id: "a"})
	refused(t, err, codes.FailedPrecondition, "NODE_ACTION_STATE", "DONE")
	_, err = s.clusters.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: s.cluster, Action: &gnomonv1.NodeAction{
		Id: "a", Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: exec("true")},
	}})
	refused(t, err, codes.AlreadyExists, "NODE_ACTION_ALREADY_EXISTS", "")
	page, err := s.clusters.ListNodeActions(t.Context(), &gnomonv1.ListNodeActionsRequest{Cluster: s.cluster, Node: "n1", States: []gnomonv1.NodeAction_State{gnomonv1.NodeAction_DONE}})
	require.NoError(t, err)
	require.Len(t, page.GetActions(), 1)
}

// a playbook of two stages runs on two nodes, one stage after the other.
func TestPlaybookToDone(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.agent(t, "n2", nil)
	s.health(t, gnomonv1.Node_UP, "n1", "n2")
	p, err := s.playbooks.CreatePlaybook(t.Context(), &gnomonv1.CreatePlaybookRequest{Playbook: &gnomonv1.Playbook{
		Id: s.cluster + ".p", Cluster: s.cluster, Variables: map[string]string{"what": "it"},
		Stages: []*gnomonv1.PlaybookStage{
			{Name: "first", Nodes: []string{"n1", "n2"}, Action: &gnomonv1.PlaybookStage_Exec{Exec: exec("echo ${what} on ${node}")}},
			{Name: "second", AllNodes: true, Parallel: 1, Action: &gnomonv1.PlaybookStage_Exec{Exec: exec("true")}},
		},
	}})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.PlaybookStatus_RUNNING, p.GetStatus().GetState())
	ended := s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, ended.GetStatus().GetState(), ended.GetStatus())
	stages := ended.GetStatus().GetStages()
	require.False(t, stages[1].GetStartTime().AsTime().Before(stages[0].GetFinishTime().AsTime()))
	list, err := s.clusters.ListNodeActions(t.Context(), &gnomonv1.ListNodeActionsRequest{Cluster: s.cluster, Playbook: p.GetId()})
	require.NoError(t, err)
	require.Len(t, list.GetActions(), 4)
	for _, a := range list.GetActions() {
		require.Equal(t, gnomonv1.NodeAction_DONE, a.GetState())
		require.Equal(t, gnomonv1.NodeAction_PLAYBOOK, a.GetOrigin())
	}
	first, err := s.clusters.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: s.cluster, Id: stages[0].GetActions()[1].GetId()})
	require.NoError(t, err)
	require.Equal(t, "it on n2\n", first.GetResult().GetOutput())
	_, err = s.playbooks.CancelPlaybook(t.Context(), &gnomonv1.CancelPlaybookRequest{Id: p.GetId()})
	refused(t, err, codes.FailedPrecondition, "PLAYBOOK_STATE", "DONE")
}
