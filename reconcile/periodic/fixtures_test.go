package periodic_test

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"gnomon/store"
)

// unused and unusedStore panic when they are called.
type unused struct{ client.Client }

type unusedStore struct{ store.Actions }

// stuck is a Temporal that does not answer.
type stuck struct {
	client.Client

	listing chan struct{}
}

func (s stuck) ListWorkflow(ctx context.Context, _ *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	close(s.listing)
	<-ctx.Done()
	return nil, ctx.Err()
}
