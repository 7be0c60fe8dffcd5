package starter

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/action"
)

// Sizes of a preview.
const (
	defaultPreviewCount = 10
	maxPreviewCount     = 1000
)

// preview answers PreviewOccurrences for a spec that has been validated and
// normalised: the one of the request, or the one of the action it names. Id is the
// action's, which the jitter depends on; it may be empty. Now is where the preview
// begins if the request does not say.
func preview(req *gnomonv1.PreviewOccurrencesRequest, id string, spec *gnomonv1.Spec, now time.Time) (*gnomonv1.PreviewOccurrencesResponse, error) {
	count, after, err := previewRange(req, now)
	if err != nil {
		return nil, err
	}
	reply := &gnomonv1.PreviewOccurrencesResponse{}
	for _, due := range action.Preview(spec, id, after, count) {
		reply.Occurrences = append(reply.Occurrences, timestamppb.New(due))
	}
	return reply, nil
}

// previewRange is how many due times are wanted, and from when.
func previewRange(req *gnomonv1.PreviewOccurrencesRequest, now time.Time) (int, time.Time, error) {
	count := int(req.GetCount())
	if count < 0 || count > maxPreviewCount {
		return 0, time.Time{}, invalidField("count", action.RuleOutOfRange, fmt.Sprintf("must be 0 to %d, is %d", maxPreviewCount, count))
	}
	if count == 0 {
		count = defaultPreviewCount
	}
	if req.GetAfter() == nil {
		return count, now, nil
	}
	if err := req.GetAfter().CheckValid(); err != nil {
		return 0, time.Time{}, invalidField("after", action.RuleInvalidTimestamp, "must be a time of the years 1 to 9999")
	}
	return count, req.GetAfter().AsTime(), nil
}
