// Command gnomon runs the facade (starter), the worker and the agents of the durable
// scheduler gnomon, and is its client.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"gnomon/cli"
	"gnomon/serve"
)

// version is set by the linker for releases.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := cli.New(version)
	root.AddCommand(serve.Starter(version), serve.Worker(version), serve.Agent(version), serve.Reconcile(), serve.Migrate())
	code := cli.Run(ctx, root)
	stop()
	os.Exit(code)
}
