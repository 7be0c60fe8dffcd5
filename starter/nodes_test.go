package starter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// askedNodes is a Temporal whose clusters and playbooks answer as the test says.
type askedNodes struct {
	client.Client

	// result and refusal are what becomes of updates, err of calls.
	result       proto.Message
	refusal, err error
	updates      []client.UpdateWorkflowOptions
	begun        []any
	// outruns is how many questions come next that the workflow moves on under.
	outruns int
}

// UpdateWorkflow implements client.Client.
func (a *askedNodes) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	a.updates = append(a.updates, o)
	return outcome{result: a.result, err: a.refusal}, a.err
}

// NewWithStartWorkflowOperation implements client.Client.
func (a *askedNodes) NewWithStartWorkflowOperation(_ client.StartWorkflowOptions, _ any, args ...any) client.WithStartWorkflowOperation {
	a.begun = append(a.begun, args...)
	return nil
}

// UpdateWithStartWorkflow implements client.Client.
func (a *askedNodes) UpdateWithStartWorkflow(ctx context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return a.UpdateWorkflow(ctx, o.UpdateOptions)
}

// QueryWorkflow implements client.Client.
func (a *askedNodes) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if a.outruns > 0 {
		a.outruns--
		return nil, serviceerror.NewQueryFailed("[TMPRL1100] invalid state transition: attempt to handleInitiatedEvent")
	}
	if a.err != nil {
		return nil, a.err
	}
	p, err := converter.GetDefaultDataConverter().ToPayloads(a.result)
	return client.NewValue(p), err
}

type outcome struct {
	client.WorkflowUpdateHandle

	result proto.Message
	err    error
}

// Get implements client.WorkflowUpdateHandle.
func (a outcome) Get(_ context.Context, into any) error {
	if a.err == nil && a.result != nil {
		proto.Merge(into.(proto.Message), a.result)
	}
	return a.err
}

// nodeFacade is the facade of clusters and playbooks over that, and a store.
type nodeFacade struct {
	*Clusters
	*Playbooks

	temporal *askedNodes
	rows     *sqlite.Store
}

func newNodeFacade(t *testing.T) nodeFacade {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	f := nodeFacade{temporal: &askedNodes{}, rows: rows}
	config := Config{Client: f.temporal, Store: rows, ApplyTimeout: 50 * time.Millisecond, MirrorTimeout: time.Minute}
	f.Clusters, err = NewClusters(config)
	require.NoError(t, err)
	f.Playbooks, err = NewPlaybooks(config)
	require.NoError(t, err)
	return f
}

// nodeCalls are the calls about cluster c, action a on node n1 and playbook p.
func (f nodeFacade) nodeCalls(ctx context.Context, cluster, id string) map[string]func() error {
	last := func(_ any, err error) error { return err }
	exec := &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}}
	return map[string]func() error{
		"GetCluster":   func() error { return last(f.GetCluster(ctx, &gnomonv1.GetClusterRequest{Cluster: cluster})) },
		"NudgeCluster": func() error { return last(f.NudgeCluster(ctx, &gnomonv1.NudgeClusterRequest{Cluster: cluster})) },
		"RegisterNode": func() error {
			return last(f.RegisterNode(ctx, &gnomonv1.RegisterNodeRequest{Cluster: cluster, Node: &gnomonv1.Node{Name: id}}))
		},
		"RemoveNode": func() error { return last(f.RemoveNode(ctx, &gnomonv1.RemoveNodeRequest{Cluster: cluster, Node: id})) },
		"ScheduleNodeAction": func() error {
			return last(f.ScheduleNodeAction(ctx, &gnomonv1.ScheduleNodeActionRequest{Cluster: cluster, Action: &gnomonv1.NodeAction{Id: id, Node: "n1", Action: exec}}))
		},
		"ApproveNodeAction": func() error {
			return last(f.ApproveNodeAction(ctx, &gnomonv1.ApproveNodeActionRequest{Cluster: cluster, Id: id}))
		},
		"RejectNodeAction": func() error {
			return last(f.RejectNodeAction(ctx, &gnomonv1.RejectNodeActionRequest{Cluster: cluster, Id: id}))
		},
		"CancelNodeAction": func() error {
			return last(f.CancelNodeAction(ctx, &gnomonv1.CancelNodeActionRequest{Cluster: cluster, Id: id}))
		},
		"GetNodeAction": func() error {
			return last(f.GetNodeAction(ctx, &gnomonv1.GetNodeActionRequest{Cluster: cluster, Id: id, Fresh: true}))
		},
		"ListNodeActions": func() error {
			return last(f.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: cluster, Node: id}))
		},
	}
}

func (f nodeFacade) playbookCalls(ctx context.Context, id string) map[string]func() error {
	last := func(_ any, err error) error { return err }
	return map[string]func() error{
		"ApprovePlaybook": func() error { return last(f.ApprovePlaybook(ctx, &gnomonv1.ApprovePlaybookRequest{Id: id})) },
		"RejectPlaybook":  func() error { return last(f.RejectPlaybook(ctx, &gnomonv1.RejectPlaybookRequest{Id: id})) },
		"CancelPlaybook":  func() error { return last(f.CancelPlaybook(ctx, &gnomonv1.CancelPlaybookRequest{Id: id})) },
		"NudgePlaybook":   func() error { return last(f.NudgePlaybook(ctx, &gnomonv1.NudgePlaybookRequest{Id: id})) },
		"GetPlaybook":     func() error { return last(f.GetPlaybook(ctx, &gnomonv1.GetPlaybookRequest{Id: id, Fresh: true})) },
	}
}

// Every call refuses a cluster, a node, an action and a playbook whose name cannot be one,
// with the field, and asks nobody.
func TestNodesBadNames(t *testing.T) {
	t.Parallel()
	f := newNodeFacade(t)
	for name, call := range f.nodeCalls(t.Context(), "C", "a") {
		t.Log(name)
		requireViolation(t, call(), "cluster", "INVALID_CHARACTER")
	}
	for name, field := range map[string]string{
		"RegisterNode": "node.name", "RemoveNode": "node", "ScheduleNodeAction": "action.id", "ApproveNodeAction": "id",
		"RejectNodeAction": "id", "CancelNodeAction": "id", "GetNodeAction": "id", "ListNodeActions": "node",
	} {
		t.Log(name)
		requireViolation(t, f.nodeCalls(t.Context(), "c", "a b")[name](), field, "INVALID_CHARACTER")
	}
	for name, call := range f.playbookCalls(t.Context(), "a b") {
		t.Log(name)
		requireViolation(t, call(), "id", "INVALID_CHARACTER")
	}
	require.Empty(t, f.temporal.updates)
}

// What else a request can have wrong is refused with its field.
func TestNodesBadRequests(t *testing.T) {
	t.Parallel()
	f := newNodeFacade(t)
	long := strings.Repeat("x", playbook.MaxReason+1)
	ctx := t.Context()
	last := func(_ any, err error) error { return err }
	for _, c := range []struct {
		err         error
		field, rule string
	}{
		{last(f.ApproveNodeAction(ctx, &gnomonv1.ApproveNodeActionRequest{Cluster: "c", Id: "a", DecidedBy: long})), "decided_by", "TOO_LONG"},
		{last(f.RejectNodeAction(ctx, &gnomonv1.RejectNodeActionRequest{Cluster: "c", Id: "a", Reason: long})), "reason", "TOO_LONG"},
		{last(f.CancelNodeAction(ctx, &gnomonv1.CancelNodeActionRequest{Cluster: "c", Id: "a", Reason: long})), "reason", "TOO_LONG"},
		{last(f.ApprovePlaybook(ctx, &gnomonv1.ApprovePlaybookRequest{Id: "p", DecidedBy: long})), "decided_by", "TOO_LONG"},
		{last(f.RejectPlaybook(ctx, &gnomonv1.RejectPlaybookRequest{Id: "p", Reason: long})), "reason", "TOO_LONG"},
		{last(f.CancelPlaybook(ctx, &gnomonv1.CancelPlaybookRequest{Id: "p", Reason: long})), "reason", "TOO_LONG"},
		{last(f.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: "c", States: []gnomonv1.NodeAction_State{1, 0}})), "states[1]", "UNSUPPORTED"},
		{last(f.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: "c", States: []gnomonv1.NodeAction_State{99}})), "states[0]", "UNSUPPORTED"},
		{last(f.ListPlaybooks(ctx, &gnomonv1.ListPlaybooksRequest{States: []gnomonv1.PlaybookStatus_State{99}})), "states[0]", "UNSUPPORTED"},
		{last(f.ListPlaybooks(ctx, &gnomonv1.ListPlaybooksRequest{Cluster: "C"})), "cluster", "INVALID_CHARACTER"},
		{last(f.ScheduleNodeAction(ctx, &gnomonv1.ScheduleNodeActionRequest{Cluster: "c", Action: &gnomonv1.NodeAction{Node: "n1"}})), "action.action", "REQUIRED"},
		{last(f.CreatePlaybook(ctx, &gnomonv1.CreatePlaybookRequest{Playbook: &gnomonv1.Playbook{Id: "p", Cluster: "c"}})), "playbook.stages", "REQUIRED"},
	} {
		requireViolation(t, c.err, c.field, c.rule)
	}
	for _, err := range []error{
		last(f.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: "c", PageSize: -1})),
		last(f.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: "c", PageToken: "no token"})),
		last(f.ListPlaybooks(ctx, &gnomonv1.ListPlaybooksRequest{PageToken: "no token"})),
	} {
		require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	}
}

// Why a cluster or playbook refused a command, or could not be asked, is what its caller
// hears.
func TestNodesErrors(t *testing.T) {
	t.Parallel()
	refusal := func(kind string, details ...any) error {
		return temporal.NewNonRetryableApplicationError("no", kind, nil, details...)
	}
	commands := []string{"ApproveNodeAction", "RejectNodeAction", "CancelNodeAction"}
	for _, c := range []struct {
		calls        []string
		refusal, err error
		code         codes.Code
		reason       string
		state        string
	}{
		{calls: []string{"ScheduleNodeAction"}, refusal: refusal(workflowv1.RefusedExists), code: codes.AlreadyExists, reason: "NODE_ACTION_ALREADY_EXISTS"},
		{calls: []string{"ScheduleNodeAction"}, refusal: refusal(workflowv1.RefusedReused), code: codes.InvalidArgument, reason: "REQUEST_ID_REUSED"},
		{calls: []string{"ScheduleNodeAction", "RegisterNode"}, refusal: refusal(workflowv1.RefusedFull), code: codes.ResourceExhausted, reason: "CLUSTER_FULL"},
		{calls: []string{"ScheduleNodeAction", "RemoveNode"}, refusal: refusal(workflowv1.RefusedNoNode), code: codes.NotFound, reason: "NODE_NOT_FOUND"},
		{calls: []string{"RemoveNode"}, refusal: refusal(workflowv1.RefusedUnfinished), code: codes.FailedPrecondition, reason: "NODE_HAS_UNFINISHED_ACTIONS"},
		{calls: commands, refusal: refusal(workflowv1.RefusedNotPending, "RUNNING"), code: codes.FailedPrecondition, reason: "NODE_ACTION_STATE", state: "RUNNING"},
		{calls: commands, refusal: refusal(workflowv1.RefusedNotFound), code: codes.NotFound, reason: "NODE_ACTION_NOT_FOUND"},
		{calls: append(commands, "NudgeCluster"), refusal: refusal(workflowv1.RefusedMalformed), code: codes.Internal, reason: "COMMAND_REFUSED"},
		{calls: append(commands, "NudgeCluster", "RemoveNode", "ScheduleNodeAction", "GetCluster"), err: serviceerror.NewNotFound("none"), code: codes.NotFound, reason: "CLUSTER_NOT_FOUND"},
		{calls: append(commands, "NudgeCluster", "RegisterNode"), err: context.DeadlineExceeded, code: codes.Unavailable, reason: "NO_WORKER"},
		{calls: []string{"GetNodeAction"}, err: serviceerror.NewNotFound("none"), code: codes.NotFound, reason: "NODE_ACTION_NOT_FOUND"},
	} {
		for _, name := range c.calls {
			t.Run(name+" "+c.reason, func(t *testing.T) {
				t.Parallel()
				f := newNodeFacade(t)
				f.temporal.refusal, f.temporal.err = c.refusal, c.err
				if errors.Is(c.err, context.DeadlineExceeded) {
					f.temporal.err = client.NewWorkflowUpdateServiceTimeoutOrCanceledError(c.err)
				}
				if c.reason == "REQUEST_ID_REUSED" {
					requireViolation(t, f.nodeCalls(t.Context(), "c", "a")[name](), "request_id", c.reason)
					return
				}
				info := requireReason(t, f.nodeCalls(t.Context(), "c", "a")[name](), c.code, c.reason)
				require.Equal(t, c.state, info.GetMetadata()["state"])
			})
		}
	}
	for _, c := range []struct {
		refusal, err error
		code         codes.Code
		reason       string
	}{
		{refusal: refusal(workflowv1.RefusedNotPending, "DONE"), code: codes.FailedPrecondition, reason: "PLAYBOOK_STATE"},
		{refusal: refusal(workflowv1.RefusedFinished, "DONE"), code: codes.FailedPrecondition, reason: "PLAYBOOK_STATE"},
		{refusal: refusal(workflowv1.RefusedMalformed), code: codes.Internal, reason: "COMMAND_REFUSED"},
		{err: serviceerror.NewNotFound("none"), code: codes.NotFound, reason: "PLAYBOOK_NOT_FOUND"},
	} {
		f := newNodeFacade(t)
		f.temporal.refusal, f.temporal.err = c.refusal, c.err
		for name, call := range f.playbookCalls(t.Context(), "p") {
			if name == "GetPlaybook" && c.err == nil {
				continue
			}
			info := requireReason(t, call(), c.code, c.reason)
			if c.reason == "PLAYBOOK_STATE" {
				require.Equal(t, "DONE", info.GetMetadata()["state"], name)
			}
		}
	}
}

// What a cluster or playbook no longer has is in the store: its state refuses the command.
// Where the store is behind, that is said.
func TestNodesThatHaveEnded(t *testing.T) {
	t.Parallel()
	f := newNodeFacade(t)
	at := timestamppb.Now()
	put := func(state gnomonv1.NodeAction_State, book gnomonv1.PlaybookStatus_State, sequence uint64) {
		revision := store.Revision{Incarnation: at.AsTime(), Sequence: sequence}
		require.NoError(t, f.rows.PutNodeActions(t.Context(), []store.NodeActionRow{{
			Action: &gnomonv1.NodeAction{Id: "a", Cluster: "c", State: state, CreateTime: at}, Revision: revision,
		}}))
		require.NoError(t, f.rows.PutPlaybook(t.Context(), store.PlaybookRow{
			Playbook: &gnomonv1.Playbook{Id: "p", Cluster: "c", CreateTime: at, Status: &gnomonv1.PlaybookStatus{State: book}}, Revision: revision,
		}))
	}
	put(gnomonv1.NodeAction_RUNNING, gnomonv1.PlaybookStatus_RUNNING, 1)
	cancel := func() (ofAction, ofPlaybook error) {
		f.temporal.refusal, f.temporal.err = temporal.NewNonRetryableApplicationError("no", workflowv1.RefusedNotFound, nil), nil
		ofAction = f.nodeCalls(t.Context(), "c", "a")["CancelNodeAction"]()
		f.temporal.err = serviceerror.NewNotFound("none")
		return ofAction, f.playbookCalls(t.Context(), "p")["CancelPlaybook"]()
	}
	ofAction, ofPlaybook := cancel()
	requireReason(t, ofAction, codes.Unavailable, "NOT_STORED_YET")
	requireReason(t, ofPlaybook, codes.Unavailable, "NOT_STORED_YET")
	put(gnomonv1.NodeAction_LOST, gnomonv1.PlaybookStatus_FAILED, 2)
	ofAction, ofPlaybook = cancel()
	require.Equal(t, "LOST", requireReason(t, ofAction, codes.FailedPrecondition, "NODE_ACTION_STATE").GetMetadata()["state"])
	require.Equal(t, "FAILED", requireReason(t, ofPlaybook, codes.FailedPrecondition, "PLAYBOOK_STATE").GetMetadata()["state"])

	f.temporal.refusal = nil
	got, err := f.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: "c", Id: "a", Fresh: true})
	require.NoError(t, err, "what Temporal has forgotten the store has")
	require.Equal(t, gnomonv1.NodeAction_LOST, got.GetState())
	exec := &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}}
	_, err = f.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: "c", Action: &gnomonv1.NodeAction{Id: "a", Node: "n1", Action: exec}})
	requireReason(t, err, codes.AlreadyExists, "NODE_ACTION_ALREADY_EXISTS")
}

// What a caller does not say of an action is not taken from it: states, results and times
// are the workflow's.
func TestScheduleTakesWhatIsTheCallers(t *testing.T) {
	t.Parallel()
	f := newNodeFacade(t)
	f.temporal.result = &workflowv1.ClusterResult{Action: &gnomonv1.NodeAction{Id: "a", Cluster: "c", State: gnomonv1.NodeAction_PENDING_SCHEDULE}}
	_, err := f.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: "c", RequestId: "r", Action: &gnomonv1.NodeAction{
		Id: "a", Cluster: "other", Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/true"}}},
		State: gnomonv1.NodeAction_DONE, Playbook: "p", DecidedBy: "me", Origin: gnomonv1.NodeAction_AGENT, CreateTime: timestamppb.Now(), PushTime: timestamppb.Now(),
	}})
	require.NoError(t, err)
	command, ok := f.temporal.updates[0].Args[0].(*workflowv1.ClusterCommand)
	require.True(t, ok)
	sent := command.GetSchedule().GetActions()[0]
	require.True(t, proto.Equal(&gnomonv1.NodeAction{
		Id: "a", Cluster: "c", Node: "n1", Action: sent.GetAction(), Origin: gnomonv1.NodeAction_USER,
	}, sent), "%v", sent)
	row, err := f.rows.GetNodeAction(t.Context(), "c", "a")
	require.NoError(t, err, "who schedules reads it")
	require.Equal(t, "r", row.RequestID)
}
