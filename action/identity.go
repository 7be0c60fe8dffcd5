package action

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// IdempotencyKey returns <id>/<guid>/<occurrence>, the occurrence as RFC 3339 in
// UTC with as many decimals as it has. It is the same for all attempts of one
// occurrence and differs between occurrences, between specs of one id and between
// ids, since neither an id nor a Guid contains a slash. The other side can drop
// by it what reaches it twice, for execution is at least once (M-04, M-59).
func IdempotencyKey(m *gnomonv1.Meta, occurrence time.Time) string {
	return m.GetId() + "/" + m.GetGuid() + "/" + occurrence.UTC().Format(time.RFC3339Nano)
}
