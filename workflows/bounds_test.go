package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// mostOfAPayload is what Temporal takes as one.
const mostOfAPayload = 2 << 20

// measuring knows the largest payloads that passed.
type measuring struct {
	converter.DataConverter

	most int
}

// ToPayloads implements converter.DataConverter.
func (m *measuring) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	p, err := m.DataConverter.ToPayloads(values...)
	m.most = max(m.most, proto.Size(p))
	return p, err
}

// unhurried lets a busy machine take its time.
func unhurried(env *testsuite.TestWorkflowEnvironment) {
	env.SetTestTimeout(2 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
}

// nodeNames are so many, as long as they may be.
func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range n {
		names[i] = fmt.Sprintf("n%0*d", playbook.MaxNodeName-1, i)
	}
	return names
}

// A stage on as many nodes as there may be, all with the longest names: what is handed to
// activities, told and carried on fits into Temporal's payloads, and all of it is done.
func TestPlaybookAtTheBound(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	m := &measuring{DataConverter: converter.GetDefaultDataConverter()}
	b.env.SetDataConverter(m)
	unhurried(b.env)
	b.nodes = nodeNames(playbook.MaxNodes)
	p := &gnomonv1.Playbook{Id: strings.Repeat("p", playbook.MaxPlaybookID), Cluster: "c", Stages: []*gnomonv1.PlaybookStage{{
		Name: "one", AllNodes: true, Action: &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true", strings.Repeat("x", 200)}}},
	}}}
	state := playbook.Start(p, time.Now())
	b.env.RegisterDelayedCallback(func() {
		require.Len(t, b.scheduled, playbook.MaxNodes)
		var ended []*gnomonv1.NodeAction
		for _, id := range b.scheduled[1:] {
			ended = append(ended, &gnomonv1.NodeAction{Id: id, Playbook: "p", State: done})
		}
		for _, one := range playbook.Tell(ended) {
			b.env.SignalWorkflow(workflowv1.SignalProgress, one.Progress)
		}
	}, time.Minute)
	b.env.RegisterDelayedCallback(func() {
		b.env.SetContinueAsNewSuggested(true)
		b.tell(b.scheduled[0], gnomonv1.NodeAction_RUNNING)
	}, 2*time.Minute)
	b.env.ExecuteWorkflow(workflowv1.PlaybookWorkflow, state)
	next := &workflowv1.PlaybookState{}
	continuedTo(t, b.env.GetWorkflowError(), next)
	require.Less(t, m.most, mostOfAPayload)
	require.Greater(t, m.most, 100<<10, "it was not measured")

	last := newBook(t)
	unhurried(last.env)
	last.env.RegisterDelayedCallback(func() { last.tell(b.scheduled[0], done) }, time.Minute)
	last.env.ExecuteWorkflow(workflowv1.PlaybookWorkflow, next)
	require.NoError(t, last.env.GetWorkflowError())
	status := &gnomonv1.PlaybookStatus{}
	require.NoError(t, last.env.GetWorkflowResult(status))
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, status.GetState())
	require.Empty(t, last.scheduled, "none is made twice")
}

// A cluster that holds as much as it can continues as new with all of it, however little of
// that is printable: as JSON it would take six times as much.
func TestClusterAtTheBound(t *testing.T) {
	t.Parallel()
	for name, argument := range map[string]string{"many actions": "\x01", "large arguments": strings.Repeat("\x01", 300)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holdsAllItCan(t, argument)
		})
	}
}

func holdsAllItCan(t *testing.T, argument string) {
	t.Helper()
	s := newSite(t)
	unhurried(s.env)
	s.env.SetContinueAsNewSuggested(true)
	state := playbook.New("c")
	for _, name := range nodeNames(playbook.MaxNodes) {
		_, err := playbook.Register(state, &gnomonv1.Node{Name: name})
		if err != nil {
			require.ErrorIs(t, err, playbook.ErrFull)
			require.Greater(t, len(state.GetNodes()), 1000)
			break
		}
	}
	first := state.GetNodes()[0].GetNode().GetName()
	for i := 0; ; {
		some := &workflowv1.ClusterCommand_Schedule{}
		for range 100 {
			some.Actions = append(some.Actions, &gnomonv1.NodeAction{
				Id: fmt.Sprint(i), Node: first, Approve: true, CreateTime: timestamppb.New(s.env.Now()),
				Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{argument}}},
			})
			i++
		}
		_, _, err := playbook.Apply(state, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Schedule_{Schedule: some}}, s.env.Now())
		if err != nil {
			require.ErrorIs(t, err, playbook.ErrFull)
			break
		}
	}
	for _, n := range state.GetNodes() {
		// What is known of a node, as its agent tells it.
		n.Incarnation, n.Cursor, n.Failures, n.NotBefore = strings.Repeat("i", 36), 1<<40, 99, timestamppb.New(s.env.Now())
		n.Node.LastSeen, n.Node.Reason, n.Node.Health = timestamppb.New(s.env.Now()), "its agent did not answer in time", gnomonv1.Node_UNREACHABLE
		n.News = false
	}
	held := len(state.GetUnfinished())
	require.Greater(t, held*(100+len(argument)), playbook.MaxUnfinishedBytes*3/4, "it is full")
	s.env.ExecuteWorkflow(workflowv1.ClusterWorkflow, state)
	next := &workflowv1.ClusterState{}
	require.Less(t, continuedTo(t, s.env.GetWorkflowError(), next), mostOfAPayload)
	require.Len(t, next.GetUnfinished(), held)
	view, err := converter.GetDefaultDataConverter().ToPayloads(playbook.Cluster(next))
	require.NoError(t, err)
	require.Less(t, proto.Size(view), mostOfAPayload, "the answer of a query")
}

// A playbook that ends while the cluster has no room for its actions has them cancelled
// when they are there: a cancellation that came before them would be forgotten.
func TestPlaybookCancelledBeforeThereIsRoom(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.full = 5
	b.env.RegisterDelayedCallback(b.env.CancelWorkflow, 2*time.Second)
	b.env.RegisterDelayedCallback(func() {
		require.Empty(t, b.scheduled)
		require.Empty(t, b.cancelled)
	}, 4*time.Second)
	status := b.run(&gnomonv1.Playbook{Stages: []*gnomonv1.PlaybookStage{{Name: "one", Nodes: []string{"n1", "n2"}}}})
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, status.GetState())
	require.Equal(t, []string{"p.0.n1", "p.0.n2"}, b.scheduled)
	require.Equal(t, b.scheduled, b.cancelled)
}

// Runs of rules that a worker does not know wait for another worker.
func TestUnknownRules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env.ExecuteWorkflow(workflowv1.ClusterWorkflow, &workflowv1.ClusterState{Cluster: "c", Version: playbook.Version + 1})
	require.ErrorContains(t, s.env.GetWorkflowError(), "rules of version 2")
	b := newBook(t)
	b.env.ExecuteWorkflow(workflowv1.PlaybookWorkflow, &workflowv1.PlaybookState{Version: playbook.Version + 1})
	require.ErrorContains(t, b.env.GetWorkflowError(), "rules of version 2")
}

// A run that is to go on as a new one, with news that came in its last cycle and playbooks
// still being told, waits for that: it does not turn round for ever.
func TestClusterLeavesAmidNewsAndTelling(t *testing.T) {
	t.Parallel()
	for name, interval := range map[string]time.Duration{"news in the last cycle": 0, "a timer that fired": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "n1")
			s.agent("n1").onPush = gnomonv1.NodeAction_RUNNING
			s.env.OnSignalExternalWorkflow("default-test-namespace", workflowv1.PlaybookWorkflowID("p"), "", workflowv1.SignalProgress, mock.Anything).
				After(time.Minute).Return(nil)
			s.at(time.Second, func() {
				s.schedule("a", "n1", func(a *gnomonv1.NodeAction) { a.Origin, a.Playbook, a.Stage = gnomonv1.NodeAction_PLAYBOOK, "p", "s" })
			})
			s.agent("n1").onSync = func() {
				if s.agent("n1").syncs == 3 {
					s.env.SetContinueAsNewSuggested(true)
					if interval == 0 {
						s.env.SignalWorkflow(workflowv1.SignalNews, &workflowv1.News{Node: &gnomonv1.Node{Name: "n1"}})
					}
				}
			}
			s.run(10 * time.Minute)
			require.Len(t, continuedAs(t, s.env.GetWorkflowError()).GetUnfinished(), 1)
		})
	}
}
