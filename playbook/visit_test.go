package playbook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// what was pushed stays PENDING_SCHEDULE until a report has it, and from
// the push on a cancellation is only asked for. What the agent refuses has ended.
func TestPushedAndCancelled(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	s.Settings = &workflowv1.ClusterSettings{UnfinishedPerAgent: 2}
	for _, id := range []string{"a", "b", "c"} {
		_, err := apply(s, id, action(id, gnomonv1.NodeAction_PENDING_SCHEDULE))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"n1"}, playbook.BeginCycle(s, noon))
	_, d := playbook.Synced(s, "n1", &workflowv1.AgentSyncResult{Up: true}, noon)
	require.Equal(t, []string{"a", "b"}, pushed(d))
	require.Equal(t, []string{"a", "b"}, playbook.SyncInput(s, "n1").GetAsk(), "the agent may have them, whether or not it answers")
	changed := playbook.Pushed(s, pushed(d), &workflowv1.AgentPushResult{Refused: []*workflowv1.AgentPushResult_Refused{
		{Id: "b", State: gnomonv1.NodeAction_FAILED, Reason: "not permitted"},
	}}, noon)
	require.Len(t, changed, 2)
	require.Equal(t, gnomonv1.NodeAction_PENDING_SCHEDULE, changed[0].GetState())
	require.NotNil(t, changed[0].GetPushTime())
	require.Equal(t, gnomonv1.NodeAction_FAILED, changed[1].GetState())
	require.Equal(t, "not permitted", changed[1].GetReason())
	require.EqualValues(t, 1, s.GetLastCycle().GetPushed())

	for id, ends := range map[string]bool{"a": false, "c": true} {
		_, changed, err := playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{
			Cancel: &workflowv1.ClusterCommand_Decision{Action: id, Reason: "enough"},
		}}, noon)
		require.NoError(t, err)
		require.Equal(t, ends, playbook.Finished(changed[0].GetState()), id)
		require.Equal(t, !ends, changed[0].GetCancelRequested(), id)
	}
	_, d = playbook.Synced(s, "n1", &workflowv1.AgentSyncResult{Up: true}, noon)
	require.Len(t, d.Cancel, 1)
	require.Equal(t, "enough", d.Cancel[0].GetCancelReason())
	changed, _ = playbook.Synced(s, "n1", &workflowv1.AgentSyncResult{Up: true, Absent: []string{"a"}}, noon)
	require.Equal(t, gnomonv1.NodeAction_LOST, changed[0].GetState())
	require.Empty(t, s.GetUnfinished())
}

// a node that did not answer is left out for a while, so that its silence does
// not slow every cycle, and is asked again then; its news or a nudge ends that.
func TestSilentNodeIsLeftOut(t *testing.T) {
	t.Parallel()
	silent := func() *workflowv1.ClusterState {
		s := ofOne(t)
		_, err := playbook.Register(s, &gnomonv1.Node{Name: "n2"})
		require.NoError(t, err)
		other := action("b", gnomonv1.NodeAction_PENDING_SCHEDULE)
		other.Node = "n2"
		_, err = apply(s, "1", action("a", gnomonv1.NodeAction_PENDING_SCHEDULE), other)
		require.NoError(t, err)
		require.Equal(t, []string{"n1", "n2"}, playbook.BeginCycle(s, noon))
		playbook.Failed(s, "n1", errors.New("it does not answer"), noon)
		return s
	}
	s := silent()
	again := s.GetNodes()[0].GetNotBefore().AsTime()
	require.True(t, again.After(noon))
	require.Equal(t, []string{"n2"}, playbook.BeginCycle(s, again.Add(-time.Nanosecond)))
	require.Equal(t, []string{"n1", "n2"}, playbook.BeginCycle(s, again))

	s = silent()
	s.Nodes[0].News = true
	require.Equal(t, []string{"n1", "n2"}, playbook.BeginCycle(s, noon))

	s = silent()
	s.WantedAll = true
	require.Equal(t, []string{"n1", "n2"}, playbook.BeginCycle(s, noon))
}
