package site

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"go.temporal.io/server/common/dynamicconfig"

	"gnomon/devserver"
	"gnomon/faults/postgres"
	"gnomon/logging"
	"gnomon/starter"
)

// Namespaces of the server: schedules have one of their own for each limit that they
// run with.
const (
	Namespace       = "default"
	SchedulesNS     = "schedules"
	LiftedNS        = "lifted"
	liftedStartsRPS = 10_000
)

// temporal is a Temporal server alone, in memory, on a file or on a PostgreSQL. It
// prints its address.
func temporal() *cobra.Command {
	cfg := devserver.Config{
		UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
		Namespaces: []string{Namespace, SchedulesNS, LiftedNS},
		DynamicConfig: map[string]any{
			dynamicconfig.SchedulerNamespaceStartWorkflowRPS.Key().String(): []dynamicconfig.ConstrainedValue{{
				Constraints: dynamicconfig.Constraints{Namespace: LiftedNS}, Value: liftedStartsRPS,
			}},
		},
	}
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
			log, err := logging.New(cmd.ErrOrStderr(), slog.LevelError, logging.Text)
			if err != nil {
				return err
			}
			cfg.Logger = log
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
	f.StringVar(&cfg.DataDir, "dir", "", "where the file is (default: in memory)")
	f.StringVar(&pg.Address, "postgres", "", "host:port of the PostgreSQL, instead")
	f.StringVar(&passwordFile, "password-file", "", "has its password")
	return cmd
}
