package performers

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// A call's own time limit (HttpRequest.timeout, SendTechnicalPush.timeout).
const (
	defaultLimit = 10 * time.Second
	maxLimit     = 10 * time.Minute
)

// timeLimit is the limit that a spec's timeout stands for.
func timeLimit(spec *durationpb.Duration) time.Duration {
	if d := spec.AsDuration(); d > 0 {
		return min(d, maxLimit)
	}
	return defaultLimit
}
