package serve

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// longestReconnect bounds the distance of two attempts to reach a Temporal that is
// down. The SDK's own 10 seconds would break F2, dispatch again within 5 s of the
// restart.
const longestReconnect = time.Second

// reconnecting is how a process finds Temporal again after an outage of any length.
func reconnecting() []grpc.DialOption {
	again := backoff.DefaultConfig
	again.BaseDelay, again.MaxDelay = 100*time.Millisecond, longestReconnect
	return []grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: 5 * time.Second}),
		grpc.WithChainUnaryInterceptor(pollsWait),
	}
}

// pollAgain lies between the tries of a poll that a Temporal in an outage refuses.
const pollAgain = 250 * time.Millisecond

// pollsWait has polls wait for the connection and for a server that has started and is
// not ready. Those that fail make the SDK poll ever less often, all pollers together, up
// to every 10 seconds, and it goes on so after the restart: with an outage every few
// seconds it did not poll at all any more. All other calls fail at once, so that callers
// hear of the outage.
func pollsWait(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	if !strings.Contains(method, "/Poll") {
		return call(ctx, method, req, reply, conn, o...)
	}
	o = append(o, grpc.WaitForReady(true))
	for {
		err := call(ctx, method, req, reply, conn, o...)
		if status.Code(err) != codes.Unavailable {
			return err
		}
		again := time.NewTimer(pollAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}
