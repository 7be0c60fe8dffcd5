// Command stages serves the example stages of seed 004 as gnomon.v1.StageService. See
// README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/examples/stages/offers"
)

func main() {
	address := flag.String("address", "127.0.0.1:7796", "host:port to listen at; port 0 picks a free one")
	video := flag.String("video-url", offers.DefaultVideoURL, "where videos are asked for; {id} stands for the video's id")
	flag.Parse()
	if err := run(*address, *video); err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		os.Exit(1)
	}
}

// run serves until it is interrupted.
func run(address, video string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !strings.Contains(video, "{id}") {
		return fmt.Errorf("--video-url must have {id}, but is %s", video)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	server := grpc.NewServer()
	gnomonv1.RegisterStageServiceServer(server, offers.Server{Stages: offers.Registry(offers.VideoConfig{URL: video})})
	defer context.AfterFunc(ctx, server.GracefulStop)()
	fmt.Fprintln(os.Stderr, "stages listen at", listener.Addr())
	return server.Serve(listener)
}
