package record

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/starter"
)

const (
	running = gnomonv1.NodeAction_RUNNING
	done    = gnomonv1.NodeAction_DONE
)

// plant is an installation of clusters, whose agents are played.
type plant struct {
	*installation

	clusters  *starter.Clusters
	playbooks *starter.Playbooks
}

// still are settings by which hardly a cycle begins by itself: only what got lost on a busy
// machine is tried again.
func still() *workflowv1.ClusterSettings {
	return &workflowv1.ClusterSettings{
		Interval: durationpb.New(20 * time.Second), SlowInterval: durationpb.New(far), NodeTimeout: durationpb.New(10 * time.Second),
		UnfinishedPerAgent: 100,
	}
}

// hasty are settings by which a silent agent is given up soon.
func hasty() *workflowv1.ClusterSettings {
	s := still()
	s.NodeTimeout = durationpb.New(5 * time.Second)
	return s
}

func openPlant(t *testing.T, settings *workflowv1.ClusterSettings) *plant {
	t.Helper()
	p := &plant{installation: installIdle(t)}
	p.batches.Clusters = settings
	config := starter.Config{Client: p.client, TaskQueue: p.queue, Store: p.store, ApplyTimeout: applyTimeout, Logger: p.log}
	var err error
	p.clusters, err = starter.NewClusters(config)
	require.NoError(t, err)
	p.playbooks, err = starter.NewPlaybooks(config)
	require.NoError(t, err)
	p.work(t)
	return p
}

// played is a node's agent: it does with its actions what the test says.
type played struct {
	plant         *plant
	cluster, name string
	labels        map[string]string
	worker        sdkworker.Worker

	mu      sync.Mutex
	down    bool
	broken  error
	refuse  bool
	deaf    bool // to cancellations
	change  uint64
	changes map[string]uint64
	records []*gnomonv1.NodeAction
	// becomes is what an action is as soon as it comes, and told; otherwise it stays NEW
	// and untold.
	becomes gnomonv1.NodeAction_State
}

// agent starts the agent of a node, which registers itself. Change may be nil.
func (p *plant) agent(t *testing.T, cluster, name string, change func(*played)) *played {
	t.Helper()
	a := &played{plant: p, cluster: cluster, name: name, changes: map[string]uint64{}}
	if change != nil {
		change(a)
	}
	a.worker = sdkworker.New(p.client, workflowv1.NodeTaskQueue(cluster, name), sdkworker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: 2,
	})
	for name, f := range map[string]any{
		workflowv1.AgentSyncActivity: a.sync, workflowv1.AgentPushActivity: a.push, workflowv1.AgentCancelActivity: a.cancel,
	} {
		a.worker.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	require.NoError(t, a.worker.Start())
	t.Cleanup(a.worker.Stop)
	a.tells(t)
	p.sees(t, cluster, name, map[bool]gnomonv1.Node_Health{false: gnomonv1.Node_UP, true: gnomonv1.Node_DOWN}[a.down])
	return a
}

// tells says that there is news.
func (a *played) tells(t require.TestingT) {
	_, err := a.plant.client.SignalWithStartWorkflow(context.Background(), workflowv1.ClusterWorkflowID(a.cluster), workflowv1.SignalNews,
		&workflowv1.News{Node: &gnomonv1.Node{Name: a.name, Labels: a.labels}},
		client.StartWorkflowOptions{TaskQueue: a.plant.queue}, workflowv1.ClusterWorkflow, playbook.New(a.cluster))
	require.NoError(t, err)
}

// note keeps a record, as a change.
func (a *played) note(r *gnomonv1.NodeAction) {
	a.change++
	a.changes[r.GetId()] = a.change
	a.records = slices.DeleteFunc(a.records, func(old *gnomonv1.NodeAction) bool { return old.GetId() == r.GetId() })
	a.records = append(a.records, r)
}

// has makes an action of the agent, its own or one that it was given, be in a state, and
// tells.
func (a *played) has(t *testing.T, id string, state gnomonv1.NodeAction_State) {
	t.Helper()
	a.mu.Lock()
	r := &gnomonv1.NodeAction{
		Id: id, Node: a.name, Origin: gnomonv1.NodeAction_AGENT, CreateTime: inFuture(0),
		Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/own"}}},
	}
	if i := slices.IndexFunc(a.records, func(r *gnomonv1.NodeAction) bool { return r.GetId() == id }); i >= 0 {
		r = proto.CloneOf(a.records[i])
	}
	r.State = state
	a.note(r)
	a.mu.Unlock()
	a.tells(t)
}

// forgets is a purge.
func (a *played) forgets(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	a.records, a.changes = nil, map[string]uint64{}
	a.mu.Unlock()
	a.tells(t)
}

func (a *played) sync(_ context.Context, in *workflowv1.AgentSyncInput) (*workflowv1.AgentSyncResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken != nil {
		return nil, a.broken
	}
	r := &workflowv1.AgentSyncResult{Incarnation: "one", Cursor: a.change, Up: !a.down}
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

func (a *played) push(_ context.Context, in *workflowv1.AgentPushInput) (*workflowv1.AgentPushResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &workflowv1.AgentPushResult{}
	for _, action := range in.GetActions() {
		if a.refuse {
			r.Refused = append(r.Refused, &workflowv1.AgentPushResult_Refused{Id: action.GetId(), State: gnomonv1.NodeAction_FAILED, Reason: "not permitted"})
			continue
		}
		action = proto.CloneOf(action)
		action.State = gnomonv1.NodeAction_NEW
		if a.becomes != gnomonv1.NodeAction_STATE_UNSPECIFIED {
			action.State = a.becomes
			go a.tells(quietly{})
		}
		a.note(action)
	}
	return r, nil
}

func (a *played) cancel(_ context.Context, in *workflowv1.AgentCancelInput) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range in.GetCancels() {
		i := slices.IndexFunc(a.records, func(r *gnomonv1.NodeAction) bool { return r.GetId() == c.GetId() })
		if i < 0 || a.deaf || playbook.Finished(a.records[i].GetState()) {
			continue
		}
		r := proto.CloneOf(a.records[i])
		r.State = gnomonv1.NodeAction_CANCELLED
		a.note(r)
		go a.tells(quietly{})
	}
	return nil
}

// quietly lets what comes after the end of a test fail.
type quietly struct{}

// Errorf implements require.TestingT.
func (quietly) Errorf(string, ...any) {}

// FailNow implements require.TestingT.
func (quietly) FailNow() {}

// sees waits until the cluster has seen a node so.
func (p *plant) sees(t *testing.T, cluster, node string, want gnomonv1.Node_Health) {
	t.Helper()
	require.Eventually(t, func() bool {
		c, err := p.clusters.GetCluster(limited(t), &gnomonv1.GetClusterRequest{Cluster: cluster})
		return err == nil && slices.ContainsFunc(c.GetNodes(), func(n *gnomonv1.Node) bool { return n.GetName() == node && n.GetHealth() == want })
	}, within, 20*time.Millisecond, "%s of %s is not %s", node, cluster, want)
}

// schedule schedules an action on n1 of a cluster.
func (p *plant) schedule(t *testing.T, cluster, id string, approve bool) {
	t.Helper()
	_, err := p.clusters.ScheduleNodeAction(limited(t), &gnomonv1.ScheduleNodeActionRequest{Cluster: cluster, RequestId: "r-" + id, Action: &gnomonv1.NodeAction{
		Id: id, Node: "n1", Approve: approve, RequestedBy: "ann", Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}},
	}})
	require.NoError(t, err, cluster)
}

// is waits until an action is in a state, as the cluster or, when it has finished, the
// store knows it.
func (p *plant) is(t *testing.T, cluster, id string, want gnomonv1.NodeAction_State) {
	t.Helper()
	require.Eventually(t, func() bool {
		a, err := p.clusters.GetNodeAction(limited(t), &gnomonv1.GetNodeActionRequest{Cluster: cluster, Id: id, Fresh: true})
		return err == nil && a.GetState() == want
	}, within, 20*time.Millisecond, "%s of %s is not %s", id, cluster, want)
}

// rests waits until a run has nothing under way.
func (p *plant) rests(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		p.wakes(t, name)
		require.Eventually(t, func() bool {
			seen := p.describe(t, name)
			return len(seen.GetPendingActivities()) == 0 && seen.GetPendingWorkflowTask() == nil
		}, within, 20*time.Millisecond, name)
	}
}

// keeps records runs that rest.
func (p *plant) keeps(t *testing.T, names ...string) {
	t.Helper()
	p.rests(t, names...)
	made.save(t, p.installation, names...)
}

// held waits until the server holds back an activity that failed.
func (p *plant) held(t *testing.T, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(p.describe(t, name).GetPendingActivities(), func(a *workflowpb.PendingActivityInfo) bool { return a.GetAttempt() > 1 })
	}, within, 20*time.Millisecond, name)
	p.settles(t, name)
}

// decide applies a command about an action or a node.
func (p *plant) decide(t *testing.T, verb, cluster, id string) error {
	t.Helper()
	var err error
	switch verb {
	case "approve":
		_, err = p.clusters.ApproveNodeAction(limited(t), &gnomonv1.ApproveNodeActionRequest{Cluster: cluster, Id: id, DecidedBy: "bob"})
	case "reject":
		_, err = p.clusters.RejectNodeAction(limited(t), &gnomonv1.RejectNodeActionRequest{Cluster: cluster, Id: id, DecidedBy: "bob", Reason: "no"})
	case "cancel":
		_, err = p.clusters.CancelNodeAction(limited(t), &gnomonv1.CancelNodeActionRequest{Cluster: cluster, Id: id, Reason: "enough"})
	case "remove":
		_, err = p.clusters.RemoveNode(limited(t), &gnomonv1.RemoveNodeRequest{Cluster: cluster, Node: id})
	case "remove by force":
		_, err = p.clusters.RemoveNode(limited(t), &gnomonv1.RemoveNodeRequest{Cluster: cluster, Node: id, Force: true})
	default:
		err = errors.New("no such verb")
	}
	return err
}

// nudge nudges a cluster and waits until that cycle is over.
func (p *plant) nudge(t *testing.T, cluster string) {
	t.Helper()
	r, err := p.clusters.NudgeCluster(limited(t), &gnomonv1.NudgeClusterRequest{Cluster: cluster})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		c, err := p.clusters.GetCluster(limited(t), &gnomonv1.GetClusterRequest{Cluster: cluster})
		return err == nil && (c.GetLastCycle().GetNumber() > r.GetCycle() || c.GetLastCycle().GetNumber() == r.GetCycle() && c.GetLastCycle().GetDuration() != nil)
	}, within, 20*time.Millisecond, cluster)
}

// signals sends a signal as a person would.
func (p *plant) signals(t *testing.T, name, signal string, payload any) {
	t.Helper()
	require.NoError(t, p.client.SignalWorkflow(limited(t), p.workflow(name), "", signal, payload))
}
