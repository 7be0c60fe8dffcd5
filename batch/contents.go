package batch

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Contents is what a client may say of a batch: a copy without what is gnomon's to
// write.
func Contents(b *gnomonv1.Batch) *gnomonv1.Batch {
	n := &gnomonv1.Batch{
		Id: b.GetId(), ScheduledAt: b.GetScheduledAt(), Labels: b.GetLabels(), Comment: b.GetComment(),
		Changes: make([]*gnomonv1.Change, len(b.GetChanges())),
	}
	for i, c := range b.GetChanges() {
		n.Changes[i] = &gnomonv1.Change{Change: c.GetChange()}
	}
	return n
}

// Normalise returns a deep copy of the contents with their time cut to whole
// microseconds, the precision of the store. Normalising twice changes nothing.
func Normalise(b *gnomonv1.Batch) *gnomonv1.Batch {
	n := proto.CloneOf(Contents(b))
	if at := n.GetScheduledAt(); at.IsValid() {
		n.ScheduledAt = Stamp(at.AsTime())
	}
	return n
}

// Stamp is a time as it is kept: in UTC and whole microseconds.
func Stamp(t time.Time) *timestamppb.Timestamp {
	return timestamppb.New(t.Truncate(time.Microsecond))
}
