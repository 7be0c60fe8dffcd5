package playbook_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// ofOne is a cluster with node n1.
func ofOne(t *testing.T) *workflowv1.ClusterState {
	t.Helper()
	s := playbook.New("c")
	_, err := playbook.Register(s, &gnomonv1.Node{Name: "n1"})
	require.NoError(t, err)
	return s
}

func apply(s *workflowv1.ClusterState, id string, actions ...*gnomonv1.NodeAction) ([]*gnomonv1.NodeAction, error) {
	_, changed, err := playbook.Apply(s, &workflowv1.ClusterCommand{Id: id, Command: &workflowv1.ClusterCommand_Schedule_{
		Schedule: &workflowv1.ClusterCommand_Schedule{Actions: actions},
	}}, noon)
	return changed, err
}

func ofPlaybook(id, stage string) *gnomonv1.NodeAction {
	a := action(id, gnomonv1.NodeAction_PENDING_SCHEDULE)
	a.Origin, a.Playbook, a.Stage = gnomonv1.NodeAction_PLAYBOOK, "p", stage
	return a
}

// A playbook's actions may come any number of times and exist once. An id that somebody
// else has is waited for, and nothing of the command is taken meanwhile.
func TestScheduleOfPlaybooks(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	changed, err := apply(s, "1", ofPlaybook("p.0.n1", "one"))
	require.NoError(t, err)
	require.Len(t, changed, 1)
	changed, err = apply(s, "2", ofPlaybook("p.0.n1", "one"))
	require.NoError(t, err)
	require.Empty(t, changed)

	_, err = apply(s, "3", action("p.1.n1", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.NoError(t, err)
	_, err = apply(s, "4", ofPlaybook("p.1.n0", "two"), ofPlaybook("p.1.n1", "two"))
	require.ErrorIs(t, err, playbook.ErrExists)
	require.Len(t, s.GetUnfinished(), 2)
	_, _, err = playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: &workflowv1.ClusterCommand_Decision{Action: "p.1.n1"}}}, noon)
	require.NoError(t, err)
	changed, err = apply(s, "4", ofPlaybook("p.1.n0", "two"), ofPlaybook("p.1.n1", "two"))
	require.NoError(t, err)
	require.Len(t, changed, 2)
}

// What a playbook's finished actions were is remembered until it goes on to another stage:
// the same actions, sent again meanwhile, do not run again.
func TestSettledUntilTheNextStage(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	_, err := apply(s, "1", ofPlaybook("p.0.n1", "one"))
	require.NoError(t, err)
	_, _, err = playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: &workflowv1.ClusterCommand_Decision{Action: "p.0.n1"}}}, noon)
	require.NoError(t, err)
	require.Empty(t, s.GetUnfinished())
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, playbook.TellAgain(s)[0].Progress.GetActions()[0].GetState())
	changed, err := apply(s, "2", ofPlaybook("p.0.n1", "one"))
	require.NoError(t, err)
	require.Empty(t, changed)
	_, err = apply(s, "3", ofPlaybook("p.1.n1", "two"))
	require.NoError(t, err)
	require.Empty(t, s.GetSettled())
	playbook.Settle(s, []*gnomonv1.NodeAction{func() *gnomonv1.NodeAction {
		a := ofPlaybook("p.1.n1", "two")
		a.State = gnomonv1.NodeAction_DONE
		return a
	}()})
	require.Len(t, s.GetSettled(), 1)
	playbook.Forget(s, "other")
	require.Len(t, s.GetSettled(), 1)
	playbook.Forget(s, "p")
	require.Empty(t, s.GetSettled())
}

// A command that comes again changes nothing, whatever became of what it was about.
func TestCommandsOnce(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	_, err := apply(s, "1", action("a", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.NoError(t, err)
	_, _, err = playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: &workflowv1.ClusterCommand_Decision{Action: "a"}}}, noon)
	require.NoError(t, err)
	changed, err := apply(s, "1", action("a", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.NoError(t, err)
	require.Empty(t, changed)
	require.Empty(t, s.GetUnfinished())
	_, err = apply(s, "2", action("b", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.NoError(t, err)
	_, err = apply(s, "3", action("b", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.ErrorIs(t, err, playbook.ErrExists)
}

// only what waits for an approval is approved or rejected, once.
func TestDecidedOnce(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	decide := func(id string, approve bool) error {
		d := &workflowv1.ClusterCommand_Decision{Action: id, By: "ada"}
		c := &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Reject{Reject: d}}
		if approve {
			c.Command = &workflowv1.ClusterCommand_Approve{Approve: d}
		}
		_, _, err := playbook.Apply(s, c, noon)
		return err
	}
	asked := func(id string) *gnomonv1.NodeAction {
		a := action(id, gnomonv1.NodeAction_PENDING_SCHEDULE)
		a.Approve = true
		return a
	}
	_, err := apply(s, "1", asked("a"), asked("b"), action("c", gnomonv1.NodeAction_PENDING_SCHEDULE))
	require.NoError(t, err)
	require.NoError(t, decide("a", true))
	require.NoError(t, decide("b", false))
	require.Equal(t, []string{"n1"}, playbook.BeginCycle(s, noon))
	_, d := playbook.Synced(s, "n1", &workflowv1.AgentSyncResult{Up: true}, noon)
	require.Equal(t, []string{"a"}, pushed(d), "a was given, c waits for it")
	for _, state := range []gnomonv1.NodeAction_State{gnomonv1.NodeAction_PENDING_SCHEDULE, gnomonv1.NodeAction_NEW, gnomonv1.NodeAction_RUNNING} {
		for _, id := range []string{"a", "c"} {
			playbook.Find(s, id).Action.State = state
			for _, approve := range []bool{true, false} {
				require.ErrorIs(t, decide(id, approve), playbook.ErrNotPending, "%s %s", id, state)
				require.Equal(t, state, playbook.Find(s, id).GetAction().GetState(), "it stays as it is")
			}
		}
	}
	require.Empty(t, playbook.Find(s, "c").GetAction().GetDecidedBy())
	require.ErrorIs(t, decide("b", true), playbook.ErrNotFound, "it has ended")
}

// The order of execution is that of creation, then of ids.
func TestScheduledInOrder(t *testing.T) {
	t.Parallel()
	s := ofOne(t)
	late := action("a", gnomonv1.NodeAction_PENDING_SCHEDULE)
	late.CreateTime = nil // now
	for i, a := range []*gnomonv1.NodeAction{late, action("c", gnomonv1.NodeAction_PENDING_SCHEDULE), action("b", gnomonv1.NodeAction_PENDING_SCHEDULE)} {
		_, err := apply(s, string(rune('1'+i)), a)
		require.NoError(t, err)
	}
	var ids []string
	for _, r := range playbook.Of(s, "n1") {
		ids = append(ids, r.GetAction().GetId())
	}
	require.Equal(t, []string{"b", "c", "a"}, ids)
}
