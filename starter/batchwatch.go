package starter

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
)

// WatchBatch implements the service by looking at the store every WatchInterval. Only
// heads are compared: each change that is finished shows in its counts.
func (s *Batches) WatchBatch(req *gnomonv1.WatchBatchRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchBatchResponse]) error {
	ctx, id := stream.Context(), req.GetId()
	if err := invalid(idRule(id), ""); err != nil {
		return err
	}
	ticker := time.NewTicker(s.WatchInterval)
	defer ticker.Stop()
	var last *gnomonv1.Batch
	for {
		row, err := s.Store.GetBatchHead(ctx, id)
		if err != nil {
			return fromBatchStore(ctx, err, id)
		}
		if !proto.Equal(row.Batch, last) {
			last = row.Batch
			ended, err := s.tell(req, row.Batch, stream)
			if ended || err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fromContext(ctx.Err())
		}
	}
}

// tell sends one change, and says whether it is the last.
func (s *Batches) tell(req *gnomonv1.WatchBatchRequest, b *gnomonv1.Batch, stream grpc.ServerStreamingServer[gnomonv1.WatchBatchResponse]) (ended bool, err error) {
	if !req.GetOmitChanges() {
		row, err := s.Store.GetBatch(stream.Context(), b.GetId())
		if err != nil {
			return false, fromBatchStore(stream.Context(), err, b.GetId())
		}
		b = row.Batch
	}
	return batch.Ended(b.GetStatus().GetState()), stream.Send(&gnomonv1.WatchBatchResponse{Batch: b})
}
