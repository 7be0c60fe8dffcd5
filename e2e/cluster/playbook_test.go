package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// stage is a stage of one line on nodes.
func stage(name, line string, nodes ...string) *gnomonv1.PlaybookStage {
	return &gnomonv1.PlaybookStage{Name: name, Nodes: nodes, Action: &gnomonv1.PlaybookStage_Exec{Exec: exec(line)}}
}

func (s *site) play(t *testing.T, name string, change func(*gnomonv1.Playbook), stages ...*gnomonv1.PlaybookStage) *gnomonv1.Playbook {
	t.Helper()
	p := &gnomonv1.Playbook{Id: s.cluster + "." + name, Cluster: s.cluster, RequestedBy: "ann", Stages: stages}
	if change != nil {
		change(p)
	}
	p, err := s.playbooks.CreatePlaybook(t.Context(), &gnomonv1.CreatePlaybookRequest{Playbook: p})
	require.NoError(t, err)
	return p
}

func (s *site) commandPlaybook(t *testing.T, id, verb string) error {
	t.Helper()
	var err error
	switch verb {
	case "approve":
		_, err = s.playbooks.ApprovePlaybook(t.Context(), &gnomonv1.ApprovePlaybookRequest{Id: id, DecidedBy: "bob"})
	case "reject":
		_, err = s.playbooks.RejectPlaybook(t.Context(), &gnomonv1.RejectPlaybookRequest{Id: id, DecidedBy: "bob", Reason: "no"})
	case "cancel":
		_, err = s.playbooks.CancelPlaybook(t.Context(), &gnomonv1.CancelPlaybookRequest{Id: id, Reason: "enough"})
	default:
		_, err = s.playbooks.NudgePlaybook(t.Context(), &gnomonv1.NudgePlaybookRequest{Id: id})
	}
	return err
}

// onlyPlaybook holds that a playbook's state refuses all but these commands, which are
// not tried.
func (s *site) onlyPlaybook(t *testing.T, id string, state gnomonv1.PlaybookStatus_State, allowed ...string) {
	t.Helper()
	before, err := s.playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: id})
	require.NoError(t, err)
	require.Equal(t, state, before.GetStatus().GetState())
	for _, verb := range []string{"approve", "reject", "cancel", "nudge"} {
		if !slices.Contains(allowed, verb) {
			refused(t, s.commandPlaybook(t, id, verb), codes.FailedPrecondition, "PLAYBOOK_STATE", state.String())
		}
	}
	after, err := s.playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: id, Fresh: true})
	require.NoError(t, err)
	require.True(t, proto.Equal(before, after), "a refused command changes nothing:\n%v\n%v", before, after)
}

// every state of a playbook, the commands that each allows, and what an
// action that fails does to it.
func TestPlaybookStatesAndCommands(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.agent(t, "n2", nil)
	s.health(t, gnomonv1.Node_UP, "n1", "n2")
	asked := func(p *gnomonv1.Playbook) { p.Approve = true }

	p := s.play(t, "rejected", asked, stage("one", "true", "n1"))
	s.onlyPlaybook(t, p.GetId(), gnomonv1.PlaybookStatus_PENDING_APPROVE, "approve", "reject", "cancel", "nudge")
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "nudge"), "it changes nothing")
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "reject"))
	s.onlyPlaybook(t, p.GetId(), gnomonv1.PlaybookStatus_CANCELLED)
	ended := s.ends(t, p.GetId())
	require.Equal(t, "bob", ended.GetStatus().GetDecidedBy())
	require.Equal(t, "no", ended.GetStatus().GetReason())
	list, err := s.clusters.ListNodeActions(t.Context(), &gnomonv1.ListNodeActionsRequest{Cluster: s.cluster, Playbook: p.GetId()})
	require.NoError(t, err)
	require.Empty(t, list.GetActions(), "nothing existed before it was approved (R-03)")

	g := newGate(t)
	p = s.play(t, "cancelled", asked, stage("one", g.line(), "n1"), stage("two", "true", "n1"))
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "approve"))
	g.awaits(t)
	refused(t, s.commandPlaybook(t, p.GetId(), "approve"), codes.FailedPrecondition, "PLAYBOOK_STATE", "RUNNING")
	refused(t, s.commandPlaybook(t, p.GetId(), "reject"), codes.FailedPrecondition, "PLAYBOOK_STATE", "RUNNING")
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "nudge"))
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "cancel"))
	ended = s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, ended.GetStatus().GetState())
	require.Equal(t, "enough", ended.GetStatus().GetReason())
	require.Equal(t, gnomonv1.PlaybookStatus_SKIPPED, ended.GetStatus().GetStages()[1].GetState())
	s.reaches(t, ended.GetStatus().GetStages()[0].GetActions()[0].GetId(), gnomonv1.NodeAction_CANCELLED)
	s.onlyPlaybook(t, p.GetId(), gnomonv1.PlaybookStatus_CANCELLED)

	line := `test ${node} != n1`
	p = s.play(t, "failed", nil, stage("one", line, "n1", "n2"), stage("two", "true", "n1"))
	ended = s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_FAILED, ended.GetStatus().GetState())
	require.Equal(t, gnomonv1.PlaybookStatus_UNSUCCESSFUL, ended.GetStatus().GetStages()[0].GetState())
	require.Equal(t, gnomonv1.PlaybookStatus_SKIPPED, ended.GetStatus().GetStages()[1].GetState())
	s.onlyPlaybook(t, p.GetId(), gnomonv1.PlaybookStatus_FAILED)

	goesOn := stage("one", line, "n1", "n2")
	goesOn.OnFailure = gnomonv1.PlaybookStage_CONTINUE
	p = s.play(t, "continued", nil, goesOn, stage("two", "true", "n1"))
	ended = s.ends(t, p.GetId())
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, ended.GetStatus().GetState())
	require.EqualValues(t, 1, ended.GetStatus().GetStages()[0].GetFailures())
	s.onlyPlaybook(t, p.GetId(), gnomonv1.PlaybookStatus_DONE)
	refused(t, s.commandPlaybook(t, "none", "cancel"), codes.NotFound, "PLAYBOOK_NOT_FOUND", "")

	all, err := s.playbooks.ListPlaybooks(t.Context(), &gnomonv1.ListPlaybooksRequest{Cluster: s.cluster, PageSize: 3})
	require.NoError(t, err)
	rest, err := s.playbooks.ListPlaybooks(t.Context(), &gnomonv1.ListPlaybooksRequest{Cluster: s.cluster, PageSize: 3, PageToken: all.GetNextPageToken()})
	require.NoError(t, err)
	var names []string
	for _, p := range append(all.GetPlaybooks(), rest.GetPlaybooks()...) {
		names = append(names, strings.TrimPrefix(p.GetId(), s.cluster+"."))
	}
	require.Equal(t, []string{"continued", "failed", "cancelled", "rejected"}, names, "the newest first")
	only, err := s.playbooks.ListPlaybooks(t.Context(), &gnomonv1.ListPlaybooksRequest{Cluster: s.cluster, States: []gnomonv1.PlaybookStatus_State{gnomonv1.PlaybookStatus_CANCELLED}})
	require.NoError(t, err)
	require.Len(t, only.GetPlaybooks(), 2)
}

// a playbook is refused with all that is wrong with it, and nothing of it is kept.
// The same request again is answered with what the first made; another id is another.
func TestPlaybookRefusedAndRepeated(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	id := s.cluster + ".p"
	_, err := s.playbooks.CreatePlaybook(t.Context(), &gnomonv1.CreatePlaybookRequest{RequestId: "a b", Playbook: &gnomonv1.Playbook{
		Id: id, Cluster: "UPPER",
		Stages: []*gnomonv1.PlaybookStage{stage("same", "echo ${nothing}", "n1"), {Name: "same"}},
	}})
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	var fields []string
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				fields = append(fields, v.GetField())
			}
		}
	}
	require.ElementsMatch(t, []string{
		"playbook.cluster", "playbook.stages[0].exec.argv[2]",
		"playbook.stages[1]", "playbook.stages[1]", // no nodes, no action
		"playbook.stages[1].name", "request_id",
	}, fields)

	req := &gnomonv1.CreatePlaybookRequest{RequestId: "r", ValidateOnly: true, Playbook: &gnomonv1.Playbook{
		Id: id, Cluster: s.cluster, Stages: []*gnomonv1.PlaybookStage{stage("one", "true", "n1")},
	}}
	p, err := s.playbooks.CreatePlaybook(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.PlaybookStatus_RUNNING, p.GetStatus().GetState())
	_, err = s.playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: id})
	refused(t, err, codes.NotFound, "PLAYBOOK_NOT_FOUND", "")
	req.ValidateOnly = false
	p, err = s.playbooks.CreatePlaybook(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, s.ends(t, id).GetStatus().GetState())
	again, err := s.playbooks.CreatePlaybook(t.Context(), req)
	require.NoError(t, err)
	require.True(t, proto.Equal(p.GetCreateTime(), again.GetCreateTime()))
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, again.GetStatus().GetState())
	req.RequestId = ""
	_, err = s.playbooks.CreatePlaybook(t.Context(), req)
	refused(t, err, codes.AlreadyExists, "PLAYBOOK_ALREADY_EXISTS", "")
	req.RequestId, req.Playbook.Stages[0].Name = "r", "other"
	_, err = s.playbooks.CreatePlaybook(t.Context(), req)
	refused(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED", "")
}

// a node action's request that is repeated makes one action, whether its caller
// names it or not, also after it has finished.
func TestScheduleRepeated(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	log := filepath.Join(t.TempDir(), "log")
	for _, id := range []string{"named", ""} {
		req := &gnomonv1.ScheduleNodeActionRequest{Cluster: s.cluster, RequestId: "r-" + id, Action: &gnomonv1.NodeAction{
			Id: id, Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: exec("echo x >>" + log)},
		}}
		first, err := s.clusters.ScheduleNodeAction(t.Context(), req)
		require.NoError(t, err)
		again, err := s.clusters.ScheduleNodeAction(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, first.GetId(), again.GetId())
		s.reaches(t, first.GetId(), gnomonv1.NodeAction_DONE)
		again, err = s.clusters.ScheduleNodeAction(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, first.GetId(), again.GetId())
		if id == "" {
			continue
		}
		other := proto.CloneOf(req)
		other.Action.GetExec().Argv[2] = "true"
		_, err = s.clusters.ScheduleNodeAction(t.Context(), other)
		refused(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED", "")
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "x\nx\n", string(text))
	_, err = s.clusters.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: s.cluster, Action: &gnomonv1.NodeAction{
		Node: "n9", Action: &gnomonv1.NodeAction_Exec{Exec: exec("true")},
	}})
	refused(t, err, codes.NotFound, "NODE_NOT_FOUND", "")
	_, err = s.clusters.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: "nowhere", Action: &gnomonv1.NodeAction{
		Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: exec("true")},
	}})
	refused(t, err, codes.NotFound, "CLUSTER_NOT_FOUND", "")
}

// What the agent's allow-list does not permit FAILS and never runs.
func TestNotPermittedFails(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	a := s.schedule(t, "a", "n1", "", func(a *gnomonv1.NodeAction) { a.GetExec().Argv = []string{"/bin/ls", "/"} })
	require.Equal(t, gnomonv1.NodeAction_PENDING_SCHEDULE, a.GetState())
	failed, _ := s.reaches(t, "a", gnomonv1.NodeAction_FAILED)
	require.Nil(t, failed.GetStartTime())
	require.NotEmpty(t, failed.GetReason())
}

// Nodes that work is wanted from are kept; by force their work ends, LOST where the agent
// may have it and CANCELLED where it cannot.
func TestRemoveNode(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	g := newGate(t)
	s.schedule(t, "runs", "n1", g.line(), nil)
	g.awaits(t)
	s.reaches(t, "runs", gnomonv1.NodeAction_RUNNING)
	s.schedule(t, "waits", "n1", "true", func(a *gnomonv1.NodeAction) { a.Approve = true })
	_, err := s.clusters.RemoveNode(t.Context(), &gnomonv1.RemoveNodeRequest{Cluster: s.cluster, Node: "n1"})
	refused(t, err, codes.FailedPrecondition, "NODE_HAS_UNFINISHED_ACTIONS", "")
	n.stop()
	_, err = s.clusters.RemoveNode(t.Context(), &gnomonv1.RemoveNodeRequest{Cluster: s.cluster, Node: "n1", Force: true})
	require.NoError(t, err)
	s.reaches(t, "runs", gnomonv1.NodeAction_LOST)
	s.reaches(t, "waits", gnomonv1.NodeAction_CANCELLED)
	c, err := s.clusters.GetCluster(t.Context(), &gnomonv1.GetClusterRequest{Cluster: s.cluster})
	require.NoError(t, err)
	require.Empty(t, c.GetNodes())
	_, err = s.clusters.RemoveNode(t.Context(), &gnomonv1.RemoveNodeRequest{Cluster: s.cluster, Node: "n1"})
	refused(t, err, codes.NotFound, "NODE_NOT_FOUND", "")
}
