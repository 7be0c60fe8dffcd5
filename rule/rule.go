package rule

import "fmt"

// Rules that a value can break, as they appear in Violation.Rule. They are part of
// the public contract: programs decide by them.
const (
	// Required: the field, or a case of the oneof, must be set.
	Required = "REQUIRED"
	// InvalidTimestamp: not a timestamp of the years 1 to 9999.
	InvalidTimestamp = "INVALID_TIMESTAMP"
	// InvalidDuration: not a duration as protobuf defines it, whose parts are in
	// range and have one sign.
	InvalidDuration = "INVALID_DURATION"
	// TooEarly: start_at is too far in the past.
	TooEarly = "TOO_EARLY"
	// OutOfRange: below the least or above the greatest value allowed.
	OutOfRange = "OUT_OF_RANGE"
	// NotFinite: infinite or not a number.
	NotFinite = "NOT_FINITE"
	// BelowMinimum: max_restart_period is below min_restart_period.
	BelowMinimum = "BELOW_MINIMUM"
	// NotBelowPeriod: the jitter must be below the period.
	NotBelowPeriod = "NOT_BELOW_PERIOD"
	// TooLong: more bytes than allowed.
	TooLong = "TOO_LONG"
	// TooMany: more entries than allowed.
	TooMany = "TOO_MANY"
	// InvalidCharacter: a character that is not allowed there.
	InvalidCharacter = "INVALID_CHARACTER"
	// Duplicate: the same thing twice, such as two spellings of one header.
	Duplicate = "DUPLICATE"
	// InvalidCron: not a cron expression as the contract describes it.
	InvalidCron = "INVALID_CRON"
	// NoMatch: the cron expression has no match within five years.
	NoMatch = "NO_MATCH"
	// UnknownTimeZone: not an IANA time zone.
	UnknownTimeZone = "UNKNOWN_TIME_ZONE"
	// InvalidURL: not a URL of the kind that the contract describes.
	InvalidURL = "INVALID_URL"
	// Unsupported: not one of the values that are known.
	Unsupported = "UNSUPPORTED"
	// Reserved: the name is gnomon's, or HTTP's, to set.
	Reserved = "RESERVED"
	// NotAllowed: this installation does not allow it.
	NotAllowed = "NOT_ALLOWED"
)

// Violation is one thing that is wrong with what a client sent.
type Violation struct {
	// Field is its path within the message in proto names, such as
	// "spec.start_policy.start_at" or `meta.labels["Team"]`. A oneof that is not set is
	// named by the message that holds it. The caller puts its own prefix before it.
	Field string
	// Rule is one of the constants.
	Rule string
	// Description is a sentence for people that names the rule's numbers. It never
	// shows a value that may be secret: a URL, a header's value, a payload.
	Description string
}

// Violations gathers what is wrong, in order.
type Violations []Violation

// Add notes one thing.
func (v *Violations) Add(field, rule, description string, args ...any) {
	*v = append(*v, Violation{Field: field, Rule: rule, Description: fmt.Sprintf(description, args...)})
}
