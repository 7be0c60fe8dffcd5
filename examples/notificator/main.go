// Command notificator is a small real Notificator for send_technical_push: it
// prints the pushes that gnomon sends. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"gnomon/examples/notificator/pushserver"
)

func main() {
	address := flag.String("address", "127.0.0.1:7795", "host:port to listen at; port 0 picks a free one")
	failFirst := flag.Int("fail-first", 0, "how many calls fail for every push before it is delivered")
	flag.Parse()
	if err := run(*address, *failFirst); err != nil {
		fmt.Fprintln(os.Stderr, "notificator:", err)
		os.Exit(1)
	}
}

// run serves until it is interrupted.
func run(address string, failFirst int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if failFirst < 0 {
		return fmt.Errorf("--fail-first must not be negative, but is %d", failFirst)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	server := pushserver.New(os.Stdout, failFirst).GRPC()
	defer context.AfterFunc(ctx, server.Stop)()
	fmt.Fprintln(os.Stderr, "Notificator listens at", listener.Addr())
	return server.Serve(listener)
}
