package records

import (
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Codes of problems that a change has by itself. They are part of the public contract.
const (
	// CodeRequired: the field must be set.
	CodeRequired = "REQUIRED"
	// CodeUnsupported: not one of the values that are known.
	CodeUnsupported = "UNSUPPORTED"
	// CodeNotAllowed: the field does not go with the action.
	CodeNotAllowed = "NOT_ALLOWED"
	// CodeInvalidName: not a name that DNS, or a record of this type, can have.
	CodeInvalidName = "INVALID_NAME"
	// CodeInvalidData: not the data of a record of this type.
	CodeInvalidData = "INVALID_DATA"
	// CodeInvalidCharacter: a character that is not allowed there.
	CodeInvalidCharacter = "INVALID_CHARACTER"
	// CodeDuplicate: the same record twice in one set.
	CodeDuplicate = "DUPLICATE"
	// CodeTooLong: more bytes than allowed.
	CodeTooLong = "TOO_LONG"
	// CodeTooMany: more records than allowed.
	CodeTooMany = "TOO_MANY"
	// CodeOutOfRange: below the least or above the greatest value allowed.
	CodeOutOfRange = "OUT_OF_RANGE"
	// CodeNameOutsideZone: the name is not in the zone that the change names, or is
	// delegated to other servers.
	CodeNameOutsideZone = "NAME_OUTSIDE_ZONE"
)

type problems []*gnomonv1.Problem

// add notes a hard problem.
func (p *problems) add(code, field, message string, args ...any) {
	*p = append(*p, &gnomonv1.Problem{
		Severity: gnomonv1.Problem_HARD, Code: code, Field: field, Message: fmt.Sprintf(message, args...),
	})
}
