package serve

import (
	"context"

	"github.com/spf13/cobra"

	"gnomon/store"
	"gnomon/store/open"
)

// migrating is the flag --migrate of starter and worker.
type migrating struct{ flag bool }

func (m *migrating) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.flag, "migrate", true, "bring the store's schema up to date at the start; by default only if it is sqlite, else see gnomon migrate (env GNOMON_MIGRATE)")
}

// open opens the store, brought up to date if that is wanted, and otherwise refuses one
// that is not.
func (m *migrating) open(ctx context.Context, cmd *cobra.Command, name string) (store.Store, error) {
	want := m.flag
	if !cmd.Flags().Changed("migrate") {
		want = open.MigratesByDefault(name)
	}
	if want {
		if _, err := open.Migrate(ctx, name, false); err != nil {
			return nil, err
		}
	}
	return open.Current(ctx, name)
}
