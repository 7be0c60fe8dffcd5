package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/faults/scenarios"
	"gnomon/faults/site"
)

// Issue 4: F5 and F6 are played on both stores.
func TestChosen(t *testing.T) {
	t.Parallel()
	some, err := chosen(nil, site.SQLite)
	require.NoError(t, err)
	require.Len(t, some, len(scenarios.All()))

	some, err = chosen(nil, site.YDB)
	require.NoError(t, err)
	require.Len(t, some, 2)
	require.Equal(t, []string{"F5"}, some[0].Faults)
	require.Equal(t, []string{"F6"}, some[1].Faults)
	require.Equal(t, "store-ydb", some[0].Name, "its records are not those of the file's")

	some, err = chosen([]string{"F10"}, site.YDB)
	require.NoError(t, err)
	require.Len(t, some, 1)
	_, err = chosen([]string{"F99"}, site.YDB)
	require.ErrorContains(t, err, `"F99"`)
	_, err = chosen(nil, "mysql")
	require.EqualError(t, err, `--store is "mysql" and must be sqlite or ydb`)
}
