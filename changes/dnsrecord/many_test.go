package dnsrecord_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// The greatest batch: each name is read once, over a few connections.
func TestValidateManyChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var all []*gnomonv1.DnsRecordChange
	for i := range 1000 {
		all = append(all, change(t, "ADD", fmt.Sprint("host", i), "A", "192.0.2.9"))
	}
	require.Empty(t, b.problems(t, subjects(all...)...))
}
