package serve

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"gnomon/starter"
)

// stopTimeout bounds the graceful end of the servers.
const stopTimeout = 10 * time.Second

// Starter is the command `gnomon starter`.
func Starter() *cobra.Command {
	s := &settings{}
	var grpcAddress, httpAddress string
	var applyTimeout time.Duration
	cmd := &cobra.Command{
		Use:     "starter",
		Short:   "Serve the API: gRPC and REST",
		Long:    "starter is the facade: it validates, starts or commands workflows on Temporal, and reads the store. It holds no state; any number may run.",
		Example: "  gnomon starter --temporal-address 127.0.0.1:7233 --store sqlite:gnomon.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			return s.serve(cmd, starter.ServerConfig{GRPCAddress: grpcAddress, HTTPAddress: httpAddress}, applyTimeout)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&grpcAddress, "grpc-address", "127.0.0.1:7700", "host:port to serve gRPC at (env GNOMON_GRPC_ADDRESS)")
	cmd.Flags().StringVar(&httpAddress, "http-address", "127.0.0.1:7780", "host:port to serve REST at, empty for none (env GNOMON_HTTP_ADDRESS)")
	cmd.Flags().DurationVar(&applyTimeout, "apply-timeout", 3*time.Second, "how long a command waits for a worker before it is left as a signal (env GNOMON_APPLY_TIMEOUT)")
	return cmd
}

// serve runs the facade until the command's context ends.
func (s *settings) serve(cmd *cobra.Command, server starter.ServerConfig, applyTimeout time.Duration) error {
	ctx := cmd.Context()
	log, err := s.logger(os.Stderr)
	if err != nil {
		return err
	}
	c, namespace, err := s.dial(ctx, fmt.Sprintf("gnomon-starter@%d", os.Getpid()), log)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := starter.EnsureSearchAttributes(ctx, c, namespace); err != nil {
		return err
	}
	rows, err := s.migrating.open(ctx, cmd, s.store)
	if err != nil {
		return err
	}
	defer rows.Close()
	service, err := starter.NewActions(starter.Config{
		Client: c, Namespace: namespace, TaskQueue: s.taskQueue, Store: rows,
		AllowMockActions: s.allowMock, ApplyTimeout: applyTimeout, Logger: log,
	})
	if err != nil {
		return err
	}
	server.Logger = log
	facade, err := starter.NewServer(server, service, service.Ready)
	if err != nil {
		return err
	}
	if err := facade.Start(); err != nil {
		return err
	}
	log.Info("The facade serves.", "grpc", facade.GRPCAddr(), "http", facade.HTTPAddr())
	select {
	case <-ctx.Done():
	case err = <-facade.Failed():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if stopErr := facade.Stop(end); err == nil {
		err = stopErr
	}
	return err
}
