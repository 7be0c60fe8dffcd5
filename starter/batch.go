package starter

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	// maxBatch bounds the requests of one batch.
	maxBatch = 1000
	// batchParallel is how many of them are under way at once: enough to fill the
	// store's groups without pushing single callers aside.
	batchParallel = 16
)

// BatchCreateActions implements the service: each request for itself, a few at
// once. An id that comes twice is created once.
func (s *Actions) BatchCreateActions(ctx context.Context, req *gnomonv1.BatchCreateActionsRequest) (*gnomonv1.BatchCreateActionsResponse, error) {
	n := len(req.GetRequests())
	if n < 1 || n > maxBatch {
		return nil, invalidField("requests", action.RuleOutOfRange, fmt.Sprintf("must be 1 to %d, are %d", maxBatch, n))
	}
	results := make([]*gnomonv1.BatchCreateActionsResponse_Result, n)
	var group errgroup.Group
	group.SetLimit(batchParallel)
	for i, one := range req.GetRequests() {
		group.Go(func() error {
			reply, err := s.CreateAction(ctx, one)
			results[i] = &gnomonv1.BatchCreateActionsResponse_Result{Action: reply, Error: batchError(err)}
			return nil
		})
	}
	_ = group.Wait() // none of them fails: each result holds its own error
	return &gnomonv1.BatchCreateActionsResponse{Results: results}, nil
}

// batchError is a refusal within a batch.
func batchError(err error) *gnomonv1.BatchCreateActionsResponse_Error {
	if err == nil {
		return nil
	}
	st := status.Convert(err)
	e := &gnomonv1.BatchCreateActionsResponse_Error{Code: int32(st.Code()), Message: st.Message()}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason = d.GetReason()
		case *errdetails.BadRequest:
			if len(d.GetFieldViolations()) > 0 {
				e.Field = d.GetFieldViolations()[0].GetField()
			}
		}
	}
	return e
}
