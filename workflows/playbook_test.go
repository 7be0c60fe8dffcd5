package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// book is a playbook whose cluster is played by the test.
type book struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
	// scheduled and cancelled are ids in order; rows what the store was given.
	scheduled, cancelled []string
	nudges               int
	sizes                []int // of commands, bytes
	rows                 []*gnomonv1.Playbook
	// onSchedule is what becomes of an action as soon as it is scheduled.
	onSchedule func(*gnomonv1.NodeAction) gnomonv1.NodeAction_State
	// full is how often the cluster has no room for what is scheduled.
	full int
	// nodes are the cluster's.
	nodes []string
}

func newBook(t *testing.T) *book {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	b := &book{t: t, env: suite.NewTestWorkflowEnvironment(), nodes: []string{"n1", "n2"}}
	b.env.SetTestTimeout(20 * time.Second)
	workflows.New(workflows.Options{}).Register(b.env)
	register := func(f any, name string) {
		b.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	register(func(_ context.Context, in *workflowv1.ClusterCommandInput) error {
		require.Equal(t, "c", in.GetCluster())
		c := in.GetCommand()
		b.sizes = append(b.sizes, proto.Size(c))
		if c.GetSchedule() != nil && b.full > 0 {
			b.full--
			return errors.New("the cluster is full")
		}
		for _, a := range c.GetSchedule().GetActions() {
			b.scheduled = append(b.scheduled, a.GetId())
			if b.onSchedule != nil {
				b.tell(a.GetId(), b.onSchedule(a))
			}
		}
		if id := c.GetCancel().GetAction(); id != "" {
			b.cancelled = append(b.cancelled, id)
			b.tell(id, cancelled)
		}
		if c.GetNudge() != nil {
			b.nudges++
		}
		return nil
	}, workflowv1.ClusterCommandActivity)
	register(func(context.Context, string) (*gnomonv1.Cluster, error) {
		c := &gnomonv1.Cluster{}
		for _, name := range b.nodes {
			c.Nodes = append(c.Nodes, &gnomonv1.Node{Name: name})
		}
		return c, nil
	}, workflowv1.ClusterNodesActivity)
	register(func(_ context.Context, in *workflowv1.MirrorPlaybookInput) error {
		b.rows = append(b.rows, in.GetPlaybook())
		return nil
	}, workflowv1.MirrorPlaybookActivity)
	return b
}

func (b *book) tell(id string, state gnomonv1.NodeAction_State) {
	b.env.SignalWorkflow(workflowv1.SignalProgress, &workflowv1.PlaybookProgress{
		Actions: []*workflowv1.PlaybookProgress_Action{{Id: id, State: state}},
	})
}

func (b *book) run(p *gnomonv1.Playbook) *gnomonv1.PlaybookStatus {
	p.Id, p.Cluster = "p", "c"
	for _, s := range p.GetStages() {
		s.Action = &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}}
	}
	b.env.ExecuteWorkflow(workflowv1.PlaybookWorkflow, &workflowv1.PlaybookState{Playbook: p})
	require.True(b.t, b.env.IsWorkflowCompleted())
	require.NoError(b.t, b.env.GetWorkflowError())
	status := &gnomonv1.PlaybookStatus{}
	require.NoError(b.t, b.env.GetWorkflowResult(status))
	require.Equal(b.t, status.GetState(), b.rows[len(b.rows)-1].GetStatus().GetState(), "the store has the end")
	return status
}

func succeeds(*gnomonv1.NodeAction) gnomonv1.NodeAction_State { return done }

// stage by stage, over all nodes or those named.
func TestPlaybookStages(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.onSchedule = succeeds
	status := b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", AllNodes: true}, {Name: "two", Nodes: []string{"n9"}}}})
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, status.GetState())
	require.Equal(t, []string{"p.0.n1", "p.0.n2", "p.1.n9"}, b.scheduled)
}

// Issue 6: a stage on many nodes is given to the cluster in commands that it can take.
func TestPlaybookOnManyNodes(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.onSchedule = succeeds
	b.nodes = nil
	for i := range 400 {
		b.nodes = append(b.nodes, fmt.Sprintf("n%03d.%s", i, strings.Repeat("a", 100)))
	}
	status := b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", AllNodes: true}}})
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, status.GetState())
	require.Len(t, b.scheduled, len(b.nodes))
	require.Greater(t, len(b.sizes), 1)
	require.Less(t, slices.Max(b.sizes), 80<<10)
}

// it waits for signals, however long, and ends by its rules.
func TestPlaybookFails(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.env.RegisterDelayedCallback(func() {
		require.Equal(t, []string{"p.0.n1"}, b.scheduled)
		b.tell("p.0.n1", gnomonv1.NodeAction_LOST)
	}, 30*24*time.Hour)
	status := b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", Nodes: []string{"n1"}}, {Name: "two", AllNodes: true}}})
	require.Equal(t, gnomonv1.PlaybookStatus_FAILED, status.GetState())
	require.Equal(t, []string{"p.0.n1"}, b.scheduled)
}

// approve, nudge and cancel by signals.
func TestPlaybookCommands(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	send := func(c *workflowv1.PlaybookCommand) { b.env.SignalWorkflow(workflowv1.CommandPlaybook, c) }
	who := &workflowv1.PlaybookDecision{By: "ada", Reason: "enough"}
	b.env.RegisterDelayedCallback(func() {
		require.Empty(t, b.scheduled)
		send(&workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Approve{Approve: who}})
	}, time.Minute)
	b.env.RegisterDelayedCallback(func() {
		send(&workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Nudge{Nudge: who}})
	}, 2*time.Minute)
	b.env.RegisterDelayedCallback(func() {
		require.Equal(t, 1, b.nudges)
		require.Equal(t, []string{"p.0.n1"}, b.scheduled)
		send(&workflowv1.PlaybookCommand{Command: &workflowv1.PlaybookCommand_Cancel{Cancel: who}})
	}, 3*time.Minute)
	status := b.run(&gnomonv1.Playbook{Approve: true, Stages: []*gnomonv1.PlaybookStage{{Name: "one", Nodes: []string{"n1"}}}})
	require.Equal(t, []string{"p.0.n1"}, b.cancelled)
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, status.GetState())
	require.Equal(t, "enough", status.GetReason())
	require.Equal(t, "ada", status.GetDecidedBy())
}

// A stage's timeout is a timer; Temporal's own cancellation cancels.
func TestPlaybookTimeout(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	status := b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", Nodes: []string{"n1"}, Timeout: durationpb.New(time.Hour)}}})
	require.Equal(t, gnomonv1.PlaybookStatus_FAILED, status.GetState())
	require.Equal(t, []string{"p.0.n1"}, b.cancelled)

	b = newBook(t)
	b.env.RegisterDelayedCallback(b.env.CancelWorkflow, time.Minute)
	status = b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", Nodes: []string{"n1"}}}})
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, status.GetState())
}
