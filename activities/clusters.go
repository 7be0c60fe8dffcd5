package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store"
)

// Clusters are the activities of clusters and playbooks (seed 002), beside those of the
// agents, which run on the nodes. Its fields are set once, before the worker starts.
type Clusters struct {
	Store  store.Nodes
	Client client.Client
	// TaskQueue is where Cluster workflows run.
	TaskQueue string
	Log       *slog.Logger
}

// MirrorNodes is the activity: it stores rows of node actions. It fails until the store
// took them.
func (c *Clusters) MirrorNodes(ctx context.Context, in *workflowv1.MirrorNodesInput) error {
	rows := make([]store.NodeActionRow, len(in.GetRows()))
	for i, r := range in.GetRows() {
		rows[i] = store.NodeActionRow{
			Action:    r.GetAction(),
			Revision:  store.Revision{Incarnation: in.GetIncarnation().AsTime(), Sequence: r.GetSequence()},
			RequestID: r.GetRequestId(), Digest: r.GetDigest(),
		}
	}
	return c.Store.PutNodeActions(ctx, rows)
}

// MirrorPlaybook is the activity: it stores a playbook's row. It fails until the store
// took it.
func (c *Clusters) MirrorPlaybook(ctx context.Context, in *workflowv1.MirrorPlaybookInput) error {
	return c.Store.PutPlaybook(ctx, store.PlaybookRow{
		Playbook:  in.GetPlaybook(),
		Revision:  store.Revision{Incarnation: in.GetIncarnation().AsTime(), Sequence: in.GetSequence()},
		RequestID: in.GetRequestId(), Digest: in.GetDigest(),
	})
}

// ClusterNodes is the activity: it asks a cluster for its nodes. One that nobody has
// begun has none.
func (c *Clusters) ClusterNodes(ctx context.Context, cluster string) (*gnomonv1.Cluster, error) {
	answer, err := c.Client.QueryWorkflow(ctx, workflowv1.ClusterWorkflowID(cluster), "", workflowv1.QueryCluster)
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return &gnomonv1.Cluster{Id: cluster}, nil
	}
	seen := &gnomonv1.Cluster{}
	if err == nil {
		err = answer.Get(seen)
	}
	if err != nil {
		return nil, err
	}
	return seen, nil
}

// ClusterCommand is the activity: it has a cluster apply a command of a playbook, and
// begins the cluster if need be. It fails, to be tried again, while the cluster cannot
// take it; a cancellation of what has ended has nothing to do.
func (c *Clusters) ClusterCommand(ctx context.Context, in *workflowv1.ClusterCommandInput) error {
	info := activity.GetInfo(ctx)
	id := workflowv1.ClusterWorkflowID(in.GetCluster())
	start := c.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: id, TaskQueue: c.TaskQueue, StaticSummary: "cluster " + in.GetCluster(),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflowv1.ClusterWorkflow, playbook.New(in.GetCluster()))
	update, err := c.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			// An attempt that comes again, as the answer was lost, is the same command.
			UpdateID:   info.WorkflowExecution.RunID + "/" + info.ActivityID,
			WorkflowID: id, UpdateName: workflowv1.CommandCluster, Args: []any{in.GetCommand()},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = update.Get(ctx, nil)
	}
	refused, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		return err
	}
	switch refused.Type() {
	case workflowv1.RefusedNotFound, workflowv1.RefusedFinished:
		return nil
	case workflowv1.RefusedMalformed:
		return err // which is final
	}
	c.Log.WarnContext(ctx, "A cluster does not take a playbook's command yet.", "cluster", in.GetCluster(), "reason", refused.Message())
	return fmt.Errorf("the cluster does not take it yet: %s", refused.Message())
}
