package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gnomon/changes"
	"gnomon/changes/kinds"
	"gnomon/metrics"
	"gnomon/stages"
	"gnomon/starter"
)

// stopTimeout bounds the graceful end of the servers.
const stopTimeout = 10 * time.Second

// Starter is the command `gnomon starter` of a build.
func Starter(build string) *cobra.Command {
	s := &settings{}
	var grpcAddress, httpAddress string
	var applyTimeout, shutdownDelay time.Duration
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
			if shutdownDelay < 0 || shutdownDelay > time.Hour {
				return fmt.Errorf("--shutdown-delay is %s and must be 0s to 1h", shutdownDelay)
			}
			return s.serve(cmd, build, starter.ServerConfig{GRPCAddress: grpcAddress, HTTPAddress: httpAddress}, applyTimeout, shutdownDelay)
		},
	}
	s.flags(cmd)
	s.observing.flags(cmd, starterMetrics)
	cmd.Flags().StringVar(&grpcAddress, "grpc-address", "127.0.0.1:7700", "host:port to serve gRPC at (env GNOMON_GRPC_ADDRESS)")
	cmd.Flags().StringVar(&httpAddress, "http-address", "127.0.0.1:7780", "host:port to serve REST at, empty for none (env GNOMON_HTTP_ADDRESS)")
	cmd.Flags().DurationVar(&applyTimeout, "apply-timeout", 3*time.Second, "how long a command waits for a worker before it is left as a signal (env GNOMON_APPLY_TIMEOUT)")
	cmd.Flags().DurationVar(&shutdownDelay, "shutdown-delay", 0, "how long it goes on serving, and says that it is not ready, once it was told to stop: the time that a load balancer takes to notice (env GNOMON_SHUTDOWN_DELAY)")
	return cmd
}

// facadeOf is the facade with all of its services.
func facadeOf(config starter.Config, server starter.ServerConfig) (*starter.Server, error) {
	services, ready, err := starter.NewServices(config)
	if err != nil {
		return nil, err
	}
	return starter.NewServer(server, services, ready)
}

// serve runs the facade until the command's context ends.
func (s *settings) serve(cmd *cobra.Command, build string, server starter.ServerConfig, applyTimeout, shutdownDelay time.Duration) error {
	ctx := cmd.Context()
	log, err := s.logger(os.Stderr)
	if err != nil {
		return err
	}
	changing, declared, err := s.known()
	if err != nil {
		return err
	}
	defer closed(log, "kinds of changes", changing)
	if err := s.observing.begin(build); err != nil {
		return err
	}
	endTraces, err := s.trace(ctx, "gnomon-starter", build, log)
	if err != nil {
		return err
	}
	defer endTraces()
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
	rows = s.observing.registry.Store(rows)
	if err := s.observing.listen(ctx, log, metrics.Checks(c, rows)...); err != nil {
		return err
	}
	defer s.observing.close(log)
	config := starter.Config{
		Client: c, Namespace: namespace, TaskQueue: s.taskQueue, Store: rows, Changes: changing, Stages: declared,
		AllowMockActions: s.allowMock, ApplyTimeout: applyTimeout, Build: build, Logger: log,
	}
	measures := metrics.NewFacade(s.observing.registry)
	config.Untold = measures.Untold
	server.Logger, server.Tracing, server.Options = log, s.tracing, measures.ServerOptions()
	facade, err := facadeOf(config, server)
	if err != nil {
		return err
	}
	if err := facade.Start(); err != nil {
		return err
	}
	watching, unwatch := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() { measures.WatchOverdue(watching, rows, log) })
	defer watched.Wait()
	defer unwatch()
	s.observing.server.Serving()
	log.Info("The facade serves.", "grpc", facade.GRPCAddr(), "http", facade.HTTPAddr())
	select {
	case <-ctx.Done():
		s.observing.server.Stopping()
		facade.Drain()
		err = drained(facade, shutdownDelay, log)
	case err = <-facade.Failed():
	}
	return errors.Join(err, stop(ctx, facade))
}

// known are the kinds of changes and the stages that callers may name.
func (s *settings) known() (changes.Set, *stages.Set, error) {
	declared, err := stages.Declarations(s.stages)
	if err != nil {
		return nil, nil, err
	}
	changing, err := kinds.Open(s.dnsZones)
	return changing, declared, err
}

// stop ends the facade, and what it serves within the time for that.
func stop(ctx context.Context, facade *starter.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return facade.Stop(ctx)
}

// drained lets those who choose a facade notice that this one is not ready any more.
func drained(facade *starter.Server, delay time.Duration, log *slog.Logger) error {
	if delay == 0 {
		return nil
	}
	log.Info("The facade stops and serves a little longer.", "for", delay)
	over := time.NewTimer(delay)
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case err := <-facade.Failed():
		return err
	}
}
