package playbook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

func pushed(d playbook.Decision) []string {
	var ids []string
	for _, r := range d.Push {
		ids = append(ids, r.GetAction().GetId())
	}
	return ids
}

func TestDecide(t *testing.T) {
	t.Parallel()
	pending := func(id string) *workflowv1.NodeActionRecord {
		return record(action(id, gnomonv1.NodeAction_PENDING_SCHEDULE))
	}
	running := record(action("running", gnomonv1.NodeAction_RUNNING))
	accepted := pending("accepted")
	accepted.Action.PushTime = timestamppb.New(noon)
	cancelled := pending("cancelled")
	cancelled.Action.CancelRequested, cancelled.PushAttempted = true, true
	for name, tt := range map[string]struct {
		policy playbook.Policy
		view   playbook.View
		health gnomonv1.Node_Health
		have   []*workflowv1.NodeActionRecord
		want   []string
		waits  string
	}{
		"the first in order, one a time": {
			health: gnomonv1.Node_UP, have: []*workflowv1.NodeActionRecord{pending("a"), pending("b")},
			want: []string{"a"}, waits: "1 wait: the agent has 1 unfinished actions, and no more may wait there",
		},
		"nothing to a node that is down": {
			health: gnomonv1.Node_DOWN, have: []*workflowv1.NodeActionRecord{pending("a")}, waits: "1 wait: the node is not UP",
		},
		"nothing to a node that was not fetched": {
			health: gnomonv1.Node_UNREACHABLE, have: []*workflowv1.NodeActionRecord{pending("a")}, waits: "1 wait: the node is not UP",
		},
		"nothing beside one that runs": {
			health: gnomonv1.Node_UP, have: []*workflowv1.NodeActionRecord{running, pending("a")},
			waits: "1 wait: the agent has 1 unfinished actions, and no more may wait there",
		},
		"as many as the policy says": {
			policy: playbook.Policy{UnfinishedPerAgent: 3}, health: gnomonv1.Node_UP,
			have: []*workflowv1.NodeActionRecord{running, pending("a"), pending("b"), pending("c")},
			want: []string{"a", "b"}, waits: "1 wait: the agent has 3 unfinished actions, and no more may wait there",
		},
		"what was accepted is not pushed again": {
			policy: playbook.Policy{UnfinishedPerAgent: 2}, health: gnomonv1.Node_UP,
			have: []*workflowv1.NodeActionRecord{accepted, pending("a")}, want: []string{"a"},
		},
		"what waits for an approval stays": {
			health: gnomonv1.Node_UP, have: []*workflowv1.NodeActionRecord{record(action("a", gnomonv1.NodeAction_PENDING_APPROVE))},
		},
		"no further busy node": {
			policy: playbook.Policy{BusyNodes: 2}, view: playbook.View{BusyNodes: 2}, health: gnomonv1.Node_UP,
			have: []*workflowv1.NodeActionRecord{pending("a")}, waits: "1 wait: 2 nodes of the cluster are busy, and no more may be",
		},
		"a node that is busy anyhow may be given more": {
			policy: playbook.Policy{BusyNodes: 2, UnfinishedPerAgent: 2}, view: playbook.View{BusyNodes: 2}, health: gnomonv1.Node_UP,
			have: []*workflowv1.NodeActionRecord{running, pending("a")}, want: []string{"a"},
		},
		"nothing that is to be cancelled": {
			health: gnomonv1.Node_UP, have: []*workflowv1.NodeActionRecord{cancelled, pending("a")}, want: []string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := playbook.Decide(tt.policy, tt.view, tt.health, tt.have)
			require.Equal(t, tt.want, pushed(d))
			require.Equal(t, tt.waits, d.Waits)
		})
	}
	d := playbook.Decide(playbook.Policy{}, playbook.View{}, gnomonv1.Node_DOWN, []*workflowv1.NodeActionRecord{cancelled})
	require.Equal(t, []*workflowv1.NodeActionRecord{cancelled}, d.Cancel, "also on a node that is down")
}

// by creation time, then by id, so that core and agent agree.
func TestByCreation(t *testing.T) {
	t.Parallel()
	older, younger := action("z", 0), action("a", 0)
	younger.CreateTime = timestamppb.New(noon.Add(time.Hour))
	require.Negative(t, playbook.ByCreation(older, younger))
	twin := action("y", 0)
	require.Positive(t, playbook.ByCreation(older, twin))
}

// each state has its class, and four of them are ends.
func TestStates(t *testing.T) {
	t.Parallel()
	ends := 0
	for number, name := range gnomonv1.NodeAction_State_name {
		state := gnomonv1.NodeAction_State(number)
		if state == gnomonv1.NodeAction_STATE_UNSPECIFIED {
			continue
		}
		require.NotEqual(t, gnomonv1.NodeAction_CLASS_UNSPECIFIED, playbook.Class(state), name)
		if playbook.Finished(state) {
			ends++
			require.False(t, playbook.Starting(state), name)
			require.False(t, playbook.OnAgent(state), name)
		}
	}
	require.Equal(t, 4, ends)
	require.True(t, playbook.Starting(gnomonv1.NodeAction_NEW))
	require.False(t, playbook.Starting(gnomonv1.NodeAction_RUNNING))
}
