package roles

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gnomon/devserver"
	"gnomon/faults/postgres"
	"gnomon/starter"
)

// temporal is a Temporal server alone, on a file or on a PostgreSQL. It prints its
// address.
func temporal() *cobra.Command {
	cfg := devserver.Config{UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes()}
	var pg devserver.Postgres
	var passwordFile string
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if pg.Address != "" {
				password, err := os.ReadFile(passwordFile)
				if err != nil {
					return err
				}
				pg.User, pg.Password = postgres.User, string(password)
				cfg.Postgres = &pg
			}
			s, err := devserver.Start(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer s.Stop()
			fmt.Fprintln(cmd.OutOrStdout(), s.Address())
			<-cmd.Context().Done()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.DataDir, "dir", "", "where the file is")
	f.StringVar(&pg.Address, "postgres", "", "host:port of the PostgreSQL, instead")
	f.StringVar(&passwordFile, "password-file", "", "has its password")
	f.IntVar(&cfg.Port, "port", 0, "port, 0 for a free one")
	return cmd
}
