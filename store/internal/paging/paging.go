// Package paging is how lists say an order, in the statements of either store.
package paging

import (
	"fmt"

	"gnomon/store"
)

// Place is how a statement says an order: where a page begins after a row, and the
// ORDER BY.
type Place struct{ After, Order string }

// Places are those of one kind of row.
type Places struct{ ByID, ByIDDesc, ByDue, ByDueDesc Place }

// In is the place of an order. query names the query in the error for an order that
// there is not.
func (p Places) In(query string, order store.ActionOrder, descending bool) (Place, error) {
	switch {
	case order == store.ByID && descending:
		return p.ByIDDesc, nil
	case order == store.ByID:
		return p.ByID, nil
	case order == store.ByScheduledAt && descending:
		return p.ByDueDesc, nil
	case order == store.ByScheduledAt:
		return p.ByDue, nil
	default:
		return Place{}, fmt.Errorf("%s.Order must be ByScheduledAt or ByID, but is %d", query, order)
	}
}
