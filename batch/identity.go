package batch

import "fmt"

// Etag is the etag of a batch whose head has this revision.
func Etag(uid string, revision uint64) string { return fmt.Sprintf("%.8s-%d", uid, revision) }

// IdempotencyKey is the key of a change, the same in every attempt to apply it, in all
// rounds: what was applied in doubt before a review must not be applied again after it
// (V-11).
func IdempotencyKey(id, uid string, index int) string {
	return fmt.Sprintf("%s/%s/%d", id, uid, index)
}

// NoticeKey is the same however often a notice is sent: once for each event of each
// round (V-17).
func NoticeKey(id, uid string, round uint32, event string) string {
	return fmt.Sprintf("%s/%s/%d/%s", id, uid, round, event)
}
