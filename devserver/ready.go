package devserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

const (
	pollInterval = 10 * time.Millisecond
	pollTimeout  = 2 * time.Second
)

// awaitFrontend returns when the frontend is healthy, knows each namespace, and
// history behind it owns its shard, so that the first call of a client works.
func awaitFrontend(ctx context.Context, address string, namespaces []string) (err error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("devserver: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	frontend := workflowservice.NewWorkflowServiceClient(conn)
	checks := []func(context.Context) error{func(ctx context.Context) error { return healthy(ctx, conn) }}
	for _, namespace := range namespaces {
		checks = append(checks, func(ctx context.Context) error { return serves(ctx, frontend, namespace) })
	}
	for _, check := range checks {
		if err := until(ctx, check); err != nil {
			return fmt.Errorf("devserver: the Temporal server does not answer: %w", err)
		}
	}
	return nil
}

func healthy(ctx context.Context, conn *grpc.ClientConn) error {
	reply, err := healthpb.NewHealthClient(conn).Check(ctx,
		&healthpb.HealthCheckRequest{Service: workflowservice.WorkflowService_ServiceDesc.ServiceName},
		grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if state := reply.GetStatus(); state != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("its frontend is %s", state)
	}
	return nil
}

// serves asks for a workflow that cannot exist: that it is not found is what
// only history itself can say.
func serves(ctx context.Context, frontend workflowservice.WorkflowServiceClient, namespace string) error {
	if _, err := frontend.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace}); err != nil {
		return err
	}
	_, err := frontend.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace,
		Execution: &commonpb.WorkflowExecution{WorkflowId: "gnomon-devserver-readiness"},
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

// until repeats check until it succeeds or ctx ends, and then says why it failed.
func until(ctx context.Context, check func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, pollTimeout)
		err := check(once)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
