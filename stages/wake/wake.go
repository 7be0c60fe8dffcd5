// Package wake tells the workflows of entities what happened to them, and starts them
// where none is open: the workflow of an entity to which nothing is left to do has ended.
package wake

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// maxFields is how many changed fields are told of. Beyond it all stages are asked, which
// is what not naming any means.
const maxFields = 100

// Changed tells that an entity has a version, in which these of its top-level fields
// differ; none named: it is not known which. Telling it again does nothing.
func Changed(ctx context.Context, c client.Client, taskQueue string, key store.EntityKey, version int64, fields []string) error {
	if len(fields) > maxFields {
		fields = nil
	}
	return signal(ctx, c, taskQueue, key, workflowv1.SignalChanged, &workflowv1.EntityChanged{Version: version, Fields: fields})
}

// Visit asks for a visit of a stage. If that is pending already it is not made twice.
func Visit(ctx context.Context, c client.Client, taskQueue string, key store.EntityKey, wanted *workflowv1.VisitRequested) error {
	return signal(ctx, c, taskQueue, key, workflowv1.SignalVisit, wanted)
}

func signal(ctx context.Context, c client.Client, taskQueue string, key store.EntityKey, name string, payload any) error {
	id := workflowv1.EntityWorkflowID(key.Type, key.ID)
	_, err := c.SignalWithStartWorkflow(ctx, id, name, payload, client.StartWorkflowOptions{
		ID: id, TaskQueue: taskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         key.Type + " " + key.ID,
	}, workflowv1.EntityWorkflow, &workflowv1.EntityState{Type: key.Type, Id: key.ID})
	return err
}
