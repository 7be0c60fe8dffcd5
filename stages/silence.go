package stages

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

const (
	// probeEvery is how often a server that is silent is asked whether it lives, and the
	// limit of that question.
	probeEvery = 500 * time.Millisecond
	probeLimit = time.Second
)

// errSilent is what calls of a server that is silent fail with at once.
var errSilent = status.Error(codes.Unavailable, "the stage's server is silent: it takes connections and answers nothing")

// silence knows of a server that takes calls and answers nothing, as one does whose
// process was stopped or whose machine hangs: it would hold up each question about an
// entity by its limit, and by a visit the entity's turn, and so all other stages of these
// entities (G-26). It judges by a question that any gRPC server answers at once, be it
// with UNIMPLEMENTED, so that a stage that is slow is not taken for silent.
type silence struct {
	conn grpc.ClientConnInterface

	mu      sync.Mutex
	silent  bool
	probing bool
	// stop ends the probes.
	stop   context.CancelFunc
	done   context.Context
	probes sync.WaitGroup
}

func newSilence(conn grpc.ClientConnInterface) *silence {
	s := &silence{conn: conn}
	s.done, s.stop = context.WithCancel(context.Background())
	return s
}

// end ends the probes.
func (s *silence) end() {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.probes.Wait()
}

// refuses is an error while the server is silent.
func (s *silence) refuses() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		return errSilent
	}
	return nil
}

// suspect takes how a question ended: if nobody answered it in time, the server is asked
// whether it lives, and is left alone from when it does not say so until it does.
func (s *silence) suspect(err error) {
	if status.Code(err) != codes.DeadlineExceeded {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.probing || s.done.Err() != nil {
		return
	}
	s.probing = true
	s.probes.Go(s.probe)
}

// probe asks until the server answers.
func (s *silence) probe() {
	for {
		code := s.ask()
		s.mu.Lock()
		// Who cannot be reached is not silent, as calls fail at once then; but who is silent
		// is so until it answers.
		s.silent = code == codes.DeadlineExceeded || s.silent && code == codes.Unavailable
		s.probing = s.silent && s.done.Err() == nil
		again := s.probing
		s.mu.Unlock()
		if !again {
			return
		}
		pause := time.NewTimer(probeEvery)
		select {
		case <-pause.C:
		case <-s.done.Done():
			pause.Stop()
		}
	}
}

// ask asks the server whether it lives.
func (s *silence) ask() codes.Code {
	ctx, cancel := context.WithTimeout(s.done, probeLimit)
	defer cancel()
	_, err := grpc_health_v1.NewHealthClient(s.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	return status.Code(err)
}
