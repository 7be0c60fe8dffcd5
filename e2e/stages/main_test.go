package stages

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"gnomon/faults/processes"
	"gnomon/faults/roles"
)

// roleStages is a process that serves stages.
const roleStages = "e2e-stages"

func TestMain(m *testing.M) {
	switch os.Getenv(processes.RoleVariable) {
	case "":
		os.Exit(m.Run())
	case roleStages:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err := serveStages(ctx, os.Args[1], os.Args[2])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(roles.Play())
	}
}
