package worker

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// registerClusters registers the activities of clusters and playbooks that run beside
// their workflows; those on nodes are the agents'.
func registerClusters(c client.Client, registry worker.ActivityRegistry, cfg Config) {
	a := &activities.Clusters{Store: cfg.Store, Client: c, TaskQueue: cfg.TaskQueue, Log: cfg.Logger}
	registry.RegisterActivityWithOptions(a.MirrorNodes, activity.RegisterOptions{Name: workflowv1.MirrorNodesActivity})
	registry.RegisterActivityWithOptions(a.MirrorPlaybook, activity.RegisterOptions{Name: workflowv1.MirrorPlaybookActivity})
	registry.RegisterActivityWithOptions(a.ClusterNodes, activity.RegisterOptions{Name: workflowv1.ClusterNodesActivity})
	registry.RegisterActivityWithOptions(a.ClusterCommand, activity.RegisterOptions{Name: workflowv1.ClusterCommandActivity})
}
