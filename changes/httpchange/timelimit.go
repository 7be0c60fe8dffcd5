package httpchange

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// TimeLimit implements changes.Kind: the change's own limit.
func (*Kind) TimeLimit(c *gnomonv1.Change) time.Duration { return limit(c.GetHttpChange()) }
