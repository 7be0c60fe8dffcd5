package starter

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/rule"
)

// Clusters is the facade of clusters and the actions on their nodes: it validates,
// commands the cluster's workflow, and reads the store. It reaches no agent and
// holds no state.
type Clusters struct {
	gnomonv1.UnimplementedClusterServiceServer

	Config
}

// NewClusters returns the service.
func NewClusters(c Config) (*Clusters, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	return &Clusters{Config: c}, nil
}

// GetCluster implements the service.
func (s *Clusters) GetCluster(ctx context.Context, req *gnomonv1.GetClusterRequest) (*gnomonv1.Cluster, error) {
	cluster := req.GetCluster()
	if err := invalid(playbook.ValidateCluster("cluster", cluster), ""); err != nil {
		return nil, err
	}
	seen := &gnomonv1.Cluster{}
	if err := s.query(ctx, workflowv1.ClusterWorkflowID(cluster), seen, workflowv1.QueryCluster); err != nil {
		return nil, clusterUnasked(err, cluster)
	}
	return seen, nil
}

// RegisterNode implements the service. It makes the cluster if there is none.
func (s *Clusters) RegisterNode(ctx context.Context, req *gnomonv1.RegisterNodeRequest) (*gnomonv1.Node, error) {
	cluster := req.GetCluster()
	bad := append(playbook.ValidateCluster("cluster", cluster), under("node", playbook.ValidateNode(req.GetNode()))...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	result, err := s.commandOrStart(ctx, cluster, &workflowv1.ClusterCommand{
		Id:      commandID(""),
		Command: &workflowv1.ClusterCommand_Register{Register: &gnomonv1.Node{Name: req.GetNode().GetName(), Labels: req.GetNode().GetLabels()}},
	})
	if err != nil {
		return nil, clusterRefused(err, cluster, req.GetNode().GetName())
	}
	return result.GetNode(), nil
}

// RemoveNode implements the service.
func (s *Clusters) RemoveNode(ctx context.Context, req *gnomonv1.RemoveNodeRequest) (*gnomonv1.RemoveNodeResponse, error) {
	cluster := req.GetCluster()
	bad := append(playbook.ValidateCluster("cluster", cluster), nodeRule("node", req.GetNode())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	_, err := s.command(ctx, cluster, &workflowv1.ClusterCommand{
		Id:      commandID(""),
		Command: &workflowv1.ClusterCommand_Remove{Remove: &workflowv1.ClusterCommand_RemoveNode{Node: req.GetNode(), Force: req.GetForce()}},
	})
	if err != nil {
		return nil, clusterRefused(err, cluster, req.GetNode())
	}
	return &gnomonv1.RemoveNodeResponse{}, nil
}

// NudgeCluster implements the service.
func (s *Clusters) NudgeCluster(ctx context.Context, req *gnomonv1.NudgeClusterRequest) (*gnomonv1.NudgeClusterResponse, error) {
	cluster := req.GetCluster()
	if err := invalid(playbook.ValidateCluster("cluster", cluster), ""); err != nil {
		return nil, err
	}
	result, err := s.command(ctx, cluster, &workflowv1.ClusterCommand{
		Id: commandID(""), Command: &workflowv1.ClusterCommand_Nudge_{Nudge: &workflowv1.ClusterCommand_Nudge{}},
	})
	if err != nil {
		return nil, clusterRefused(err, cluster, "")
	}
	return &gnomonv1.NudgeClusterResponse{Cycle: result.GetCycle()}, nil
}

// nodeRule checks the name of a node that a request addresses.
func nodeRule(field, name string) []rule.Violation {
	bad := playbook.ValidateNode(&gnomonv1.Node{Name: name})
	for i := range bad {
		bad[i].Field = field
	}
	return bad
}

// command has a cluster's workflow apply a command, and waits for that.
func (s *Clusters) command(ctx context.Context, cluster string, c *workflowv1.ClusterCommand) (*workflowv1.ClusterResult, error) {
	return send[workflowv1.ClusterResult](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
		return s.Client.UpdateWorkflow(wait, clusterUpdate(cluster, c))
	})
}

// commandOrStart is command, and starts the workflow where none is open.
func (s *Clusters) commandOrStart(ctx context.Context, cluster string, c *workflowv1.ClusterCommand) (*workflowv1.ClusterResult, error) {
	return send[workflowv1.ClusterResult](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
		return s.Client.UpdateWithStartWorkflow(wait, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: s.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
				ID: workflowv1.ClusterWorkflowID(cluster), TaskQueue: s.TaskQueue, StaticSummary: "cluster " + cluster,
				WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			}, workflowv1.ClusterWorkflow, playbook.New(cluster)),
			UpdateOptions: clusterUpdate(cluster, c),
		})
	})
}

func clusterUpdate(cluster string, c *workflowv1.ClusterCommand) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		// Another request under the same id is told apart, and refused by the workflow.
		UpdateID:   c.GetId() + "/" + c.GetSchedule().GetDigest(),
		WorkflowID: workflowv1.ClusterWorkflowID(cluster), UpdateName: workflowv1.CommandCluster, Args: []any{c},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}

// clusterUnasked maps why a cluster could not be asked.
func clusterUnasked(err error, cluster string) error {
	switch {
	case errors.Is(err, errNoWorker):
		return noWorker(err)
	case missing(err):
		return clusterNotFound(cluster)
	default:
		return fromTemporal(err, cluster)
	}
}
