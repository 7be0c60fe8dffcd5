package batch

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// Validate returns all that is wrong with the batch, in the order of the fields in the
// contract, and nothing if it may be validated against the world. What the caller may
// not write is not looked at. Fields are paths within the Batch, such as
// "changes[3].http_change.apply_url". Now is what scheduled_at must lie after (V-20).
//
// What Validate accepts it accepts again after Normalise, with the same arguments.
func Validate(b *gnomonv1.Batch, now time.Time) []rule.Violation {
	var v violations
	v.shared().ID("id", b.GetId())
	v.scheduledAt("scheduled_at", b.GetScheduledAt(), now)
	switch n := len(b.GetChanges()); {
	case n == 0: // V-10
		v.add("changes", rule.Required, "changes must hold at least one change")
	case n > MaxChanges:
		v.add("changes", rule.TooMany, "there are %d changes, at most %d are allowed", n, MaxChanges)
	default:
		for i, c := range b.GetChanges() {
			v.change(ChangePath(i), c)
		}
	}
	if size := proto.Size(Contents(b)); size > MaxSize {
		v.add("", rule.TooLong, "the batch is %d bytes encoded, at most %d are allowed", size, MaxSize)
	}
	v.shared().Labels("labels", b.GetLabels())
	v.comment(b.GetComment())
	return v
}

// ValidateReschedule returns what is wrong with a new time, where one is wanted, and
// with what is said about it.
func ValidateReschedule(at *timestamppb.Timestamp, comment string, now time.Time) []rule.Violation {
	var v violations
	v.scheduledAt("scheduled_at", at, now)
	v.comment(comment)
	return v
}

// ValidateComment returns what is wrong with what a person says about a decision.
func ValidateComment(comment string) []rule.Violation {
	var v violations
	v.comment(comment)
	return v
}

// ChangePath is the path of a change within its batch.
func ChangePath(index int) string { return fmt.Sprintf("changes[%d]", index) }

// violations gathers what is wrong, in order.
type violations []rule.Violation

// shared are the rules that other kinds of work have too.
func (v *violations) shared() *rule.Violations { return (*rule.Violations)(v) }

func (v *violations) add(field, broken, description string, args ...any) {
	v.shared().Add(field, broken, description, args...)
}

// scheduledAt compares in whole microseconds, which is what is kept.
func (v *violations) scheduledAt(field string, at *timestamppb.Timestamp, now time.Time) {
	switch {
	case at == nil:
		v.add(field, rule.Required, "scheduled_at must be set")
	case !v.shared().Timestamp(field, at):
	case at.AsTime().Before(time.Unix(0, 0)):
		v.add(field, rule.TooEarly, "scheduled_at must lie in the future")
	case !now.IsZero() && !at.AsTime().Truncate(time.Microsecond).After(now):
		v.add(field, rule.TooEarly, "scheduled_at must lie in the future")
	}
}

func (v *violations) comment(comment string) {
	if size := len(comment); size > MaxCommentLength {
		v.add("comment", rule.TooLong, "comment is %d bytes long, at most %d are allowed", size, MaxCommentLength)
	}
}

func (v *violations) change(field string, c *gnomonv1.Change) {
	switch change := c.GetChange().(type) {
	case *gnomonv1.Change_DnsRecord:
		v.dnsRecord(field+".dns_record", change.DnsRecord)
	case *gnomonv1.Change_HttpChange:
		v.httpChange(field+".http_change", change.HttpChange)
	default:
		v.add(field, rule.Required, "one of dns_record and http_change must be set")
	}
}
