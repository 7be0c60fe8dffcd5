package starter

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// WatchAction implements the service by looking at the store every WatchInterval:
// states that lasted less may be left out, the last one never is.
func (s *Actions) WatchAction(req *gnomonv1.WatchActionRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchActionResponse]) error {
	ctx := stream.Context()
	if err := invalid(action.ValidateID("id", req.GetId()), ""); err != nil {
		return err
	}
	ticker := time.NewTicker(s.WatchInterval)
	defer ticker.Stop()
	var last *gnomonv1.ScheduledAction
	for {
		a, err := s.watched(stream, req.GetId(), last != nil)
		if err != nil {
			return err
		}
		if last == nil || !proto.Equal(a, last) {
			if err := stream.Send(&gnomonv1.WatchActionResponse{Action: a}); err != nil {
				return err
			}
			last = a
		}
		if life.Ended(a.GetStatus()) {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fromContext(ctx.Err())
		}
	}
}

// watched is the action as it stands, also one that was deleted while it was being
// watched.
func (s *Actions) watched(stream grpc.ServerStream, id string, seen bool) (*gnomonv1.ScheduledAction, error) {
	ctx := stream.Context()
	if row, err := s.Store.GetAction(ctx, id); err == nil && (seen || !row.Tombstone) {
		return row.Action, nil
	}
	return s.GetAction(ctx, &gnomonv1.GetActionRequest{Id: id})
}
