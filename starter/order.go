package starter

import (
	"fmt"

	"go.einride.tech/aip/ordering"

	"gnomon/action"
	"gnomon/store"
)

// maxOrderBytes bounds order_by; the longest that is known has 17.
const maxOrderBytes = 100

// readOrder reads ListActionsRequest.order_by into q: "scheduled_at" (also where
// it is empty) or "id", with " desc" or " asc" if wanted. Anything else is
// INVALID_ARGUMENT on the field "order_by", and q is as it was.
func readOrder(orderBy string, q *store.ActionQuery) error {
	if len(orderBy) > maxOrderBytes {
		return badOrder(action.RuleTooLong, fmt.Sprintf("must be at most %d bytes, is %d", maxOrderBytes, len(orderBy)))
	}
	var order ordering.OrderBy
	if err := order.UnmarshalString(orderBy); err != nil {
		return badOrder(ruleSyntax, "must be a field, followed by \" desc\" if wanted")
	}
	switch len(order.Fields) {
	case 0:
		q.Order, q.Descending = store.ByScheduledAt, false
		return nil
	case 1:
	default:
		return badOrder(action.RuleUnsupported, "must be one field; ties are broken by id")
	}
	field := order.Fields[0]
	switch field.Path {
	case "scheduled_at":
		q.Order = store.ByScheduledAt
	case "id":
		q.Order = store.ByID
	default:
		return badOrder(ruleUnknownField, fmt.Sprintf("unknown field %q; known are scheduled_at and id", clip(field.Path, 64)))
	}
	q.Descending = field.Desc
	return nil
}

func badOrder(rule, description string) error {
	return invalidField("order_by", rule, description)
}
