package starter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// issue 2, 6: order by due time or id.
func TestOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]store.ActionQuery{
		"":                  {Order: store.ByScheduledAt},
		"scheduled_at":      {Order: store.ByScheduledAt},
		"scheduled_at desc": {Order: store.ByScheduledAt, Descending: true},
		"id":                {Order: store.ByID},
		" id  asc ":         {Order: store.ByID},
		"id desc":           {Order: store.ByID, Descending: true},
	} {
		order, descending, err := readOrder(text)
		require.NoError(t, err, text)
		require.Equal(t, want, store.ActionQuery{Order: order, Descending: descending}, text)
	}
}
