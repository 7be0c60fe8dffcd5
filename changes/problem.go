package changes

import (
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Hard is a problem of the change at index that keeps it from being applied. Field is
// its path within the change, such as "dns_record.data[0]", or empty.
func Hard(index int, code, field, message string, args ...any) *gnomonv1.Problem {
	return problem(gnomonv1.Problem_HARD, index, code, field, message, args)
}

// Soft is a problem that a person should look at before the change is applied.
func Soft(index int, code, field, message string, args ...any) *gnomonv1.Problem {
	return problem(gnomonv1.Problem_SOFT, index, code, field, message, args)
}

func problem(severity gnomonv1.Problem_Severity, index int, code, field, message string, args []any) *gnomonv1.Problem {
	at := int32(index)
	return &gnomonv1.Problem{
		ChangeIndex: &at, Severity: severity, Code: code, Field: field, Message: fmt.Sprintf(message, args...),
	}
}
