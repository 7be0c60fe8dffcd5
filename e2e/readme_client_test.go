package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// documentedClient is the Go of docs/api.md.
func documentedClient(ctx context.Context, address string, check func(*gnomonv1.ScheduledAction)) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	actions := gnomonv1.NewActionServiceClient(conn)
	reply, err := actions.CreateAction(ctx, &gnomonv1.CreateActionRequest{
		RequestId: "r-3",
		Action: &gnomonv1.ScheduledAction{
			Meta: &gnomonv1.Meta{Id: "from-go"},
			Spec: &gnomonv1.Spec{
				StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(time.Now().Add(time.Hour))},
				SendPolicy: &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{
					SendOncePolicy: &gnomonv1.SendOncePolicy{},
				}},
				Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
					HttpRequest: &gnomonv1.HttpRequest{Url: "https://example.com/orders"},
				}},
			},
		},
	})
	if err == nil {
		check(reply)
	}
	return err
}

// The Go of the documentation works.
func TestDocumentedClientWorks(t *testing.T) {
	t.Parallel()
	_, at := runDev(t, "--ephemeral")
	created := false
	require.NoError(t, documentedClient(t.Context(), at.GRPC, func(a *gnomonv1.ScheduledAction) {
		created = a.GetStatus().GetState() == gnomonv1.Status_SCHEDULED
	}))
	require.True(t, created)
}
