// The fault tests: go run ./faults. It runs gnomon as separate processes on the
// loopback interface, breaks them, and prints which promises of docs/guarantees.md did
// not hold.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gnomon/faults/roles"
)

func main() {
	if roles.Asked() {
		os.Exit(roles.Play())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errBroken) {
			fmt.Fprintln(os.Stderr, err)
		}
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}
