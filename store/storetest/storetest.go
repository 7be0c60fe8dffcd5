// Package storetest is the suite that every store.Actions passes, so that the
// facade and the worker need not know which one they have. It asks for nothing
// that only one database can do.
//
// It holds M-45, M-60, M-61, P-05 and "The mirror row" of design.md.
package storetest

import (
	"testing"
	"time"

	"gnomon/store"
)

// Options is what a test asks of the store it opens.
type Options struct {
	// Now is the store's clock. It only goes forward. Safe for concurrent use.
	Now func() time.Time
	// TombstoneTTL is how long a tombstone stands by that clock; always positive.
	TombstoneTTL time.Duration
}

// Run runs the suite. open gives an empty store each time; Run closes it, and may
// close it twice. The tests run in parallel.
func Run(t *testing.T, open func(t *testing.T, o Options) store.Actions) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"content", contentTests},
		{"revision", revisionTests},
		{"insert", insertTests},
		{"tombstone", tombstoneTests},
		{"model", modelTests},
		{"list", listTests},
		{"page", pageTests},
		{"concurrency", concurrencyTests},
		{"late", lateTests},
		{"unicode", unicodeTests},
		{"lifecycle", lifecycleTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					tt.run(t, setup(t, open))
				})
			}
		})
	}
}

// test is one test of the suite.
type test struct {
	name string
	run  func(t *testing.T, b *bundle)
}
