package playbook_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func action(id string, state gnomonv1.NodeAction_State, argv ...string) *gnomonv1.NodeAction {
	return &gnomonv1.NodeAction{
		Id: id, Cluster: "c", Node: "n1", State: state, Class: playbook.Class(state),
		Origin: gnomonv1.NodeAction_USER, RequestedBy: "ada", CreateTime: timestamppb.New(noon.Add(-time.Hour)),
		Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: append([]string{"/bin/true"}, argv...)}},
	}
}

func record(a *gnomonv1.NodeAction) *workflowv1.NodeActionRecord {
	return &workflowv1.NodeActionRecord{Action: a}
}

// reported is what the agent says of an action that it was given.
func reported(a *gnomonv1.NodeAction, state gnomonv1.NodeAction_State) *gnomonv1.NodeAction {
	r := proto.CloneOf(a)
	r.State, r.Class = state, playbook.Class(state)
	return r
}

func merge(core []*workflowv1.NodeActionRecord, report *workflowv1.AgentSyncResult) playbook.Merged {
	return playbook.Merge("c", "n1", core, report, noon)
}

// that it was pushed moves nothing; that the agent has it does.
func TestMergePushedIsPendingUntilReported(t *testing.T) {
	t.Parallel()
	pushed := action("a", gnomonv1.NodeAction_PENDING_SCHEDULE)
	pushed.PushTime = timestamppb.New(noon)

	quiet := merge([]*workflowv1.NodeActionRecord{record(pushed)}, &workflowv1.AgentSyncResult{})
	require.Empty(t, quiet.Changed)
	require.Equal(t, gnomonv1.NodeAction_PENDING_SCHEDULE, quiet.Unfinished[0].GetAction().GetState())

	seen := merge(quiet.Unfinished, &workflowv1.AgentSyncResult{
		Records: []*gnomonv1.NodeAction{reported(pushed, gnomonv1.NodeAction_NEW)},
	})
	require.Len(t, seen.Changed, 1)
	require.Equal(t, gnomonv1.NodeAction_NEW, seen.Unfinished[0].GetAction().GetState())
	require.Equal(t, gnomonv1.NodeAction_AGENT_INTERMEDIATE, seen.Unfinished[0].GetAction().GetClass())
	require.Nil(t, seen.Changed[0].GetOverwriteTime())
	require.Equal(t, pushed.GetPushTime(), seen.Changed[0].GetPushTime())

	same := merge(seen.Unfinished, &workflowv1.AgentSyncResult{
		Records: []*gnomonv1.NodeAction{reported(pushed, gnomonv1.NodeAction_NEW)},
	})
	require.Empty(t, same.Changed, "the same report again changes nothing")
}

// the agent's action replaces the core's, and a playbook that waits sees it.
func TestMergeAgentWins(t *testing.T) {
	t.Parallel()
	core := action("a", gnomonv1.NodeAction_PENDING_APPROVE, "core")
	core.Approve, core.Playbook, core.Stage = true, "p", "s"
	agents := action("a", gnomonv1.NodeAction_DONE, "agent")
	agents.Origin, agents.RequestedBy = gnomonv1.NodeAction_AGENT, "bob"

	m := merge([]*workflowv1.NodeActionRecord{record(core)}, &workflowv1.AgentSyncResult{Records: []*gnomonv1.NodeAction{agents}})
	want := proto.CloneOf(agents)
	want.Playbook, want.Stage = "p", "s"
	want.OverwriteTime, want.Reason = timestamppb.New(noon), playbook.ReasonOverwrote
	require.Empty(t, cmp.Diff([]*gnomonv1.NodeAction{want}, m.Changed, protocmp.Transform()))
	require.Empty(t, m.Unfinished)
}

// an action the core does not know is added; R-02: it says where it came from.
func TestMergeAdopts(t *testing.T) {
	t.Parallel()
	foreign := action("x", gnomonv1.NodeAction_RUNNING)
	foreign.Origin = gnomonv1.NodeAction_AGENT
	m := merge(nil, &workflowv1.AgentSyncResult{Records: []*gnomonv1.NodeAction{foreign}})
	require.Empty(t, cmp.Diff([]*gnomonv1.NodeAction{foreign}, m.Changed, protocmp.Transform()))
	require.Len(t, m.Unfinished, 1)
}

// absent after it was known there or accepted is LOST; absent without ever having
// been accepted may be pushed again.
func TestMergeLost(t *testing.T) {
	t.Parallel()
	running := action("running", gnomonv1.NodeAction_RUNNING)
	accepted := action("accepted", gnomonv1.NodeAction_PENDING_SCHEDULE)
	accepted.PushTime = timestamppb.New(noon.Add(-time.Minute))
	unanswered := record(action("unanswered", gnomonv1.NodeAction_PENDING_SCHEDULE))
	unanswered.PushAttempted = true
	approving := record(action("approving", gnomonv1.NodeAction_PENDING_APPROVE))

	m := merge([]*workflowv1.NodeActionRecord{record(running), record(accepted), unanswered, approving},
		&workflowv1.AgentSyncResult{Absent: []string{"accepted", "approving", "running", "unanswered", "other"}})
	states := map[string]gnomonv1.NodeAction_State{}
	for _, a := range m.Changed {
		states[a.GetId()] = a.GetState()
		require.Equal(t, gnomonv1.NodeAction_UNSUCCESSFUL, a.GetClass())
		require.True(t, noon.Equal(a.GetFinishTime().AsTime()))
	}
	require.Equal(t, map[string]gnomonv1.NodeAction_State{
		"running": gnomonv1.NodeAction_LOST, "accepted": gnomonv1.NodeAction_LOST,
	}, states)
	require.Len(t, m.Unfinished, 2)
	decision := playbook.Decide(playbook.Policy{}, playbook.View{}, gnomonv1.Node_UP, m.Unfinished)
	require.Equal(t, []*workflowv1.NodeActionRecord{unanswered}, decision.Push)
}

// A report that is not about absence says nothing of absence: only a successful look
// for just these ids may mark them LOST.
func TestMergeSilenceIsNotAbsence(t *testing.T) {
	t.Parallel()
	m := merge([]*workflowv1.NodeActionRecord{record(action("a", gnomonv1.NodeAction_RUNNING))}, &workflowv1.AgentSyncResult{})
	require.Empty(t, m.Changed)
	require.Len(t, m.Unfinished, 1)
}

// What is wanted of an action survives its reports until it has finished.
func TestMergeKeepsCancellation(t *testing.T) {
	t.Parallel()
	r := record(action("a", gnomonv1.NodeAction_NEW))
	r.Action.CancelRequested, r.CancelReason = true, "enough"
	m := merge([]*workflowv1.NodeActionRecord{r}, &workflowv1.AgentSyncResult{
		Records: []*gnomonv1.NodeAction{reported(action("a", 0), gnomonv1.NodeAction_RUNNING)},
	})
	require.True(t, m.Unfinished[0].GetAction().GetCancelRequested())
	require.Equal(t, "enough", m.Unfinished[0].GetCancelReason())
	m = merge(m.Unfinished, &workflowv1.AgentSyncResult{
		Records: []*gnomonv1.NodeAction{reported(action("a", 0), gnomonv1.NodeAction_CANCELLED)},
	})
	require.False(t, m.Changed[0].GetCancelRequested())
	require.Empty(t, m.Unfinished)
}
