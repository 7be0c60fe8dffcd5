package serve

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gnomon/store/open"
)

// Issue 4, 4: SQLite is brought up to date unless that is turned off; then a store that
// is behind is refused with the command to run.
func TestStoreIsMigratedOrRefused(t *testing.T) {
	t.Parallel()
	name := "sqlite:" + filepath.Join(t.TempDir(), "gnomon.db")
	with := func(args ...string) error {
		m := &migrating{}
		cmd := &cobra.Command{Use: "starter"}
		m.flags(cmd)
		require.NoError(t, cmd.ParseFlags(args))
		rows, err := m.open(t.Context(), cmd, name)
		if err != nil {
			return err
		}
		return rows.Close()
	}
	require.ErrorContains(t, with("--migrate=false"), "run: gnomon migrate --store "+name)
	v, err := open.Migrate(t.Context(), name, true)
	require.NoError(t, err)
	require.Zero(t, v.Have, "a refusal changes nothing")
	require.NoError(t, with())
	v, err = open.Migrate(t.Context(), name, true)
	require.NoError(t, err)
	require.Equal(t, v.Want, v.Have)
	require.NoError(t, with("--migrate=false"))
	require.NoError(t, with("--migrate"))
}
