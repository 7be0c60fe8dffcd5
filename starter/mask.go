package starter

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// The parts of an action that an update replaces, as updatePaths names them.
const (
	pathSpec   = "spec"
	pathLabels = "meta.labels"
)

// updatePaths reads UpdateActionRequest.update_mask: which of pathSpec and
// pathLabels the request replaces, without doubles. "labels" is short for
// "meta.labels"; an absent or empty mask and "*" mean both. A path within the spec
// is refused: specs are replaced whole (AIP-134 allows it, M-07 needs it). Over
// REST the mask is filled in from what the body holds before it comes here.
func updatePaths(mask *fieldmaskpb.FieldMask) ([]string, error) {
	if len(mask.GetPaths()) == 0 {
		return []string{pathSpec, pathLabels}, nil
	}
	var paths []string
	for _, path := range mask.GetPaths() {
		switch path {
		case pathSpec:
			paths = append(paths, pathSpec)
		case pathLabels, "labels":
			paths = append(paths, pathLabels)
		case "*":
			paths = append(paths, pathSpec, pathLabels)
		default:
			return nil, invalidField("update_mask", ruleUnknownPath,
				fmt.Sprintf("unknown path %q; known are spec and meta.labels, each of which is replaced whole", clip(path, 64)))
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	slices.Reverse(paths)
	return paths, nil
}
