package ydbdouble

import (
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Query"
	"google.golang.org/grpc/codes"
)

// Fault is what goes wrong with one execution. The zero Fault is none.
type Fault struct {
	// Delay comes before all else; a client that leaves meanwhile has had nothing
	// done.
	Delay time.Duration
	// Status is answered instead of what was asked.
	Status Ydb.StatusIds_StatusCode
	// Transport fails the call itself instead, as a proxy or a lost connection does.
	Transport codes.Code
	// Committed does what was asked first, and only then answers Status or
	// Transport: the answer is lost.
	Committed bool
	// Then is called, unless it is nil, when that was done, before the answer.
	Then func()
	// Midway sends the rows before the Status, and commits nothing.
	Midway bool
	// SessionLost forgets the session before anything is done.
	SessionLost bool
}

// Execution is one that a fault may be chosen for.
type Execution struct {
	// Text is what the client sent.
	Text string
	// Number counts executions of the server, from 1.
	Number uint64
	// Mode is that of the transaction it begins; 0 for one that is open, and for none.
	Mode Mode
	// Commits says that its transaction ends with it.
	Commits bool
}

// Inject has choose decide what goes wrong with each execution from now on; nil for
// nothing. It is called from many goroutines at once.
func (s *Server) Inject(choose func(Execution) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.choose = choose
}

// fault is what goes wrong with this execution.
func (s *Server) fault(r *Ydb_Query.ExecuteQueryRequest) Fault {
	s.mu.Lock()
	choose := s.choose
	s.mu.Unlock()
	number := s.executions.Add(1)
	if choose == nil {
		return Fault{}
	}
	e := Execution{Text: r.GetQueryContent().GetText(), Number: number, Commits: r.GetTxControl().GetCommitTx()}
	if begins := r.GetTxControl().GetBeginTx(); begins != nil {
		e.Mode = modeOf(begins)
	}
	return choose(e)
}

// DropSessions forgets all sessions, as a node that restarts does.
func (s *Server) DropSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		session.end()
	}
	clear(s.sessions)
}
