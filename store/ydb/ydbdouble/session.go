package ydbdouble

import (
	"context"
	"fmt"
	"sync"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Query_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Query"
)

// session is one of the query service: it lives as long as its attached stream.
type session struct {
	ended    chan struct{}
	ending   sync.Once
	attached bool
	busy     sync.Mutex
	tx       *transaction
}

func (s *session) end() { s.ending.Do(func() { close(s.ended) }) }

// session finds an attached one.
func (s *Server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.sessions[id]; found != nil && found.attached {
		return found
	}
	return nil
}

// CreateSession implements the query service.
func (s *Server) CreateSession(context.Context, *Ydb_Query.CreateSessionRequest) (*Ydb_Query.CreateSessionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastSession++
	id := fmt.Sprintf("ydb://session/3?node_id=%d&id=%d", nodeID, s.lastSession)
	s.sessions[id] = &session{ended: make(chan struct{})}
	return &Ydb_Query.CreateSessionResponse{Status: Ydb.StatusIds_SUCCESS, SessionId: id, NodeId: nodeID}, nil
}

// AttachSession implements the query service. Its end ends the session, and with it
// an open transaction.
func (s *Server) AttachSession(r *Ydb_Query.AttachSessionRequest, stream Ydb_Query_V1.QueryService_AttachSessionServer) error {
	s.mu.Lock()
	found := s.sessions[r.GetSessionId()]
	if found != nil {
		found.attached = true
	}
	s.mu.Unlock()
	if found == nil {
		return stream.Send(&Ydb_Query.SessionState{Status: Ydb.StatusIds_BAD_SESSION})
	}
	if err := stream.Send(&Ydb_Query.SessionState{Status: Ydb.StatusIds_SUCCESS}); err != nil {
		return err
	}
	select {
	case <-found.ended:
	case <-stream.Context().Done():
	case <-s.stopping:
	}
	s.forget(r.GetSessionId())
	found.busy.Lock()
	defer found.busy.Unlock()
	if found.tx != nil {
		_ = found.tx.end(false) // nobody waits for it
		found.tx = nil
	}
	return nil
}

// DeleteSession implements the query service.
func (s *Server) DeleteSession(_ context.Context, r *Ydb_Query.DeleteSessionRequest) (*Ydb_Query.DeleteSessionResponse, error) {
	if !s.forget(r.GetSessionId()) {
		return &Ydb_Query.DeleteSessionResponse{Status: Ydb.StatusIds_BAD_SESSION}, nil
	}
	return &Ydb_Query.DeleteSessionResponse{Status: Ydb.StatusIds_SUCCESS}, nil
}

// forget ends a session and says whether it was there.
func (s *Server) forget(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.sessions[id]
	if found == nil {
		return false
	}
	found.end()
	delete(s.sessions, id)
	return true
}
