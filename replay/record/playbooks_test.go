package record

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/faulty"
)

// notTold is a signal that had nobody to go to.
const notTold = enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED

// stageOf is a stage on nodes by name.
func stageOf(name string, nodes ...string) *gnomonv1.PlaybookStage {
	return &gnomonv1.PlaybookStage{Name: name, Nodes: nodes, Action: &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true", "${node}"}}}}
}

// play begins a playbook. Change may be nil.
func (p *plant) play(t *testing.T, id, cluster string, change func(*gnomonv1.Playbook), stages ...*gnomonv1.PlaybookStage) {
	t.Helper()
	wanted := &gnomonv1.Playbook{Id: id, Cluster: cluster, RequestedBy: "ann", Stages: stages}
	if change != nil {
		change(wanted)
	}
	_, err := p.playbooks.CreatePlaybook(limited(t), &gnomonv1.CreatePlaybookRequest{Playbook: wanted, RequestId: "r-" + id})
	require.NoError(t, err, id)
}

// comes waits until a playbook's own view holds.
func (p *plant) comes(t *testing.T, id string, holds func(*gnomonv1.PlaybookStatus) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		seen, err := p.playbooks.GetPlaybook(limited(t), &gnomonv1.GetPlaybookRequest{Id: id, Fresh: true})
		return err == nil && holds(seen.GetStatus())
	}, within, 20*time.Millisecond, id)
}

// ends waits until a playbook has ended.
func (p *plant) ends(t *testing.T, id string, want gnomonv1.PlaybookStatus_State) {
	t.Helper()
	status := &gnomonv1.PlaybookStatus{}
	require.NoError(t, p.client.GetWorkflow(limited(t), workflowv1.PlaybookWorkflowID(id), "").Get(limited(t), status), id)
	require.Equal(t, want, status.GetState(), "%s: %s", id, status.GetReason())
}

// runs waits until a stage of a playbook knows an action on the node that is RUNNING.
func (p *plant) runs(t *testing.T, id string, stage int) {
	t.Helper()
	p.comes(t, id, func(s *gnomonv1.PlaybookStatus) bool {
		return slices.ContainsFunc(s.GetStages()[stage].GetActions(), func(a *gnomonv1.PlaybookStatus_StageAction) bool { return a.GetState() == running })
	})
}

// over records playbooks that have ended so.
func (p *plant) over(t *testing.T, want gnomonv1.PlaybookStatus_State, ids ...string) {
	t.Helper()
	for _, id := range ids {
		p.ends(t, id, want)
		made.save(t, p.installation, id)
	}
}

// crew starts the agents of nodes that do what they are called.
func (p *plant) crew(t *testing.T, cluster string) (slow *played) {
	t.Helper()
	for _, name := range []string{"n1", "n2"} {
		p.agent(t, cluster, name, func(a *played) { a.becomes, a.labels = done, map[string]string{"role": "db"} })
	}
	p.agent(t, cluster, "bad", func(a *played) { a.becomes = gnomonv1.NodeAction_FAILED })
	p.agent(t, cluster, "stuck", func(a *played) { a.becomes, a.deaf = running, true })
	return p.agent(t, cluster, "slow", func(a *played) { a.becomes = running })
}

// TestPlaybookStages records playbooks in their stages, and every end that these make.
func TestPlaybookStages(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const crew = "crew-of-stages"
	p.crew(t, crew)
	p.play(t, "playbook-first-stage", crew, nil, stageOf("one", "slow"), stageOf("two", "n1"))
	p.play(t, "playbook-second-stage", crew, nil, stageOf("one", "n1"), stageOf("two", "slow"))
	side := stageOf("one", "n1", "slow", "stuck")
	side.Parallel = 1
	p.play(t, "playbook-parallel", crew, nil, side)
	asked := stageOf("one", "n1")
	asked.Approve = true
	p.play(t, "playbook-stage-approval", crew, nil, asked)

	p.play(t, "playbook-done", crew, nil, stageOf("one", "n1", "n2"), stageOf("two", "n2"))
	byLabels := stageOf("one")
	byLabels.NodeLabels = map[string]string{"role": "db"}
	p.play(t, "playbook-done-by-labels", crew, nil, byLabels, stageOf("two", "n1"))
	p.play(t, "playbook-stopped", crew, nil, stageOf("one", "bad", "n1"), stageOf("two", "n1"))
	inTurn := stageOf("one", "bad", "n1", "n2")
	inTurn.Parallel = 1
	p.play(t, "playbook-stopped-in-parallel", crew, nil, inTurn)
	allowed := stageOf("one", "bad", "n1")
	allowed.AllowedFailures = 1
	p.play(t, "playbook-failures-allowed", crew, nil, allowed)
	goesOn := stageOf("one", "bad")
	goesOn.OnFailure = gnomonv1.PlaybookStage_CONTINUE
	p.play(t, "playbook-continued-on-failure", crew, nil, goesOn, stageOf("two", "n1"))
	nobody := stageOf("one")
	nobody.NodeLabels = map[string]string{"role": "none"}
	p.play(t, "playbook-without-nodes", crew, nil, nobody)
	p.play(t, "playbook-unknown-node", crew, nil, stageOf("one", "n9"))
	everybody := stageOf("one")
	everybody.AllNodes = true
	p.play(t, "playbook-without-cluster", "nowhere", nil, everybody)
	inTime := stageOf("one", "n1")
	inTime.Timeout = durationpb.New(far)
	p.play(t, "playbook-in-time", crew, nil, inTime)

	p.runs(t, "playbook-first-stage", 0)
	p.runs(t, "playbook-second-stage", 1)
	p.runs(t, "playbook-parallel", 0)
	p.happens(t, "playbook-stage-approval", signalled, 1)
	p.keeps(t, "playbook-first-stage", "playbook-second-stage", "playbook-parallel", "playbook-stage-approval")
	p.over(t, gnomonv1.PlaybookStatus_DONE, "playbook-done", "playbook-done-by-labels", "playbook-failures-allowed", "playbook-continued-on-failure", "playbook-in-time")
	p.over(t, gnomonv1.PlaybookStatus_FAILED, "playbook-stopped", "playbook-stopped-in-parallel", "playbook-without-nodes", "playbook-unknown-node",
		"playbook-without-cluster")

	made.ends(t, p.installation, "playbook-timed-out", func(t *testing.T, id string, soon time.Duration) error {
		t.Helper()
		late := stageOf("one", "slow")
		late.Timeout = durationpb.New(soon)
		p.play(t, id, crew, nil, late, stageOf("two", "n1"))
		return nil
	})
}

// TestPlaybookStoreDown records a playbook whose row the store does not take.
func TestPlaybookStoreDown(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const id, crew = "playbook-store-down", "crew-without-store"
	p.agent(t, crew, "n1", func(a *played) { a.becomes = done })
	p.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutPlaybook}})
	p.play(t, id, crew, nil, stageOf("one", "n1"))
	p.happens(t, id, signalled, 1)
	p.held(t, id)
	made.save(t, p.installation, id)
}

// command commands a playbook.
func (p *plant) command(t *testing.T, verb, id string) error {
	t.Helper()
	var err error
	switch verb {
	case "approve":
		_, err = p.playbooks.ApprovePlaybook(limited(t), &gnomonv1.ApprovePlaybookRequest{Id: id, DecidedBy: "bob"})
	case "reject":
		_, err = p.playbooks.RejectPlaybook(limited(t), &gnomonv1.RejectPlaybookRequest{Id: id, DecidedBy: "bob", Reason: "no"})
	case "cancel":
		_, err = p.playbooks.CancelPlaybook(limited(t), &gnomonv1.CancelPlaybookRequest{Id: id, Reason: "enough"})
	default:
		_, err = p.playbooks.NudgePlaybook(limited(t), &gnomonv1.NudgePlaybookRequest{Id: id})
	}
	return err
}

func pending(p *gnomonv1.Playbook) { p.Approve = true }

// TestPlaybookCommands records what people decide about playbooks.
func TestPlaybookCommands(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const crew = "crew-of-commands"
	p.crew(t, crew)
	for id, verb := range map[string]string{
		"playbook-pending-approve": "", "playbook-approved": "approve", "playbook-rejected": "reject", "playbook-withdrawn": "cancel",
		"playbook-approved-by-signal": "", "playbook-malformed-signals": "",
	} {
		p.play(t, id, crew, pending, stageOf("one", "n1"))
		p.rests(t, id)
		if verb != "" {
			require.NoError(t, p.command(t, verb, id))
		}
	}
	const malformed = "playbook-malformed-signals"
	p.signals(t, malformed, workflowv1.SignalProgress, "no progress")
	p.signals(t, malformed, workflowv1.SignalProgress, &workflowv1.PlaybookProgress{Actions: []*workflowv1.PlaybookProgress_Action{{Id: "other"}}})
	p.signals(t, malformed, workflowv1.CommandPlaybook, []byte{0xff, 0})
	p.signals(t, malformed, workflowv1.CommandPlaybook, &workflowv1.PlaybookCommand{})
	p.signals(t, malformed, "explode", nil)
	for _, id := range []string{malformed, "playbook-approved-by-signal"} {
		p.signals(t, id, workflowv1.CommandPlaybook, &workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Approve{Approve: &workflowv1.PlaybookDecision{By: "bob"}}})
	}
	p.keeps(t, "playbook-pending-approve")
	p.over(t, gnomonv1.PlaybookStatus_DONE, "playbook-approved", malformed, "playbook-approved-by-signal")
	p.over(t, gnomonv1.PlaybookStatus_CANCELLED, "playbook-rejected", "playbook-withdrawn")

	begun := func(id, node string) {
		p.play(t, id, crew, nil, stageOf("one", node), stageOf("two", "n1"))
		p.runs(t, id, 0)
		p.rests(t, id)
	}
	begun("playbook-cancelled", "slow")
	require.NoError(t, p.command(t, "cancel", "playbook-cancelled"))
	begun("playbook-cancelled-by-temporal", "slow")
	require.NoError(t, p.client.CancelWorkflow(limited(t), p.workflow("playbook-cancelled-by-temporal"), ""))
	begun("playbook-cancelling", "stuck")
	require.NoError(t, p.command(t, "cancel", "playbook-cancelling"))
	begun("playbook-nudged", "slow")
	require.NoError(t, p.command(t, "nudge", "playbook-nudged"))
	begun("playbook-refusals", "slow")
	require.Error(t, p.command(t, "approve", "playbook-refusals"))
	require.Error(t, p.command(t, "reject", "playbook-refusals"))
	p.keeps(t, "playbook-cancelling", "playbook-nudged", "playbook-refusals")
	p.over(t, gnomonv1.PlaybookStatus_CANCELLED, "playbook-cancelled", "playbook-cancelled-by-temporal")
}

// TestPlaybookContinued records playbooks whose histories grew long, and their next runs.
func TestPlaybookContinued(t *testing.T) {
	t.Parallel()
	p := openPlant(t, still())
	const crew, id, waits = "crew-of-long", "playbook-continued", "playbook-continued-pending"
	slow := p.crew(t, crew)
	p.play(t, id, crew, nil, stageOf("one", "n1"), stageOf("two", "n2", "slow"), stageOf("three", "n1"))
	p.runs(t, id, 1)
	p.play(t, waits, crew, pending, stageOf("one", "n1"))
	first := map[string]string{}
	for _, one := range []string{id, waits} {
		first[one] = p.run(t, one)
		require.Eventually(t, func() bool {
			p.signals(t, one, workflowv1.SignalProgress, &workflowv1.PlaybookProgress{Actions: []*workflowv1.PlaybookProgress_Action{{Id: "other"}}})
			p.settles(t, one)
			return p.run(t, one) != first[one]
		}, within, time.Millisecond, one)
	}
	slow.has(t, id+".1.slow", done)
	require.NoError(t, p.command(t, "approve", waits))
	for _, one := range []string{id, waits} {
		p.ends(t, one, gnomonv1.PlaybookStatus_DONE)
		made.saveRun(t, p.installation, one, first[one], one)
		made.saveRun(t, p.installation, one, p.run(t, one), one+"-next")
	}
}
