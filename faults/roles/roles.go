// Package roles is what the processes of the fault tests do: gnomon's own starter and
// worker as they are shipped, Temporal, YDB's double, the receiver, and a starter and a
// worker that are put together from the same packages with faults inside.
package roles

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gnomon/faults/processes"
	"gnomon/faults/verdict"
	"gnomon/serve"
)

// Names of the roles.
const (
	Temporal      = "temporal"
	Starter       = "starter"
	Worker        = "worker"
	Receiver      = "receiver"
	FaultyStarter = "faulty-starter"
	FaultyWorker  = "faulty-worker"
	Judge         = "judge"
	Migrate       = "migrate"
	YDB           = "ydb"
)

// Asked says whether this process was started in a role.
func Asked() bool { return os.Getenv(processes.RoleVariable) != "" }

// Play runs the role until it is stopped and gives the exit code.
func Play() int {
	commands := map[string]func() *cobra.Command{
		Temporal:      temporal,
		Starter:       func() *cobra.Command { return serve.Starter("faults") },
		Worker:        func() *cobra.Command { return serve.Worker("faults") },
		Receiver:      receive,
		FaultyStarter: faultyStarter,
		FaultyWorker:  faultyWorker,
		Judge:         verdict.Command,
		Migrate:       serve.Migrate,
		YDB:           ydb,
	}
	role := os.Getenv(processes.RoleVariable)
	command, ok := commands[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := command()
	cmd.SilenceUsage = true
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		return 1
	}
	return 0
}
