// Command gnomon-dev runs all of gnomon in one process, with nothing to install:
// Temporal on SQLite with its Web UI, a worker, the facade, and a receiver that
// prints what reaches it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gnomon/dev"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dev.Command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gnomon-dev:", err)
		os.Exit(1)
	}
}
