package store

import (
	"fmt"
	"strconv"
	"time"
)

// Revision orders all writes of one id, totally, whatever order they arrive in.
// Incarnation is when the action's workflow first started, by Temporal's clock;
// Sequence is handed out by the workflow; Attempt and Phase order the writes of
// the attempts of one occurrence. The zero Revision is older than any other.
type Revision struct {
	Incarnation time.Time
	Sequence    uint64
	Attempt     uint32
	Phase       uint32
}

// Phases of the writes within one attempt.
const (
	PhaseWorkflow uint32 = iota // written for the workflow, not by an attempt
	PhaseCurrent                // the attempt has begun
	PhaseLast                   // the attempt has ended
)

// Encode gives a text of fixed length whose order as bytes is the order of the
// revisions. Times before 1970 encode as 1970.
func (r Revision) Encode() string {
	var nanos int64
	if !r.Incarnation.IsZero() {
		nanos = max(0, r.Incarnation.UnixNano())
	}
	return fmt.Sprintf("%016x%016x%08x%08x", nanos, r.Sequence, r.Attempt, r.Phase)
}

// DecodeRevision is the inverse of Encode, whose text is four hexadecimal numbers
// of 16, 16, 8 and 8 digits.
func DecodeRevision(s string) (Revision, error) {
	if len(s) != 48 {
		return Revision{}, fmt.Errorf("must have 48 digits, not %d", len(s))
	}
	var parts [4]uint64
	for i, span := range [...][2]int{{0, 16}, {16, 32}, {32, 40}, {40, 48}} {
		n, err := strconv.ParseUint(s[span[0]:span[1]], 16, 64)
		if err != nil {
			return Revision{}, fmt.Errorf("must be hexadecimal: %w", err)
		}
		parts[i] = n
	}
	r := Revision{Sequence: parts[1], Attempt: uint32(parts[2]), Phase: uint32(parts[3])}
	if parts[0] != 0 { // 0 is how the zero time is encoded
		r.Incarnation = time.Unix(0, int64(parts[0])).UTC()
	}
	return r, nil
}
