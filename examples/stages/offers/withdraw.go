package offers

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Exposure is how long an offer is shown.
const Exposure = 180 * 24 * time.Hour

// statusWithdrawn is the status that ends an offer's exposure.
const statusWithdrawn = "withdrawn"

// Withdraw withdraws an offer after 180 days of exposure (seed 004, example 1). Its state
// is the moment at which the exposure began, a google.protobuf.Timestamp: an offer that
// its owner brings back, by another status, is exposed for 180 days again.
type Withdraw struct{}

// ShouldProcess arms the timer for the end of the exposure, unless something is to be
// noted first: an exposure that began or ended.
func (Withdraw) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	began, known := exposed(r.GetState())
	if known == withdrawn(r.GetEntity()) {
		return answer(true), nil
	}
	if !known {
		return answer(false), nil
	}
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: timestamppb.New(began.Add(Exposure))}}, nil
}

// Process notes when the exposure began, withdraws when its time is over, and plans the
// next visit.
func (Withdraw) Process(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	began, known := exposed(r.GetState())
	if withdrawn(r.GetEntity()) {
		// An empty state: the next exposure begins anew. No timer any more.
		return keep(&gnomonv1.ProcessResponse{}, time.Time{}), nil
	}
	if !known {
		// Both are the same however often this is called; the present is not.
		began = r.GetEntity().GetCreateTime().AsTime()
		if r.GetState().GetState() != nil {
			began = r.GetEntity().GetUpdateTime().AsTime()
		}
	}
	if end := began.Add(Exposure); time.Now().Before(end) {
		return keep(&gnomonv1.ProcessResponse{Timer: timestamppb.New(end)}, began), nil
	}
	return keep(patch("status", structpb.NewStringValue(statusWithdrawn)), time.Time{}), nil
}

func withdrawn(e *gnomonv1.Entity) bool {
	return field(e, "status").GetStringValue() == statusWithdrawn
}

// exposed is when the exposure began, where that is known.
func exposed(s *gnomonv1.StageState) (time.Time, bool) {
	began := &timestamppb.Timestamp{}
	if s.GetState() == nil || s.GetState().UnmarshalTo(began) != nil || began.GetSeconds() == 0 {
		return time.Time{}, false
	}
	return began.AsTime(), true
}

// keep keeps the moment as the state; the zero one is that of no exposure.
func keep(r *gnomonv1.ProcessResponse, began time.Time) *gnomonv1.ProcessResponse {
	kept := &timestamppb.Timestamp{}
	if !began.IsZero() {
		kept = timestamppb.New(began)
	}
	r.State = &anypb.Any{}
	// A timestamp always marshals.
	_ = r.GetState().MarshalFrom(kept)
	return r
}
