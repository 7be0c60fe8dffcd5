package stages_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a stage behind gRPC; methods that are nil are not implemented.
type server struct {
	gnomonv1.UnimplementedStageServiceServer

	should  func(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	process func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
}

func (s server) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	if s.should == nil {
		return s.UnimplementedStageServiceServer.ShouldProcess(ctx, r)
	}
	return s.should(ctx, r)
}

func (s server) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	if s.process == nil {
		return s.UnimplementedStageServiceServer.Process(ctx, r)
	}
	return s.process(ctx, r)
}

// serve serves it at an address and gives that, and what stops it.
func (s server) serve(t *testing.T, address string, options ...grpc.ServerOption) (at string, stop func()) {
	t.Helper()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	g := grpc.NewServer(options...)
	gnomonv1.RegisterStageServiceServer(g, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	stop = sync.OnceFunc(func() {
		g.Stop()
		serving.Wait()
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}
