package serve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// F2: a poll outlives an outage without the SDK's hearing of it; every other call, and
// every other error, is told at once.
func TestPollsOutliveAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := 40
		outage := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			if down--; down >= 0 {
				return status.Error(codes.Unavailable, "down")
			}
			return nil
		}
		began := time.Now()
		require.NoError(t, pollsWait(t.Context(), "/temporal.api.workflowservice.v1.WorkflowService/PollActivityTaskQueue", nil, nil, nil, outage))
		require.Equal(t, 40*pollAgain, time.Since(began), "it asks again at a steady pace")

		down = 1
		err := pollsWait(t.Context(), "/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution", nil, nil, nil, outage)
		require.Equal(t, codes.Unavailable, status.Code(err), "a caller hears of the outage")

		refused := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			return status.Error(codes.PermissionDenied, "no")
		}
		err = pollsWait(t.Context(), "/x/PollWorkflowTaskQueue", nil, nil, nil, refused)
		require.Equal(t, codes.PermissionDenied, status.Code(err))
	})
}

// A worker that stops does not wait for Temporal's return.
func TestPollEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		down := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			return status.Error(codes.Unavailable, "down")
		}
		began := time.Now()
		require.Error(t, pollsWait(ctx, "/x/PollWorkflowTaskQueue", nil, nil, nil, down))
		require.Equal(t, time.Minute, time.Since(began))
	})
}
