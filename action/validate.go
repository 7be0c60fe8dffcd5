package action

import (
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// Rules that a value can break, as they appear in Violation.Rule: those of package rule.
// They are part of the public contract: programs decide by them.
const (
	RuleRequired         = rule.Required
	RuleInvalidTimestamp = rule.InvalidTimestamp
	RuleInvalidDuration  = rule.InvalidDuration
	RuleTooEarly         = rule.TooEarly
	RuleOutOfRange       = rule.OutOfRange
	RuleNotFinite        = rule.NotFinite
	RuleBelowMinimum     = rule.BelowMinimum
	RuleNotBelowPeriod   = rule.NotBelowPeriod
	RuleTooLong          = rule.TooLong
	RuleTooMany          = rule.TooMany
	RuleInvalidCharacter = rule.InvalidCharacter
	RuleDuplicate        = rule.Duplicate
	RuleInvalidCron      = rule.InvalidCron
	RuleNoMatch          = rule.NoMatch
	RuleUnknownTimeZone  = rule.UnknownTimeZone
	RuleInvalidURL       = rule.InvalidURL
	RuleUnsupported      = rule.Unsupported
	RuleReserved         = rule.Reserved
	RuleNotAllowed       = rule.NotAllowed
)

// Violation is one thing that is wrong with a ScheduledAction.
type Violation = rule.Violation

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
	v.shared().ID("meta.id", a.GetMeta().GetId())
	v.shared().Labels("meta.labels", a.GetMeta().GetLabels())
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

// shared are the rules that other kinds of work have too.
func (v *violations) shared() *rule.Violations { return (*rule.Violations)(v) }

func (v *violations) add(field, rule, description string, args ...any) {
	v.shared().Add(field, rule, description, args...)
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
