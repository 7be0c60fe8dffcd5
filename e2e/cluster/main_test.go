package cluster

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"gnomon/devserver"
	"gnomon/faults/processes"
	"gnomon/faults/roles"
	"gnomon/serve"
	"gnomon/starter"
)

// temporal is the server that the tests of this process share.
var temporal *devserver.Server

func TestMain(m *testing.M) {
	if role := os.Getenv(processes.RoleVariable); role != "" {
		os.Exit(play(role))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	os.Exit(runTests(m))
}

// atOnce is how many tests run at once, whatever the machine has: most of their time they
// wait for a cycle.
const atOnce = "4"

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

// Roles of processes of this program, beside those of package roles.
const (
	roleAgent  = "e2e-agent"
	roleWorker = "e2e-worker"
)

// play runs a process of gnomon until it is stopped.
func play(role string) int {
	command, ours := map[string]func(string) *cobra.Command{roleAgent: serve.Agent, roleWorker: serve.Worker}[role]
	if !ours {
		return roles.Play()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command("e2e").ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
