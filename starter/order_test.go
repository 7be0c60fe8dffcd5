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
		got := store.ActionQuery{Order: store.ByID}
		require.NoError(t, readOrder(text, &got), text)
		require.Equal(t, want, got, text)
	}
}
