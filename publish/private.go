package publish

import (
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// withoutState is a record for all: no stage's state is in it (G-13).
func withoutState(r *gnomonv1.SavedRecord) *gnomonv1.SavedRecord {
	if r.GetState() == nil {
		return r
	}
	r = proto.CloneOf(r)
	r.State = nil
	return r
}

// forStage is a record as a stage may see it: with the state only if that is its own
// (G-13).
func forStage(stage string, r *gnomonv1.SavedRecord) *gnomonv1.SavedRecord {
	if r.GetStage() == stage {
		return r
	}
	return withoutState(r)
}
