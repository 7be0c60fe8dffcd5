package e2e

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Issue 6, 5: what a person sees in the Web UI of a cluster, its nodes and unfinished
// actions, and of a playbook's stages, as docs/nodes.md describes it.
func TestWebUIOfNodes(t *testing.T) {
	t.Parallel()
	browser := browse(t)
	_, at := runDev(t, "--ephemeral", "--agents", "2")
	conn, err := grpc.NewClient(at.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	clusters, playbooks := gnomonv1.NewClusterServiceClient(conn), gnomonv1.NewPlaybookServiceClient(conn)
	temporal, err := client.Dial(client.Options{HostPort: at.Temporal})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	page := func(id, tab string) string {
		seen, err := temporal.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		return "http://" + at.UI + "/namespaces/default/workflows/" + url.PathEscape(id) + "/" + seen.GetWorkflowExecutionInfo().GetExecution().GetRunId() + "/" + tab
	}
	exec := func(words ...string) *gnomonv1.ExecAction { return &gnomonv1.ExecAction{Argv: words} }
	stage := func(name string, approve bool, do *gnomonv1.ExecAction) *gnomonv1.PlaybookStage {
		return &gnomonv1.PlaybookStage{Name: name, AllNodes: true, Approve: approve, Action: &gnomonv1.PlaybookStage_Exec{Exec: do}}
	}
	eventually(t, startWithin, "the agents have registered", func() bool {
		c, err := clusters.GetCluster(t.Context(), &gnomonv1.GetClusterRequest{Cluster: "local"})
		up := 0
		for _, n := range c.GetNodes() {
			if n.GetHealth() == gnomonv1.Node_UP {
				up++
			}
		}
		return err == nil && up == 2
	})
	_, err = playbooks.CreatePlaybook(t.Context(), &gnomonv1.CreatePlaybookRequest{Playbook: &gnomonv1.Playbook{
		Id: "upgrade", Cluster: "local",
		Stages: []*gnomonv1.PlaybookStage{
			stage("drain", false, exec("echo", "hidden")), stage("install", true, exec("echo", "hidden")), stage("check", false, exec("echo", "hidden")),
		},
	}})
	require.NoError(t, err)
	_, err = clusters.ScheduleNodeAction(t.Context(), &gnomonv1.ScheduleNodeActionRequest{Cluster: "local", Action: &gnomonv1.NodeAction{
		Id: "restart", Node: "node-2", Approve: true, Action: &gnomonv1.NodeAction_Exec{Exec: exec("echo", "hidden")},
	}})
	require.NoError(t, err)
	eventually(t, startWithin, "the second stage waits for its approvals", func() bool {
		p, err := playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: "upgrade", Fresh: true})
		return err == nil && len(p.GetStatus().GetStages()[1].GetActions()) == 2
	})

	cluster, playbook := workflowv1.ClusterWorkflowID("local"), workflowv1.PlaybookWorkflowID("upgrade")
	shown := reads(browser, t, page(cluster, "user-metadata"), "Cluster local: 2 nodes, 3 unfinished actions",
		"node-1\tUP", "node-2\tUP", "restart\tnode-2\tPENDING_APPROVE", "upgrade.1.node-1\tnode-1\tPENDING_APPROVE\tupgrade")
	require.NotContains(t, shown, "|---|", "the tables are rendered")
	require.NotContains(t, shown, "hidden", "no words of programs")
	shown = reads(browser, t, page(playbook, "user-metadata"), "upgrade on cluster local: RUNNING",
		"drain\tSUCCEEDED\t2\t0\t0\t0", "install\tACTIVE\t0\t0\t2\t0", "check\tWAITING\t0\t0\t0\t0")
	require.NotContains(t, shown, "|---|", "the table is rendered")
	picture(browser, t, "playbook-running.png")

	_, err = playbooks.CancelPlaybook(t.Context(), &gnomonv1.CancelPlaybookRequest{Id: "upgrade", Reason: "not | today"})
	require.NoError(t, err)
	reads(browser, t, page(playbook, "user-metadata"), "upgrade on cluster local: CANCELLED not | today",
		"install\tUNSUCCESSFUL\t0\t2\t0\t0", "check\tSKIPPED")
	reads(browser, t, page(cluster, "timeline"), "fetch from node-1")
}
