package cli

import (
	"context"
	"errors"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes of the process.
const (
	// ExitOK: everything asked for was done.
	ExitOK = 0
	// ExitFailed: the call, or one of several, failed.
	ExitFailed = 1
	// ExitUsage: the command was typed wrongly; nothing was sent.
	ExitUsage = 2
	// ExitOutcome: what was followed did not end well: a batch otherwise than COMPLETE, a
	// node action or playbook otherwise than DONE.
	ExitOutcome = 3
	// ExitInterrupted: stopped by Ctrl-C or SIGTERM.
	ExitInterrupted = 130
)

// Run executes root (made by New, more commands added as wanted), shows an error
// on stderr as --output asks, and returns the exit code. The commands' context
// ends on the first SIGINT or SIGTERM; a second one kills the process.
func Run(ctx context.Context, root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	report := reportFor(root)
	if cmd.HasParent() && slices.Contains([]string{"batch", "node", "playbook", "entity"}, cmd.Parent().Name()) {
		report.noun = cmd.Parent().Name()
	}
	report.write(err)
	if _, ok := errors.AsType[usageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[outcomeError](err); ok {
		return ExitOutcome
	}
	return ExitFailed
}

func reportFor(root *cobra.Command) errorReport {
	flags := root.PersistentFlags()
	address, _ := flags.GetString("address")
	return errorReport{
		out:     root.ErrOrStderr(),
		format:  outputFormat(flags.Lookup("output").Value.String()),
		address: address,
		noun:    "action",
	}
}
