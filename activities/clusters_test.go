package activities_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// askedCluster is a Temporal whose cluster answers as the test says.
type askedCluster struct {
	client.Client

	seen     *gnomonv1.Cluster
	refusal  error // of the update's outcome
	err      error // of the call
	begun    *workflowv1.ClusterState
	updates  []client.UpdateWorkflowOptions
	commands []*workflowv1.ClusterCommand
}

// QueryWorkflow implements client.Client.
func (c *askedCluster) QueryWorkflow(_ context.Context, id, _, name string, _ ...any) (converter.EncodedValue, error) {
	if id != "cluster/c" || name != workflowv1.QueryCluster {
		return nil, errors.New("another query was made")
	}
	if c.err != nil {
		return nil, c.err
	}
	p, err := converter.GetDefaultDataConverter().ToPayloads(c.seen)
	return client.NewValue(p), err
}

// NewWithStartWorkflowOperation implements client.Client.
func (c *askedCluster) NewWithStartWorkflowOperation(_ client.StartWorkflowOptions, _ any, args ...any) client.WithStartWorkflowOperation {
	c.begun, _ = args[0].(*workflowv1.ClusterState)
	return nil
}

// UpdateWithStartWorkflow implements client.Client.
func (c *askedCluster) UpdateWithStartWorkflow(_ context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	c.updates = append(c.updates, o.UpdateOptions)
	if command, ok := o.UpdateOptions.Args[0].(*workflowv1.ClusterCommand); ok {
		c.commands = append(c.commands, command)
	}
	return refusedUpdate{err: c.refusal}, c.err
}

type refusedUpdate struct {
	client.WorkflowUpdateHandle

	err error
}

// Get implements client.WorkflowUpdateHandle.
func (u refusedUpdate) Get(context.Context, any) error { return u.err }

// clusterActivities are the activities, over a real store.
func clusterActivities(t *testing.T, c client.Client) (*testsuite.TestActivityEnvironment, *activities.Clusters) {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rows.Close() })
	a := &activities.Clusters{Store: rows, Client: c, TaskQueue: "q", Log: slog.New(slog.DiscardHandler)}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(a)
	return env, a
}

// Rows of actions and playbooks are stored with their revision and request, and a store
// that takes none fails the activity, so that it is tried again.
func TestMirrorNodes(t *testing.T) {
	t.Parallel()
	env, a := clusterActivities(t, nil)
	began := timestamppb.New(start)
	_, err := env.ExecuteActivity(a.MirrorNodes, &workflowv1.MirrorNodesInput{Cluster: "c", Incarnation: began, Rows: []*workflowv1.NodeActionRow{
		{Action: &gnomonv1.NodeAction{Id: "a", Cluster: "c"}, Sequence: 7, RequestId: "r", Digest: "d"},
		{Action: &gnomonv1.NodeAction{Id: "b", Cluster: "c"}, Sequence: 8},
	}})
	require.NoError(t, err)
	row, err := a.Store.GetNodeAction(t.Context(), "c", "a")
	require.NoError(t, err)
	require.Equal(t, store.Revision{Incarnation: start, Sequence: 7}, row.Revision)
	require.Equal(t, "r", row.RequestID)
	require.Equal(t, "d", row.Digest)
	_, err = a.Store.GetNodeAction(t.Context(), "c", "b")
	require.NoError(t, err)

	in := &workflowv1.MirrorPlaybookInput{Playbook: &gnomonv1.Playbook{Id: "p", Cluster: "c"}, Incarnation: began, Sequence: 9, RequestId: "r", Digest: "d"}
	_, err = env.ExecuteActivity(a.MirrorPlaybook, in)
	require.NoError(t, err)
	book, err := a.Store.GetPlaybook(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, store.Revision{Incarnation: start, Sequence: 9}, book.Revision)
	require.Equal(t, "r", book.RequestID)
	require.Equal(t, "d", book.Digest)

	for _, f := range []func() error{
		func() error { return a.MirrorPlaybook(t.Context(), &workflowv1.MirrorPlaybookInput{}) },
		func() error {
			return a.MirrorNodes(t.Context(), &workflowv1.MirrorNodesInput{Rows: []*workflowv1.NodeActionRow{{}}})
		},
	} {
		require.Error(t, f())
	}
}

// The nodes of a cluster are asked for; one that nobody has begun has none, and one that
// cannot be asked is asked again.
func TestClusterNodes(t *testing.T) {
	t.Parallel()
	c := &askedCluster{seen: &gnomonv1.Cluster{Id: "c", Nodes: []*gnomonv1.Node{{Name: "n1"}}}}
	_, a := clusterActivities(t, c)
	seen, err := a.ClusterNodes(t.Context(), "c")
	require.NoError(t, err)
	require.Equal(t, "n1", seen.GetNodes()[0].GetName())
	c.err = serviceerror.NewNotFound("none")
	seen, err = a.ClusterNodes(t.Context(), "c")
	require.NoError(t, err)
	require.Empty(t, seen.GetNodes())
	c.err = serviceerror.NewUnavailable("later")
	_, err = a.ClusterNodes(t.Context(), "c")
	require.ErrorIs(t, err, c.err)
}

// A playbook's command is given to the cluster, which is begun if need be, as the same
// update however often the activity is tried. What the cluster cannot take yet is tried
// again, what has ended needs nothing, what is malformed never will be taken.
func TestClusterCommand(t *testing.T) {
	t.Parallel()
	command := &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: &workflowv1.ClusterCommand_Decision{Action: "a"}}}
	in := &workflowv1.ClusterCommandInput{Cluster: "c", Command: command}
	for kind, ends := range map[string]string{
		"":                           "taken",
		workflowv1.RefusedNotFound:   "taken",
		workflowv1.RefusedFinished:   "taken",
		workflowv1.RefusedMalformed:  "final",
		workflowv1.RefusedFull:       "again",
		workflowv1.RefusedExists:     "again",
		workflowv1.RefusedUnfinished: "again",
	} {
		t.Run("refused as "+kind, func(t *testing.T) {
			t.Parallel()
			c := &askedCluster{}
			if kind != "" {
				c.refusal = temporal.NewNonRetryableApplicationError("no", kind, nil)
			}
			env, a := clusterActivities(t, c)
			_, err := env.ExecuteActivity(a.ClusterCommand, in)
			refused, _ := errors.AsType[*temporal.ApplicationError](err)
			switch ends {
			case "taken":
				require.NoError(t, err)
			case "final":
				require.True(t, refused.NonRetryable(), "%v", err)
			default:
				require.Error(t, err)
				require.False(t, refused.NonRetryable(), "%v", err)
			}
			require.Equal(t, "c", c.begun.GetCluster())
			require.Equal(t, playbook.Version, c.begun.GetVersion())
			require.Equal(t, "cluster/c", c.updates[0].WorkflowID)
			require.Equal(t, "a", c.commands[0].GetCancel().GetAction())
			require.Equal(t, "default-test-run-id/0", c.updates[0].UpdateID, "the run and the activity, not the attempt")
		})
	}
	c := &askedCluster{err: serviceerror.NewUnavailable("later")}
	env, a := clusterActivities(t, c)
	_, err := env.ExecuteActivity(a.ClusterCommand, in)
	require.ErrorContains(t, err, "later")
}
