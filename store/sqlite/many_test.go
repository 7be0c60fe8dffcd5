package sqlite_test

import (
	"testing"

	"gnomon/store"
	"gnomon/store/sqlite"
	"gnomon/store/storetest"
)

// Issue 4: paging through 200,000 rows (GNOMON_TEST_ROWS) sees each exactly once.
// That each page is read along an index shows TestPagesAreReadAlongAnIndex.
func TestManyRows(t *testing.T) {
	t.Parallel()
	storetest.Many(t, func(t *testing.T, o storetest.Options) store.Actions {
		t.Helper()
		return open(t, sqlite.Config{Path: file(t), Now: o.Now, TombstoneTTL: o.TombstoneTTL, Migrate: true, RelaxedSync: true})
	})
}
