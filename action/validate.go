package action

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Rules that a value can break, as they appear in Violation.Rule. They are part of
// the public contract: programs decide by them.
const (
	// RuleRequired: the field, or a case of the oneof, must be set.
	RuleRequired = "REQUIRED"
	// RuleInvalidTimestamp: not a timestamp of the years 1 to 9999.
	RuleInvalidTimestamp = "INVALID_TIMESTAMP"
	// RuleInvalidDuration: not a duration as protobuf defines it, whose parts are in
	// range and have one sign.
	RuleInvalidDuration = "INVALID_DURATION"
	// RuleTooEarly: start_at is too far in the past.
	RuleTooEarly = "TOO_EARLY"
	// RuleOutOfRange: below the least or above the greatest value allowed.
	RuleOutOfRange = "OUT_OF_RANGE"
	// RuleNotFinite: infinite or not a number.
	RuleNotFinite = "NOT_FINITE"
	// RuleBelowMinimum: max_restart_period is below min_restart_period.
	RuleBelowMinimum = "BELOW_MINIMUM"
	// RuleNotBelowPeriod: the jitter must be below the period.
	RuleNotBelowPeriod = "NOT_BELOW_PERIOD"
	// RuleTooLong: more bytes than allowed.
	RuleTooLong = "TOO_LONG"
	// RuleTooMany: more entries than allowed.
	RuleTooMany = "TOO_MANY"
	// RuleInvalidCharacter: a character that is not allowed there.
	RuleInvalidCharacter = "INVALID_CHARACTER"
	// RuleDuplicate: the same thing twice, such as two spellings of one header.
	RuleDuplicate = "DUPLICATE"
	// RuleInvalidCron: not a cron expression as the contract describes it.
	RuleInvalidCron = "INVALID_CRON"
	// RuleNoMatch: the cron expression has no match within five years.
	RuleNoMatch = "NO_MATCH"
	// RuleUnknownTimeZone: not an IANA time zone.
	RuleUnknownTimeZone = "UNKNOWN_TIME_ZONE"
	// RuleInvalidURL: not a URL of the kind that the contract describes.
	RuleInvalidURL = "INVALID_URL"
	// RuleUnsupported: not one of the values that are known.
	RuleUnsupported = "UNSUPPORTED"
	// RuleReserved: the name is gnomon's, or HTTP's, to set.
	RuleReserved = "RESERVED"
	// RuleNotAllowed: this installation does not allow it.
	RuleNotAllowed = "NOT_ALLOWED"
)

// Violation is one thing that is wrong with a ScheduledAction.
type Violation struct {
	// Field is its path within the ScheduledAction in proto names, such as
	// "spec.start_policy.start_at" or `meta.labels["Team"]`. A oneof that is not set
	// is named by the message that holds it. The caller puts its own prefix before it.
	Field string
	// Rule is one of the Rule constants.
	Rule string
	// Description is a sentence for people that names the rule's numbers. It never
	// shows a value that may be secret: a URL, a header's value, a payload.
	Description string
}

// Options are what an installation allows.
type Options struct {
	// AllowMock admits the mock action, which exists to test gnomon itself (M-03).
	AllowMock bool
}

// Validate returns all that is wrong with the action, in the order of the fields in
// the contract, and nothing if it may be accepted. What the caller may not write
// (guid, times of Meta, Status) is not looked at. A deadline before start_at is no
// violation: such an action ends without an attempt (M-16).
//
// Now is the moment that start_at is compared with (M-11). The zero time leaves this
// one comparison out, for a spec that was accepted before and is read again later.
//
// What Validate accepts it accepts again after Normalise, with the same arguments.
func Validate(a *gnomonv1.ScheduledAction, now time.Time, o Options) []Violation {
	var v violations
	v.id("meta.id", a.GetMeta().GetId())
	v.labels("meta.labels", a.GetMeta().GetLabels())
	v.spec(a.GetSpec(), now, o)
	return v
}

// ValidateSpec returns what is wrong with the spec, as Validate does; fields begin
// with "spec" too.
func ValidateSpec(s *gnomonv1.Spec, now time.Time, o Options) []Violation {
	var v violations
	v.spec(s, now, o)
	return v
}

// violations gathers what is wrong, in order.
type violations []Violation

func (v *violations) add(field, rule, description string, args ...any) {
	*v = append(*v, Violation{Field: field, Rule: rule, Description: fmt.Sprintf(description, args...)})
}

func (v *violations) spec(s *gnomonv1.Spec, now time.Time, o Options) {
	if s == nil {
		v.add("spec", RuleRequired, "spec must be set")
		return
	}
	if size := storedSize(s); size > MaxSpecSize {
		v.add("spec", RuleTooLong, "spec is %d bytes encoded, at most %d are allowed", size, MaxSpecSize)
	}
	v.startPolicy(s, now)
	v.sendPolicy(s)
	v.action(s.GetAction(), o)
}

// storedSize returns the encoded size that the spec has with its defaults filled in,
// since that is what is kept, sent and validated again. Defaults less than double a
// spec of any size that matters, so small ones need no copy.
func storedSize(s *gnomonv1.Spec) int {
	size := proto.Size(s)
	if size <= MaxSpecSize/2 || size > MaxSpecSize {
		return size
	}
	return proto.Size(Normalise(&gnomonv1.ScheduledAction{Spec: s}).GetSpec())
}
