package roles

import (
	"fmt"

	"github.com/spf13/cobra"

	"gnomon/store/ydb/ydbdouble"
)

// ydb is YDB's double with its rows in memory. It prints its connection string.
func ydb() *cobra.Command {
	var installation string
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := ydbdouble.Start(cmd.Context(), ydbdouble.Options{})
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), s.ConnectionString(installation))
			<-cmd.Context().Done()
			return s.Stop()
		},
	}
	cmd.Flags().StringVar(&installation, "installation", "", "directory of the tables")
	return cmd
}
