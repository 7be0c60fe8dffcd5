package record

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store/faulty"
)

// TestClusterCycles records clusters by what makes their cycles begin and go wrong.
func TestClusterCycles(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	_, err := p.client.ExecuteWorkflow(limited(t), client.StartWorkflowOptions{
		ID: p.workflow("cluster-empty"), TaskQueue: p.queue,
	}, workflowv1.ClusterWorkflow, playbook.New("cluster-empty"))
	require.NoError(t, err)
	p.nudge(t, "cluster-empty")

	p.agent(t, "cluster-quiet", "n1", nil)
	p.agent(t, "cluster-nudged", "n1", nil)
	p.rests(t, "cluster-nudged")
	p.nudge(t, "cluster-nudged")

	failing := p.agent(t, "cluster-failing-node", "n1", nil)
	failing.mu.Lock()
	failing.broken = errors.New("the disk is full")
	failing.mu.Unlock()
	p.schedule(t, "cluster-failing-node", "a", false)
	p.sees(t, "cluster-failing-node", "n1", gnomonv1.Node_UNREACHABLE)

	p.agent(t, "cluster-node-removed", "n1", nil)
	p.rests(t, "cluster-node-removed")
	require.NoError(t, p.decide(t, "remove", "cluster-node-removed", "n1"))

	p.agent(t, "cluster-refusals", "n1", func(a *played) { a.down = true })
	p.schedule(t, "cluster-refusals", "a", false)
	require.Error(t, p.decide(t, "approve", "cluster-refusals", "a"))
	require.Error(t, p.decide(t, "cancel", "cluster-refusals", "none"))
	require.Error(t, p.decide(t, "remove", "cluster-refusals", "n1"))
	require.Error(t, p.decide(t, "remove", "cluster-refusals", "n2"))
	p.keeps(t, "cluster-empty", "cluster-quiet", "cluster-nudged", "cluster-failing-node", "cluster-node-removed", "cluster-refusals")

	p.agent(t, "cluster-settings-changed", "n1", nil)
	p.rests(t, "cluster-settings-changed")
	p.batches.Clusters = hasty()
	p.work(t)
	p.nudge(t, "cluster-settings-changed")
	p.keeps(t, "cluster-settings-changed")
}

// TestClusterSignals records clusters that are commanded by signals, and such that mean
// nothing.
func TestClusterSignals(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const malformed, commanded = "cluster-malformed-signals", "cluster-commands-by-signal"
	a := p.agent(t, malformed, "n1", nil)
	p.signals(t, malformed, workflowv1.SignalNews, "no news")
	p.signals(t, malformed, workflowv1.SignalNews, &workflowv1.News{Node: &gnomonv1.Node{Name: "NO NODE"}})
	p.signals(t, malformed, workflowv1.CommandCluster, []byte{0xff, 0})
	p.signals(t, malformed, workflowv1.CommandCluster, &workflowv1.ClusterCommand{})
	p.signals(t, malformed, "explode", nil)
	a.has(t, "own", done)
	p.is(t, malformed, "own", done)

	p.agent(t, commanded, "n1", func(a *played) { a.becomes = done })
	p.signals(t, commanded, workflowv1.CommandCluster, &workflowv1.ClusterCommand{Id: "c-1", Command: &workflowv1.ClusterCommand_Schedule_{
		Schedule: &workflowv1.ClusterCommand_Schedule{Actions: []*gnomonv1.NodeAction{{
			Id: "a", Node: "n1", Approve: true, Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}},
		}}},
	}})
	p.signals(t, commanded, workflowv1.CommandCluster, &workflowv1.ClusterCommand{Id: "c-2", Command: &workflowv1.ClusterCommand_Approve{
		Approve: &workflowv1.ClusterCommand_Decision{Action: "a", By: "bob"},
	}})
	p.is(t, commanded, "a", done)
	p.keeps(t, malformed, commanded)
}

// TestClusterRounds records clusters whose cycles begin by themselves.
func TestClusterRounds(t *testing.T) {
	t.Parallel()
	rounds := still()
	rounds.SlowInterval = durationpb.New(4 * time.Second)
	p := openPlant(t, rounds)
	const name = "cluster-slow-rounds"
	p.agent(t, name, "n1", nil)
	p.happens(t, name, wakes, 2)
	made.save(t, p.installation, name)

	waiting := still()
	waiting.Interval = durationpb.New(4 * time.Second)
	p = openPlant(t, waiting)
	const down = "cluster-node-not-up"
	p.agent(t, down, "n1", func(a *played) { a.down = true })
	p.schedule(t, down, "a", false)
	p.happens(t, down, wakes, 2)
	made.save(t, p.installation, down)
}

// TestClusterSilence records clusters with a node that does not answer.
func TestClusterSilence(t *testing.T) {
	t.Parallel()
	p := openPlant(t, hasty())
	const silent, back, unheard = "cluster-silent-node", "cluster-node-back", "cluster-cancelled-unheard"
	for _, name := range []string{silent, back} {
		_, err := p.clusters.RegisterNode(limited(t), &gnomonv1.RegisterNodeRequest{Cluster: name, Node: &gnomonv1.Node{Name: "n1"}})
		require.NoError(t, err)
		p.schedule(t, name, "a", false)
	}
	for _, name := range []string{silent, back} {
		p.sees(t, name, "n1", gnomonv1.Node_UNREACHABLE)
	}
	p.agent(t, back, "n1", func(a *played) { a.becomes = done })
	p.is(t, back, "a", done)

	a := p.agent(t, unheard, "n1", func(a *played) { a.becomes = running })
	p.schedule(t, unheard, "a", false)
	p.is(t, unheard, "a", running)
	p.rests(t, unheard)
	a.worker.Stop()
	require.NoError(t, p.decide(t, "cancel", unheard, "a"))
	p.sees(t, unheard, "n1", gnomonv1.Node_UNREACHABLE)
	p.keeps(t, silent, back, unheard)
}

// TestClusterDecisions records actions that people decide about.
func TestClusterDecisions(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	for name, verb := range map[string]string{
		"cluster-pending-approve": "", "cluster-rejected": "reject", "cluster-withdrawn": "cancel", "cluster-approved-and-done": "approve",
	} {
		p.agent(t, name, "n1", func(a *played) { a.becomes = done })
		p.schedule(t, name, "a", true)
		if verb != "" {
			require.NoError(t, p.decide(t, verb, name, "a"))
		}
	}
	p.is(t, "cluster-rejected", "a", gnomonv1.NodeAction_CANCELLED)
	p.is(t, "cluster-withdrawn", "a", gnomonv1.NodeAction_CANCELLED)
	p.is(t, "cluster-approved-and-done", "a", done)
	p.keeps(t, "cluster-pending-approve", "cluster-rejected", "cluster-withdrawn", "cluster-approved-and-done")
}

// TestClusterActions records the states of an action that its agent has.
func TestClusterActions(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	for name, state := range map[string]gnomonv1.NodeAction_State{
		"cluster-new": gnomonv1.NodeAction_NEW, "cluster-running": running, "cluster-done": done, "cluster-failed": gnomonv1.NodeAction_FAILED,
	} {
		p.agent(t, name, "n1", func(a *played) { a.becomes = state })
		p.schedule(t, name, "a", false)
		p.is(t, name, "a", state)
		p.keeps(t, name)
	}

	const pushed, refused = "cluster-pushed", "cluster-not-permitted"
	p.agent(t, pushed, "n1", nil)
	p.schedule(t, pushed, "a", false)
	p.agent(t, refused, "n1", func(a *played) { a.refuse = true })
	p.schedule(t, refused, "a", false)
	p.is(t, refused, "a", gnomonv1.NodeAction_FAILED)
	p.keeps(t, pushed, refused)

	runs := func(name string) *played {
		a := p.agent(t, name, "n1", func(a *played) { a.becomes = running })
		p.schedule(t, name, "a", false)
		p.is(t, name, "a", running)
		return a
	}
	const cancelled, interrupted, lost, forced = "cluster-cancelled-running", "cluster-interrupted", "cluster-lost", "cluster-lost-by-force"
	runs(cancelled)
	require.NoError(t, p.decide(t, "cancel", cancelled, "a"))
	p.is(t, cancelled, "a", gnomonv1.NodeAction_CANCELLED)
	runs(interrupted).has(t, "a", gnomonv1.NodeAction_CANCELLED)
	p.is(t, interrupted, "a", gnomonv1.NodeAction_CANCELLED)
	runs(lost).forgets(t)
	p.is(t, lost, "a", gnomonv1.NodeAction_LOST)
	runs(forced)
	require.NoError(t, p.decide(t, "remove by force", forced, "n1"))
	p.is(t, forced, "a", gnomonv1.NodeAction_LOST)

	const adopted, wins = "cluster-adopted", "cluster-agent-wins"
	p.agent(t, adopted, "n1", nil).has(t, "own", running)
	p.is(t, adopted, "own", running)
	a := p.agent(t, wins, "n1", nil)
	p.schedule(t, wins, "a", true)
	a.has(t, "a", running)
	p.is(t, wins, "a", running)
	p.keeps(t, cancelled, interrupted, lost, forced, adopted, wins)
}

// TestClusterQueue records actions that wait in the core behind another.
func TestClusterQueue(t *testing.T) {
	t.Parallel()
	one := still()
	one.UnfinishedPerAgent = 1
	p := openPlant(t, one)
	const name = "cluster-queue"
	p.agent(t, name, "n1", func(a *played) { a.becomes = running })
	p.schedule(t, name, "a", false)
	p.is(t, name, "a", running)
	p.schedule(t, name, "b", false)
	p.keeps(t, name)
}

// TestClusterStoreDown records rows that the store does not take.
func TestClusterStoreDown(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const name = "cluster-store-down"
	p.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutNodeActions}})
	p.agent(t, name, "n1", nil)
	p.schedule(t, name, "a", true)
	p.held(t, name)
	made.save(t, p.installation, name)
}

// TestClusterOfPlaybooks records what playbooks are told.
func TestClusterOfPlaybooks(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const open, ended, without = "cluster-of-playbook", "cluster-of-playbook-ended", "cluster-of-playbook-without-node"
	p.agent(t, open, "n1", func(a *played) { a.becomes = running })
	p.play(t, "p."+open, open, nil, stageOf("one", "n1"))
	p.is(t, open, "p."+open+".0.n1", running)
	p.keeps(t, open)

	p.agent(t, ended, "n1", func(a *played) { a.becomes = done })
	p.play(t, "p."+ended, ended, nil, stageOf("one", "n1"))
	p.ends(t, "p."+ended, gnomonv1.PlaybookStatus_DONE)
	require.Eventually(t, func() bool {
		// It is told until it cannot be any more.
		p.nudge(t, ended)
		p.rests(t, ended)
		for _, e := range p.history(t, ended, p.run(t, ended)).GetEvents() {
			if e.GetEventType() == notTold {
				return true
			}
		}
		return false
	}, within, 20*time.Millisecond)

	p.agent(t, without, "n1", nil)
	p.play(t, "p."+without, without, nil, stageOf("one", "n9"))
	p.ends(t, "p."+without, gnomonv1.PlaybookStatus_FAILED)
	p.keeps(t, ended, without)
}

// TestClusterContinued records clusters whose histories grew long, and their next runs.
func TestClusterContinued(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const name = "cluster-continued"
	p.agent(t, name, "n1", func(a *played) { a.becomes = running })
	p.schedule(t, name, "a", false)
	p.is(t, name, "a", running)
	p.schedule(t, name, "b", true)
	first := p.fills(t, name)
	require.NoError(t, p.decide(t, "reject", name, "b"))
	require.NoError(t, p.decide(t, "cancel", name, "a"))
	p.is(t, name, "a", gnomonv1.NodeAction_CANCELLED)
	p.rests(t, name)
	made.saveRun(t, p.installation, name, first, name)
	made.saveRun(t, p.installation, name, p.run(t, name), name+"-next")

	const down = "cluster-continued-store-down"
	p.agent(t, down, "n1", nil)
	p.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutNodeActions}})
	p.schedule(t, down, "a", true)
	first = p.fills(t, down)
	p.store.Set(faulty.Faults{})
	p.rests(t, down)
	made.saveRun(t, p.installation, down, first, down)
	made.saveRun(t, p.installation, down, p.run(t, down), down+"-next")
}

// fills has a cluster go on until it continues as a new run, and says which was filled.
func (p *plant) fills(t *testing.T, name string) string {
	t.Helper()
	full := p.run(t, name)
	require.Eventually(t, func() bool {
		p.signals(t, name, workflowv1.CommandCluster, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Nudge_{Nudge: &workflowv1.ClusterCommand_Nudge{}}})
		p.settles(t, name)
		return p.run(t, name) != full
	}, within, time.Millisecond, name)
	return full
}
