package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Time limits of the port.
const (
	readTime  = 5 * time.Second
	writeTime = 30 * time.Second
)

// Server serves /metrics, /livez and /readyz at an address of its own. It is for
// operators: it has no authentication and shows nothing that is secret.
type Server struct {
	http     *http.Server
	listener net.Listener
	probes   *probes
	serving  sync.WaitGroup
}

// Listen begins to serve the metrics of a registry and the probes of a process, which is
// not ready until Serving. The context bounds the listening only.
func Listen(ctx context.Context, address string, r *Registry, log *slog.Logger, checks ...Check) (*Server, error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, probes: newProbes(checks, log)}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", r.Handler())
	mux.HandleFunc("GET /livez", live)
	mux.HandleFunc("GET /readyz", s.probes.ready)
	s.http = &http.Server{
		Handler: mux, ReadHeaderTimeout: readTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	s.serving.Go(func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("The metrics are no longer served.", "error", err)
		}
	})
	return s, nil
}

// Addr is the host:port where it listens, the real port included.
func (s *Server) Addr() string {
	if s == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// Serving says that the process does its work: it is ready while all checks answer.
func (s *Server) Serving() {
	if s != nil {
		s.probes.setPhase(nil)
	}
}

// Stopping says that the process takes no more work and drains: it is not ready any
// more. The metrics are served until Close.
func (s *Server) Stopping() {
	if s != nil {
		s.probes.setPhase(errStopping)
	}
}

// Close stops serving, after the answers under way or when ctx ends.
func (s *Server) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.serving.Wait()
	return err
}
