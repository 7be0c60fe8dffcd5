package starter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/test/bufconn"
)

// Limits of connections, chosen so that a client with the usual keepalive settings
// is never thrown out and a dead one is noticed within two minutes.
const (
	keepaliveMinTime = 10 * time.Second
	keepaliveTime    = time.Minute
	keepaliveTimeout = 20 * time.Second
	// pipeBytes is the buffer of the connection from REST to gRPC.
	pipeBytes = 256 << 10
)

// Server serves the facade as gRPC, with health and reflection, and as REST. It
// holds no state but its connections: what it accepted stands when it goes.
type Server struct {
	config ServerConfig
	grpc   *grpc.Server
	health *health.Server
	pipe   *bufconn.Listener
	rest   *restServer
	ready  func(context.Context) error
	// services are those that are served.
	services []service
	// after ends what they do beside their calls.
	after func(context.Context)

	stop    context.CancelFunc
	stopped context.Context // the life of the server, not of a call
	running sync.WaitGroup
	failed  chan error
	once    sync.Once
	stopErr error

	grpcListener, httpListener net.Listener
}

// NewServer makes a server of services that does not listen yet. Ready says whether
// what they need answers; it is called every ReadyInterval, with as much time, and
// decides the health that is shown; nil is always ready. Calls are served whether
// ready or not.
func NewServer(config ServerConfig, services Services, ready func(context.Context) error) (*Server, error) {
	config = config.WithDefaults()
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("configuration of the facade: %w", err)
	}
	if ready == nil {
		ready = func(context.Context) error { return nil }
	}
	s := &Server{config: config, ready: ready, services: services.all(), after: services.close, health: health.NewServer(), pipe: bufconn.Listen(pipeBytes), failed: make(chan error, 3)}
	s.stopped, s.stop = context.WithCancel(context.Background())
	around := &calls{logger: config.Logger, timeout: config.CallTimeout, stopping: s.stopped}
	s.grpc = grpc.NewServer(slices.Concat(config.Options, config.Tracing.ServerOptions(), []grpc.ServerOption{
		grpc.MaxRecvMsgSize(config.MaxRequestBytes),
		grpc.ChainUnaryInterceptor(around.unary),
		grpc.ChainStreamInterceptor(around.stream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveMinTime, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
	})...)
	for _, one := range s.services {
		one.register(s.grpc)
	}
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.showReady(errors.New("not looked at yet"))
	if config.HTTPAddress != "" {
		rest, err := newRESTServer(config, s.services, s.pipe, s.isReady)
		if err != nil {
			s.stop()
			return nil, err
		}
		s.rest = rest
	}
	return s, nil
}

// Start listens and serves, and returns at once. A server is started once.
func (s *Server) Start() error {
	var listen net.ListenConfig
	listener, err := listen.Listen(s.stopped, "tcp", s.config.GRPCAddress)
	if err != nil {
		return fmt.Errorf("listen for gRPC: %w", err)
	}
	s.grpcListener = listener
	if s.rest != nil {
		if s.httpListener, err = listen.Listen(s.stopped, "tcp", s.config.HTTPAddress); err != nil {
			return errors.Join(fmt.Errorf("listen for HTTP: %w", err), listener.Close())
		}
		s.running.Go(func() { s.serve("HTTP", s.rest.http.Serve(s.httpListener)) })
	}
	s.running.Go(func() { s.serve("gRPC", s.grpc.Serve(listener)) })
	s.running.Go(func() { s.serve("gRPC for REST", s.grpc.Serve(s.pipe)) })
	s.running.Go(s.watchReady)
	return nil
}

// serve records why a listener ended, unless it was asked to.
func (s *Server) serve(what string, err error) {
	if err != nil && s.stopped.Err() == nil && !errors.Is(err, grpc.ErrServerStopped) && !errors.Is(err, http.ErrServerClosed) {
		s.failed <- fmt.Errorf("serve %s: %w", what, err)
	}
}

// Failed gives the error of a listener that broke while the server ran.
func (s *Server) Failed() <-chan error { return s.failed }

// GRPCAddr is the host:port where gRPC is served, the real port included. Empty
// before Start.
func (s *Server) GRPCAddr() string { return address(s.grpcListener) }

// HTTPAddr is the host:port where REST is served. Empty before Start or without
// REST.
func (s *Server) HTTPAddr() string { return address(s.httpListener) }

func address(listener net.Listener) string {
	if listener == nil {
		return ""
	}
	return listener.Addr().String()
}

// Drain shows NOT_SERVING from now on and goes on serving, until Stop: it gives those
// who choose among servers the time to choose another.
func (s *Server) Drain() { s.health.Shutdown() }

// Stop shows NOT_SERVING, ends streams, takes no new calls, and waits for those
// under way until ctx ends; the rest is then broken off and ctx's error returned.
// Only the first call does anything; the others wait for it and return the same.
func (s *Server) Stop(ctx context.Context) error {
	s.once.Do(func() { s.stopErr = s.shutDown(ctx) })
	return s.stopErr
}

func (s *Server) shutDown(ctx context.Context) error {
	s.health.Shutdown()
	s.stop()
	var err error
	if s.rest != nil {
		err = s.rest.stop(ctx)
	}
	graceful := make(chan struct{})
	s.running.Go(func() {
		s.grpc.GracefulStop()
		close(graceful)
	})
	select {
	case <-graceful:
	case <-ctx.Done():
		s.grpc.Stop()
		err = errors.Join(err, ctx.Err())
	}
	s.running.Wait()
	s.after(ctx)
	return errors.Join(err, s.pipe.Close())
}
