package starter

import (
	"fmt"

	"go.einride.tech/aip/ordering"

	"gnomon/action"
	"gnomon/store"
)

// maxOrderBytes bounds order_by; the longest that is known has 17.
const maxOrderBytes = 100

// readOrder reads order_by of a list: "scheduled_at" (also where it is empty) or "id", with
// " desc" or " asc" if wanted. Anything else is INVALID_ARGUMENT on the field "order_by".
func readOrder(orderBy string) (order store.ActionOrder, descending bool, err error) {
	if len(orderBy) > maxOrderBytes {
		return 0, false, badOrder(action.RuleTooLong, fmt.Sprintf("must be at most %d bytes, is %d", maxOrderBytes, len(orderBy)))
	}
	var by ordering.OrderBy
	if err := by.UnmarshalString(orderBy); err != nil {
		return 0, false, badOrder(ruleSyntax, "must be a field, followed by \" desc\" if wanted")
	}
	switch len(by.Fields) {
	case 0:
		return store.ByScheduledAt, false, nil
	case 1:
	default:
		return 0, false, badOrder(action.RuleUnsupported, "must be one field; ties are broken by id")
	}
	field := by.Fields[0]
	switch field.Path {
	case "scheduled_at":
		return store.ByScheduledAt, field.Desc, nil
	case "id":
		return store.ByID, field.Desc, nil
	default:
		return 0, false, badOrder(ruleUnknownField, fmt.Sprintf("unknown field %q; known are scheduled_at and id", clip(field.Path, 64)))
	}
}

func badOrder(rule, description string) error {
	return invalidField("order_by", rule, description)
}
