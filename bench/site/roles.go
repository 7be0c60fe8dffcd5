// Package site is what the benchmark measures on: a Temporal server in a process of its
// own, the receiver, the contenders, and gnomon's processes where they are killed or
// weighed.
package site

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gnomon/faults/processes"
)

// Names of the roles of this program's processes.
const (
	roleTemporal = "temporal"
	roleGnomon   = "gnomon"
)

// Asked says whether this process was started in a role.
func Asked() bool { return os.Getenv(processes.RoleVariable) != "" }

// Play runs the role until it is stopped and gives the exit code.
func Play() int {
	commands := map[string]func() *cobra.Command{roleTemporal: temporal, roleGnomon: gnomon}
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
