package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Register makes the workflows known to a worker or replayer under their names.
func (w *Workflows) Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(w.Action, workflow.RegisterOptions{Name: workflowv1.ActionWorkflow})
	r.RegisterWorkflowWithOptions(w.Batch, workflow.RegisterOptions{Name: workflowv1.BatchWorkflow})
	r.RegisterWorkflowWithOptions(w.Playbook, workflow.RegisterOptions{Name: workflowv1.PlaybookWorkflow})
	r.RegisterWorkflowWithOptions(w.Cluster, workflow.RegisterOptions{Name: workflowv1.ClusterWorkflow})
	r.RegisterWorkflowWithOptions(w.Entity, workflow.RegisterOptions{Name: workflowv1.EntityWorkflow})
	r.RegisterWorkflowWithOptions(w.Rewalk, workflow.RegisterOptions{Name: workflowv1.RewalkWorkflow})
}
