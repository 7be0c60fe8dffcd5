package roles

import (
	"fmt"

	"github.com/spf13/cobra"

	"gnomon/store/ydb/ydbdouble"
)

// ydb is YDB's double with its rows in memory. It prints its connection string and takes
// orders.
func ydb() *cobra.Command {
	var installation string
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, err := ydbdouble.Start(ctx, ydbdouble.Options{})
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), s.ConnectionString(installation))
			u := &unwell{server: s}
			go obey(cmd.InOrStdin(), cmd.OutOrStdout(), func(o Order) (string, error) { return u.carryOut(ctx, o) })
			<-ctx.Done()
			return s.Stop()
		},
	}
	cmd.Flags().StringVar(&installation, "installation", "", "directory of the tables")
	return cmd
}
