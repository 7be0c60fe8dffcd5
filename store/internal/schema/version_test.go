package schema

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// Issue 4, 4: the version a program needs is its last migration's, by number and not by
// how the names sort.
func TestVersion(t *testing.T) {
	t.Parallel()
	file := &fstest.MapFile{}
	version, err := Version(fstest.MapFS{"migrations/9_a.sql": file, "migrations/10_b.sql": file, "migrations/README": file, "99_elsewhere.sql": file}, "migrations")
	require.NoError(t, err)
	require.EqualValues(t, 10, version)

	version, err = Version(fstest.MapFS{}, "migrations")
	require.NoError(t, err)
	require.Zero(t, version)

	_, err = Version(fstest.MapFS{"migrations/first.sql": file}, "migrations")
	require.ErrorContains(t, err, "migrations/first.sql must begin with its version")
}
