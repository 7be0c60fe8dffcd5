package offers

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Angles are what a photo may show, in the order in which people want to see them.
func Angles() []string {
	return []string{"front", "living-room", "kitchen", "bedroom", "bathroom", "plan"}
}

// Photos sorts an offer's photos by their angle (seed 004, example 4); those of no known
// angle come last, and what is equal stays in its order.
type Photos struct{}

// ShouldProcess wants photos that are not in order.
func (Photos) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	_, unordered := ordered(r.GetEntity())
	return answer(unordered), nil
}

// Process puts them in order.
func (Photos) Process(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	photos, unordered := ordered(r.GetEntity())
	if !unordered {
		return &gnomonv1.ProcessResponse{}, nil
	}
	return patch("photos", structpb.NewListValue(photos)), nil
}

// ordered are the photos in order, and whether they were not.
func ordered(e *gnomonv1.Entity) (*structpb.ListValue, bool) {
	photos := field(e, "photos").GetListValue()
	if photos == nil {
		return nil, false
	}
	sorted := proto.CloneOf(photos)
	slices.SortStableFunc(sorted.GetValues(), func(a, b *structpb.Value) int { return rank(a) - rank(b) })
	return sorted, !proto.Equal(photos, sorted)
}

func rank(photo *structpb.Value) int {
	if at := slices.Index(Angles(), photo.GetStructValue().GetFields()["angle"].GetStringValue()); at >= 0 {
		return at
	}
	return len(Angles())
}
