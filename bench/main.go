// The benchmark: go run ./bench. It compares gnomon with the workflow that a team would
// write by hand, with Temporal's Schedules and with River on PostgreSQL, all on this
// machine and on the same servers, and says which targets it met.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gnomon/bench/site"
)

func main() {
	if site.Asked() {
		os.Exit(site.Play())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}
