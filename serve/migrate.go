package serve

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gnomon/store/open"
)

// Migrate is the command `gnomon migrate`.
func Migrate() *cobra.Command {
	var name string
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the store's schema up to date",
		Long:    "migrate brings the schema of the store to the version that this gnomon needs, creating it where there is none, and says from which version to which. Run it from one place at a time, before starters and workers of a new version.",
		Example: "  gnomon migrate --store sqlite:gnomon.db --dry-run\n  gnomon migrate --store sqlite:gnomon.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			return migrate(cmd.Context(), cmd.OutOrStdout(), name, dryRun)
		},
	}
	cmd.Flags().StringVar(&name, "store", open.Default, "the store: "+open.Forms+" (env GNOMON_STORE)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

func migrate(ctx context.Context, out io.Writer, name string, dryRun bool) error {
	v, err := open.Migrate(ctx, name, dryRun)
	if err != nil {
		return err
	}
	switch {
	case v.Have == v.Want:
		_, err = fmt.Fprintf(out, "The schema is up to date: version %d.\n", v.Want)
	case dryRun:
		_, err = fmt.Fprintf(out, "The schema would be migrated from version %d to %d.\n", v.Have, v.Want)
	default:
		_, err = fmt.Fprintf(out, "The schema was migrated from version %d to %d.\n", v.Have, v.Want)
	}
	return err
}
