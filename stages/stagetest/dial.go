package stagetest

import (
	"context"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// Dial gives the stage that a server at host:port implements, until the test ends. The
// stages of a file, with TLS and all, come from stages.Load.
func Dial(t T, address string) stages.Stage {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return called{gnomonv1.NewStageServiceClient(conn)}
}

// called is a stage behind a connection.
type called struct{ client gnomonv1.StageServiceClient }

// ShouldProcess implements stages.Stage. It waits for a server that is starting.
func (c called) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return c.client.ShouldProcess(ctx, r, grpc.WaitForReady(true))
}

// Process implements stages.Stage.
func (c called) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return c.client.Process(ctx, r, grpc.WaitForReady(true))
}

// OnSaved implements stages.Saver.
func (c called) OnSaved(ctx context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	return c.client.OnSaved(ctx, r, grpc.WaitForReady(true))
}
