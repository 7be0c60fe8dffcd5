package cli

import (
	"context"

	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// echo answers every update with the action as it stands.
type echo struct {
	gnomonv1.ActionServiceClient
	stands *gnomonv1.ScheduledAction
}

func (e echo) UpdateAction(context.Context, *gnomonv1.UpdateActionRequest, ...grpc.CallOption) (*gnomonv1.ScheduledAction, error) {
	return e.stands, nil
}
