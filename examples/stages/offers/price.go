package offers

import (
	"context"
	"math"

	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// predictedPrice is the field that Price writes.
const predictedPrice = "predictedPrice"

// Price adds what a flat of this size is likely to cost (seed 004, example 3). The formula
// stands for a model: it has no state, and is asked about changes of area and rooms only,
// by fields in the declaration.
type Price struct{}

// ShouldProcess wants what is not priced as it should be.
func (Price) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return answer(mispriced(r.GetEntity())), nil
}

// Process sets the price.
func (Price) Process(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	if !mispriced(r.GetEntity()) {
		return &gnomonv1.ProcessResponse{}, nil
	}
	if price, ok := predict(r.GetEntity()); ok {
		return patch(predictedPrice, structpb.NewNumberValue(price)), nil
	}
	return patch(predictedPrice, structpb.NewNullValue()), nil
}

func mispriced(e *gnomonv1.Entity) bool {
	want, predictable := predict(e)
	got, priced := e.GetContent().GetFields()[predictedPrice]
	if !predictable {
		return priced
	}
	return got.GetNumberValue() != want
}

// predict is the price, to the nearest 1,000; there is none without an area.
func predict(e *gnomonv1.Entity) (float64, bool) {
	area, rooms := field(e, "area").GetNumberValue(), field(e, "rooms").GetNumberValue()
	if area <= 0 || area > 1e6 || rooms < 0 || rooms > 1000 {
		return 0, false
	}
	return math.Round(area*(150+10*rooms)) * 1000, true
}
