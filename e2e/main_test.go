package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"gnomon/cli"
	"gnomon/dev"
	"gnomon/devserver"
	"gnomon/faults/processes"
	"gnomon/serve"
	"gnomon/starter"
)

// temporal is the server that the tests of this process share.
var temporal *devserver.Server

func TestMain(m *testing.M) {
	if role := os.Getenv(processes.RoleVariable); role != "" {
		os.Exit(play(role))
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	temporal, err = devserver.Start(context.Background(), devserver.Config{
		UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer temporal.Stop()
	return m.Run()
}

// play runs a process of gnomon until it is stopped.
func play(role string) int {
	if role == "gnomon" {
		root := cli.New("e2e")
		root.AddCommand(serve.Starter("e2e"), serve.Worker("e2e"))
		return cli.Run(context.Background(), root)
	}
	roles := map[string]func() *cobra.Command{
		"dev":      dev.Command,
		"starter":  func() *cobra.Command { return serve.Starter("e2e") },
		"worker":   func() *cobra.Command { return serve.Worker("e2e") },
		"agent":    func() *cobra.Command { return serve.Agent("e2e") },
		"temporal": temporalCommand,
	}
	command, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := command()
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// temporalCommand is a Temporal server alone, on a file.
func temporalCommand() *cobra.Command {
	var dir string
	var port int
	cmd := &cobra.Command{
		Use:  "temporal",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := devserver.Start(cmd.Context(), devserver.Config{
				DataDir: dir, Port: port, UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
			})
			if err != nil {
				return err
			}
			defer s.Stop()
			fmt.Println(s.Address())
			<-cmd.Context().Done()
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where the file is")
	cmd.Flags().IntVar(&port, "port", 0, "port, 0 for a free one")
	return cmd
}
