package worker

import (
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// registerRewalks registers the activities of walks, which run beside their workflows: a
// walk only asks, the visits that come of it are on the stage's own queue.
func registerRewalks(c client.Client, registry worker.ActivityRegistry, cfg Config) {
	w := &activities.Rewalks{Store: cfg.Store, Stages: cfg.Stages, Client: c, TaskQueue: cfg.TaskQueue}
	registry.RegisterActivityWithOptions(w.CountEntities, activity.RegisterOptions{Name: workflowv1.CountEntitiesActivity})
	registry.RegisterActivityWithOptions(w.StoreRewalk, activity.RegisterOptions{Name: workflowv1.StoreRewalkActivity})
	registry.RegisterActivityWithOptions(w.RewalkPage, activity.RegisterOptions{Name: workflowv1.RewalkPageActivity})
}
