package starter

import (
	"context"
	"log/slog"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// watchReady asks every ReadyInterval whether the service is ready, and shows it.
func (s *Server) watchReady() {
	ticks := time.NewTicker(s.config.ReadyInterval)
	defer ticks.Stop()
	for {
		ctx, cancel := context.WithTimeout(s.stopped, s.config.ReadyInterval)
		err := s.ready(ctx)
		cancel()
		if s.stopped.Err() != nil {
			return
		}
		s.logReady(err)
		s.showReady(err)
		select {
		case <-ticks.C:
		case <-s.stopped.Done():
			return
		}
	}
}

// showReady sets the health of the whole server and of each service. The health
// server keeps NOT_SERVING once it is shut down.
func (s *Server) showReady(err error) {
	state := healthv1.HealthCheckResponse_SERVING
	if err != nil {
		state = healthv1.HealthCheckResponse_NOT_SERVING
	}
	s.health.SetServingStatus("", state)
	for _, one := range s.services {
		s.health.SetServingStatus(string(one.descriptor.FullName()), state)
	}
}

// logReady tells of changes only.
func (s *Server) logReady(err error) {
	switch was := s.isReady(); {
	case err != nil && was:
		s.config.Logger.LogAttrs(s.stopped, slog.LevelWarn, "the facade is not ready", slog.String("cause", err.Error()))
	case err == nil && !was:
		s.config.Logger.LogAttrs(s.stopped, slog.LevelInfo, "the facade is ready")
	}
}

// isReady is the last that was shown.
func (s *Server) isReady() bool {
	reply, err := s.health.Check(s.stopped, &healthv1.HealthCheckRequest{})
	return err == nil && reply.GetStatus() == healthv1.HealthCheckResponse_SERVING
}
