package ydbdouble

import (
	"context"
	"errors"
	"fmt"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Query"
)

// Mode is what a transaction may do and see.
type Mode int

// Modes of transactions, as YDB calls them.
const (
	ReadWrite Mode = iota + 1 // serializable
	SnapshotReadOnly
	OnlineReadOnly
	StaleReadOnly
)

// modeOf reads a transaction's settings; none are read-write.
func modeOf(settings *Ydb_Query.TransactionSettings) Mode {
	switch settings.GetTxMode().(type) {
	case *Ydb_Query.TransactionSettings_SnapshotReadOnly:
		return SnapshotReadOnly
	case *Ydb_Query.TransactionSettings_OnlineReadOnly:
		return OnlineReadOnly
	case *Ydb_Query.TransactionSettings_StaleReadOnly:
		return StaleReadOnly
	default:
		return ReadWrite
	}
}

// transaction is one that has its turn.
type transaction struct {
	id   string
	mode Mode
	db   *database
}

func (t *transaction) end(commit bool) error { return t.db.end(commit) }

// begin starts a transaction.
func (s *Server) begin(ctx context.Context, m Mode) (*transaction, error) {
	if err := s.db.begin(ctx); err != nil {
		return nil, err
	}
	return &transaction{id: fmt.Sprintf("tx-%d", s.lastTransaction.Add(1)), mode: m, db: s.db}, nil
}

// check refuses what a transaction of this mode may not do.
func (t *transaction) check(script *script, async bool) error {
	switch {
	case script.ddl:
		return errors.New("Scheme operations cannot be executed inside transaction")
	case script.writes && t.mode != ReadWrite:
		return errors.New("a read-only transaction that writes")
	case async && t.mode != StaleReadOnly:
		return errors.New("Failed to read from the asynchronous index: only allowed in StaleReadOnly transaction mode")
	}
	return nil
}

// BeginTransaction implements the query service.
func (s *Server) BeginTransaction(ctx context.Context, r *Ydb_Query.BeginTransactionRequest) (*Ydb_Query.BeginTransactionResponse, error) {
	found := s.session(r.GetSessionId())
	if found == nil {
		return &Ydb_Query.BeginTransactionResponse{Status: Ydb.StatusIds_BAD_SESSION}, nil
	}
	found.busy.Lock()
	defer found.busy.Unlock()
	m := modeOf(r.GetTxSettings())
	if found.tx != nil || m == OnlineReadOnly || m == StaleReadOnly {
		return &Ydb_Query.BeginTransactionResponse{Status: Ydb.StatusIds_BAD_REQUEST}, nil
	}
	tx, err := s.begin(ctx, m)
	if err != nil {
		return &Ydb_Query.BeginTransactionResponse{Status: statusOf(err)}, nil
	}
	found.tx = tx
	return &Ydb_Query.BeginTransactionResponse{
		Status: Ydb.StatusIds_SUCCESS, TxMeta: &Ydb_Query.TransactionMeta{Id: tx.id},
	}, nil
}

// CommitTransaction implements the query service.
func (s *Server) CommitTransaction(_ context.Context, r *Ydb_Query.CommitTransactionRequest) (*Ydb_Query.CommitTransactionResponse, error) {
	return &Ydb_Query.CommitTransactionResponse{Status: s.finish(r.GetSessionId(), r.GetTxId(), true)}, nil
}

// RollbackTransaction implements the query service.
func (s *Server) RollbackTransaction(_ context.Context, r *Ydb_Query.RollbackTransactionRequest) (*Ydb_Query.RollbackTransactionResponse, error) {
	return &Ydb_Query.RollbackTransactionResponse{Status: s.finish(r.GetSessionId(), r.GetTxId(), false)}, nil
}

// finish ends a session's open transaction.
func (s *Server) finish(sessionID, id string, commit bool) Ydb.StatusIds_StatusCode {
	found := s.session(sessionID)
	if found == nil {
		return Ydb.StatusIds_BAD_SESSION
	}
	found.busy.Lock()
	defer found.busy.Unlock()
	if found.tx == nil || found.tx.id != id {
		return Ydb.StatusIds_NOT_FOUND
	}
	err := found.tx.end(commit)
	found.tx = nil
	if err != nil {
		return statusOf(err)
	}
	return Ydb.StatusIds_SUCCESS
}
