package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/workflows"
)

// site is a cluster whose agents are played by the test.
type site struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
	// agents by task queue.
	agents map[string]*playedAgent
	// rows are what the store was given, the newest last.
	rows []*gnomonv1.NodeAction
	told []*workflowv1.PlaybookProgress
	// down is why the store takes nothing.
	down error
	// onMirror is called while rows are being stored.
	onMirror func()
}

type playedAgent struct {
	up, silent bool
	change     uint64
	records    []*gnomonv1.NodeAction
	changes    map[string]uint64
	syncs      int
	pushed     []string
	// onSync is called at each.
	onSync func()
	// onPush is what an action does as soon as it is there.
	onPush gnomonv1.NodeAction_State
}

func newSite(t *testing.T, nodes ...string) *site {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	s := &site{t: t, env: suite.NewTestWorkflowEnvironment(), agents: map[string]*playedAgent{}}
	s.env.SetStartTime(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	s.env.SetTestTimeout(20 * time.Second)
	workflows.New(workflows.Options{Clusters: &workflowv1.ClusterSettings{
		Interval: durationpb.New(10 * time.Second), SlowInterval: durationpb.New(10 * time.Minute), NodeTimeout: durationpb.New(5 * time.Second),
	}}).Register(s.env)
	for _, n := range nodes {
		s.agents[workflowv1.NodeTaskQueue("c", n)] = &playedAgent{up: true, changes: map[string]uint64{}, onPush: gnomonv1.NodeAction_DONE}
	}
	register := func(f any, name string) {
		s.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	register(s.sync, workflowv1.AgentSyncActivity)
	register(s.push, workflowv1.AgentPushActivity)
	register(s.cancel, workflowv1.AgentCancelActivity)
	register(func(_ context.Context, in *workflowv1.MirrorNodesInput) error {
		if s.down != nil {
			return s.down
		}
		if s.onMirror != nil {
			s.onMirror()
		}
		for _, r := range in.GetRows() {
			s.rows = append(s.rows, r.GetAction())
		}
		return nil
	}, workflowv1.MirrorNodesActivity)
	return s
}

func (s *site) agent(node string) *playedAgent { return s.agents[workflowv1.NodeTaskQueue("c", node)] }

func (s *site) here(ctx context.Context) *playedAgent {
	return s.agents[activity.GetInfo(ctx).TaskQueue]
}

func (a *playedAgent) set(action *gnomonv1.NodeAction, state gnomonv1.NodeAction_State) {
	a.change++
	r := proto.CloneOf(action)
	r.State, r.Class = state, playbook.Class(state)
	a.changes[r.GetId()] = a.change
	for i := range a.records {
		if a.records[i].GetId() == r.GetId() {
			a.records[i] = r
			return
		}
	}
	a.records = append(a.records, r)
}

func (s *site) sync(ctx context.Context, in *workflowv1.AgentSyncInput) (*workflowv1.AgentSyncResult, error) {
	a := s.here(ctx)
	a.syncs++
	if a.onSync != nil {
		a.onSync()
	}
	if a.silent {
		return nil, errors.New("the agent is gone")
	}
	r := &workflowv1.AgentSyncResult{Incarnation: "one", Cursor: a.change, Up: a.up}
	for _, record := range a.records {
		if a.changes[record.GetId()] > in.GetCursor() {
			r.Records = append(r.Records, record)
		}
	}
	for _, id := range in.GetAsk() {
		if _, has := a.changes[id]; !has {
			r.Absent = append(r.Absent, id)
		}
	}
	return r, nil
}

func (s *site) push(ctx context.Context, in *workflowv1.AgentPushInput) (*workflowv1.AgentPushResult, error) {
	a := s.here(ctx)
	for _, action := range in.GetActions() {
		a.pushed = append(a.pushed, action.GetId())
		a.set(action, a.onPush)
	}
	return &workflowv1.AgentPushResult{}, nil
}

func (s *site) cancel(ctx context.Context, in *workflowv1.AgentCancelInput) error {
	a := s.here(ctx)
	for _, c := range in.GetCancels() {
		for _, r := range a.records {
			if r.GetId() == c.GetId() && !playbook.Finished(r.GetState()) {
				a.set(r, gnomonv1.NodeAction_CANCELLED)
			}
		}
	}
	return nil
}

// at does something when so much time has passed.
func (s *site) at(after time.Duration, do func()) { s.env.RegisterDelayedCallback(do, after) }

func (s *site) command(c *workflowv1.ClusterCommand) {
	s.env.SignalWorkflow(workflowv1.CommandCluster, c)
}

func (s *site) schedule(id, node string, change ...func(*gnomonv1.NodeAction)) {
	a := &gnomonv1.NodeAction{
		Id: id, Node: node, Origin: gnomonv1.NodeAction_USER, CreateTime: timestamppb.New(s.env.Now()),
		Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/" + id}}},
	}
	for _, f := range change {
		f(a)
	}
	s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Schedule_{
		Schedule: &workflowv1.ClusterCommand_Schedule{Actions: []*gnomonv1.NodeAction{a}},
	}})
}

func (s *site) decision(id string) *workflowv1.ClusterCommand_Decision {
	return &workflowv1.ClusterCommand_Decision{Action: id, By: "ada"}
}

// run runs the cluster for a while.
func (s *site) run(length time.Duration) {
	s.at(0, func() {
		for queue := range s.agents {
			s.env.SignalWorkflow(workflowv1.SignalNews, &workflowv1.News{Node: &gnomonv1.Node{Name: queue[len("node/c/"):]}})
		}
	})
	s.at(length, s.env.CancelWorkflow)
	s.env.ExecuteWorkflow(workflowv1.ClusterWorkflow, playbook.New("c"))
	require.True(s.t, s.env.IsWorkflowCompleted())
}

// states are the states that the store saw of an action, in order.
func (s *site) states(id string) []gnomonv1.NodeAction_State {
	var seen []gnomonv1.NodeAction_State
	for _, r := range s.rows {
		if r.GetId() == id && (len(seen) == 0 || seen[len(seen)-1] != r.GetState()) {
			seen = append(seen, r.GetState())
		}
	}
	return seen
}

func (s *site) view() *gnomonv1.Cluster {
	value, err := s.env.QueryWorkflow(workflowv1.QueryCluster)
	require.NoError(s.t, err)
	c := &gnomonv1.Cluster{}
	require.NoError(s.t, value.Get(c))
	return c
}

const (
	pendingApprove  = gnomonv1.NodeAction_PENDING_APPROVE
	pendingSchedule = gnomonv1.NodeAction_PENDING_SCHEDULE
	done            = gnomonv1.NodeAction_DONE
	cancelled       = gnomonv1.NodeAction_CANCELLED
)

// one cycle pushes and leaves it pending, a later one confirms it.
func TestClusterPushThenConfirm(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.at(time.Second, func() { s.schedule("a", "n1") })
	s.at(2*time.Second, func() {
		require.Equal(t, []string{"a"}, s.agent("n1").pushed)
		require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule}, s.states("a"))
		require.EqualValues(t, 1, s.view().GetLastCycle().GetPushed())
	})
	s.run(time.Minute)
	require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule, done}, s.states("a"))
	require.Equal(t, []string{"a"}, s.agent("n1").pushed, "once")
}

// a node that does not answer holds up no other, and is tried again.
func TestClusterOneBadNode(t *testing.T) {
	t.Parallel()
	s := newSite(t, "bad", "good")
	s.agent("bad").silent = true
	s.at(time.Second, func() {
		s.schedule("a", "bad")
		s.schedule("b", "good")
	})
	s.at(15*time.Second, func() {
		require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule, done}, s.states("b"))
		require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule}, s.states("a"))
		require.Equal(t, gnomonv1.Node_UNREACHABLE, s.view().GetNodes()[0].GetHealth())
		s.agent("bad").silent = false
	})
	s.run(3 * time.Minute)
	require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule, done}, s.states("a"))
}

// a node that did not answer is asked again, later each time, whether or not it has
// anything to do; a node that stays silent costs no more than the slow round in the end.
func TestClusterSilentIdleNode(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1", "never")
	s.agent("n1").silent, s.agent("never").silent = true, true
	s.at(5*time.Second, func() { s.agent("n1").silent = false })
	s.at(time.Minute, func() {
		for _, n := range s.view().GetNodes() {
			require.Equal(t, n.GetName() == "n1", n.GetHealth() == gnomonv1.Node_UP, n)
		}
	})
	s.run(2 * time.Hour)
	require.Equal(t, 13, s.agent("n1").syncs, "twice at first, then the slow rounds")
	require.InDelta(t, 24, s.agent("never").syncs, 8)
}

// nothing for a node that is not UP; when it is UP its actions go.
func TestClusterNodeDown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.agent("n1").up = false
	s.at(time.Second, func() { s.schedule("a", "n1") })
	s.at(time.Minute, func() {
		require.Empty(t, s.agent("n1").pushed)
		s.agent("n1").up = true
	})
	s.run(3 * time.Minute)
	require.Equal(t, []string{"a"}, s.agent("n1").pushed)
}

// approve, reject and cancel.
func TestClusterDecisions(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.agent("n1").onPush = gnomonv1.NodeAction_RUNNING
	approve := func(a *gnomonv1.NodeAction) { a.Approve = true }
	s.at(time.Second, func() {
		s.schedule("yes", "n1", approve)
		s.schedule("no", "n1", approve)
		s.schedule("never", "n1", approve)
	})
	s.at(time.Minute, func() {
		require.Empty(t, s.agent("n1").pushed)
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Approve{Approve: s.decision("yes")}})
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Reject{Reject: s.decision("no")}})
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: s.decision("never")}})
	})
	s.at(2*time.Minute, func() {
		require.Equal(t, []string{"yes"}, s.agent("n1").pushed)
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: s.decision("yes")}})
	})
	s.run(4 * time.Minute)
	require.Equal(t, []gnomonv1.NodeAction_State{pendingApprove, pendingSchedule, gnomonv1.NodeAction_RUNNING, cancelled}, s.states("yes"))
	require.Equal(t, []gnomonv1.NodeAction_State{pendingApprove, cancelled}, s.states("no"))
	require.Equal(t, []gnomonv1.NodeAction_State{pendingApprove, cancelled}, s.states("never"))
}

// purged by the agent before the core saw its end: LOST, and never pushed again.
func TestClusterLost(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.agent("n1").onPush = gnomonv1.NodeAction_RUNNING
	s.at(time.Second, func() { s.schedule("a", "n1") })
	s.at(30*time.Second, func() { s.agent("n1").records, s.agent("n1").changes = nil, map[string]uint64{} })
	s.run(5 * time.Minute)
	require.Equal(t, []gnomonv1.NodeAction_State{pendingSchedule, gnomonv1.NodeAction_RUNNING, gnomonv1.NodeAction_LOST}, s.states("a"))
	require.Equal(t, []string{"a"}, s.agent("n1").pushed)
}

// A quiet cluster looks at its nodes by its slow round only, and a nudge when nothing is
// stuck changes nothing.
func TestClusterQuiet(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.at(time.Hour-time.Second, func() {
		require.Equal(t, 6, s.agent("n1").syncs, "the first and one every ten minutes")
		require.EqualValues(t, 6, s.view().GetLastCycle().GetNumber(), "no cycle in between")
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Nudge_{Nudge: &workflowv1.ClusterCommand_Nudge{}}})
	})
	s.run(time.Hour + time.Second)
	require.Equal(t, 7, s.agent("n1").syncs)
	require.Empty(t, s.rows)
}

// what a playbook may not have heard is told again until it has ended.
func TestClusterTellsAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.env.OnSignalExternalWorkflow("default-test-namespace", workflowv1.PlaybookWorkflowID("p"), "", workflowv1.SignalProgress, mock.Anything).Return(
		func(_, _, _, _ string, arg any) error {
			p, ok := arg.(*workflowv1.PlaybookProgress)
			require.True(t, ok)
			s.told = append(s.told, p)
			if len(s.told) == 5 {
				return errors.New("there is no such workflow")
			}
			return nil
		})
	s.at(time.Second, func() {
		s.schedule("a", "n1", func(a *gnomonv1.NodeAction) { a.Origin, a.Playbook, a.Stage = gnomonv1.NodeAction_PLAYBOOK, "p", "s" })
	})
	s.run(30 * time.Minute)
	require.Len(t, s.told, 5)
	require.Equal(t, done, s.told[4].GetActions()[0].GetState())
	require.Equal(t, done, s.told[3].GetActions()[0].GetState())
}

// A run goes on as a new one also where news never end and the store is down: what is
// unfinished, what is owed to the store and the request it was asked for by are carried.
func TestClusterContinuesAmidNews(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.down = errors.New("the store is down")
	s.agent("n1").onPush = gnomonv1.NodeAction_RUNNING
	s.at(time.Second, func() {
		s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Schedule_{Schedule: &workflowv1.ClusterCommand_Schedule{
			RequestId: "r", Digest: "d", Actions: []*gnomonv1.NodeAction{{Id: "a", Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{}}}},
		}}})
	})
	for i := range 60 {
		s.at(time.Duration(i)*time.Second, func() {
			s.env.SignalWorkflow(workflowv1.SignalNews, &workflowv1.News{Node: &gnomonv1.Node{Name: "n1"}})
		})
	}
	s.at(30*time.Second, func() { s.env.SetContinueAsNewSuggested(true) })
	s.run(time.Minute)
	next := continuedAs(t, s.env.GetWorkflowError())
	require.Len(t, next.GetUnfinished(), 1)
	require.Equal(t, gnomonv1.NodeAction_RUNNING, next.GetUnfinished()[0].GetAction().GetState())
	require.Len(t, next.GetOwed(), 1)
	require.Equal(t, "r", next.GetOwed()[0].GetRequestId())
	require.Equal(t, "d", next.GetOwed()[0].GetDigest())
	require.GreaterOrEqual(t, next.GetLastCycle().GetNumber(), uint64(29))
}

// continuedAs is what a run handed to the next.
func continuedAs(t *testing.T, err error) *workflowv1.ClusterState {
	t.Helper()
	state := &workflowv1.ClusterState{}
	continuedTo(t, err, state)
	return state
}

// continuedTo reads what a run handed to the next, and says how large it was.
func continuedTo(t *testing.T, err error, state proto.Message) int {
	t.Helper()
	next, ok := errors.AsType[*workflow.ContinueAsNewError](err)
	require.True(t, ok, "%v", err)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, state))
	return proto.Size(next.Input)
}

// a state that comes while an older one of the same action is being stored is stored
// after it.
func TestClusterChangedWhileStoring(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.onMirror = func() {
		if len(s.rows) == 0 {
			s.command(&workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: s.decision("a")}})
		}
	}
	s.at(time.Second, func() { s.schedule("a", "n1", func(a *gnomonv1.NodeAction) { a.Approve = true }) })
	s.run(time.Minute)
	require.Equal(t, []gnomonv1.NodeAction_State{pendingApprove, cancelled}, s.states("a"))
}

// P-02, R-23: a run does not go on as a new one while playbooks are being told: what
// became of that would be lost on it.
func TestClusterLeavesWhenPlaybooksAreTold(t *testing.T) {
	t.Parallel()
	s := newSite(t, "n1")
	s.env.OnSignalExternalWorkflow("default-test-namespace", workflowv1.PlaybookWorkflowID("p"), "", workflowv1.SignalProgress, mock.Anything).
		Return(errors.New("there is no such workflow"))
	s.at(time.Second, func() {
		s.env.SetContinueAsNewSuggested(true)
		s.schedule("a", "missing", func(a *gnomonv1.NodeAction) { a.Origin, a.Playbook, a.Stage = gnomonv1.NodeAction_PLAYBOOK, "p", "s" })
	})
	s.run(time.Minute)
	next := continuedAs(t, s.env.GetWorkflowError())
	require.Empty(t, next.GetSettled(), "the next run would tell a playbook that has ended")
	require.Equal(t, cancelled, next.GetOwed()[0].GetAction().GetState(), "the action was there")
}

// A week of cycles around an action that runs for so long leaves the state as small as it
// was, and every cycle asks its agent once.
func TestClusterWeek(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("60,000 cycles take seconds")
	}
	s := newSite(t, "n1", "n2")
	s.env.SetTestTimeout(2 * time.Minute)
	s.agent("n1").onPush = gnomonv1.NodeAction_RUNNING
	s.at(time.Second, func() { s.schedule("a", "n1") })
	const week = 7 * 24 * time.Hour
	var early int
	s.at(time.Hour, func() { early = len(s.rows) })
	s.at(week-time.Second, func() { s.env.SetContinueAsNewSuggested(true) })
	s.run(week)
	next := continuedAs(t, s.env.GetWorkflowError())
	require.Less(t, proto.Size(next), 1000)
	cycles := int(next.GetLastCycle().GetNumber())
	require.InDelta(t, week.Seconds()/10, cycles, 100)
	require.InDelta(t, cycles, s.agent("n1").syncs, 10)
	require.InDelta(t, week.Minutes()/10, s.agent("n2").syncs, 10, "n2 has nothing: the slow rounds alone")
	require.Len(t, s.rows, early, "nothing changed, nothing is stored")
	require.Len(t, next.GetUnfinished(), 1)
}
