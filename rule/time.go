package rule

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Duration says whether d is valid and in [least, most]. An absent one is 0.
func (v *Violations) Duration(field string, d *durationpb.Duration, least, most time.Duration) bool {
	if d != nil && !d.IsValid() {
		v.Add(field, InvalidDuration, "%s must be a valid duration", LastName(field))
		return false
	}
	if t := d.AsDuration(); t < least || t > most {
		v.Add(field, OutOfRange, "%s must be from %s to %s", LastName(field), readable(least), readable(most))
		return false
	}
	return true
}

// Timestamp says whether t is a moment of the years 1 to 9999.
func (v *Violations) Timestamp(field string, t *timestamppb.Timestamp) bool {
	if !t.IsValid() {
		v.Add(field, InvalidTimestamp, "%s must be a valid timestamp of the years 1 to 9999", LastName(field))
		return false
	}
	return true
}

// LastName returns the field's own name, for sentences.
func LastName(field string) string {
	return field[strings.LastIndexByte(field, '.')+1:]
}

// readable writes a limit as people would.
func readable(d time.Duration) string {
	if d == MaxDuration {
		return "100 years"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
