package ydbdouble

import (
	"context"
	"errors"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Query_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Issue"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Query"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// partRows is how many rows a part of an answer has: few, so that answers have
// several.
const partRows = 50

// answer is a stream of parts.
type answer = Ydb_Query_V1.QueryService_ExecuteQueryServer

// ExecuteQuery implements the query service.
func (s *Server) ExecuteQuery(r *Ydb_Query.ExecuteQueryRequest, stream answer) error {
	fault := s.fault(r)
	if fault.Delay > 0 {
		timer := time.NewTimer(fault.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
	if fault.SessionLost {
		s.forget(r.GetSessionId())
	}
	failing := fault.Transport != codes.OK || fault.Status != Ydb.StatusIds_STATUS_CODE_UNSPECIFIED
	if failing && !fault.Committed && !fault.Midway {
		s.invalidate(r.GetSessionId())
		return fail(stream, fault)
	}
	found := s.session(r.GetSessionId())
	if found == nil {
		return refuse(stream, Ydb.StatusIds_BAD_SESSION, "Session not found or not attached")
	}
	if !found.busy.TryLock() {
		return refuse(stream, Ydb.StatusIds_SESSION_BUSY, "Pending previous query completion")
	}
	sets, meta, err := s.execute(stream.Context(), found, r, !fault.Midway)
	found.busy.Unlock()
	if err != nil {
		return refuse(stream, statusOf(err), err.Error())
	}
	if failing && fault.Committed {
		if fault.Then != nil {
			fault.Then()
		}
		s.invalidate(r.GetSessionId())
		return fail(stream, fault)
	}
	if err := send(stream, sets, meta); err != nil || !failing {
		return err
	}
	s.invalidate(r.GetSessionId())
	return fail(stream, fault)
}

// invalidate ends a session's open transaction: a statement that fails takes it along.
func (s *Server) invalidate(sessionID string) {
	found := s.session(sessionID)
	if found == nil {
		return
	}
	found.busy.Lock()
	defer found.busy.Unlock()
	if found.tx != nil {
		_ = found.tx.end(false) // nothing of it is to stay
		found.tx = nil
	}
}

// execute runs a script in the transaction that the request names or begins, or in
// one of its own. commit false rolls back where a commit was asked for.
func (s *Server) execute(ctx context.Context, in *session, r *Ydb_Query.ExecuteQueryRequest, commit bool) (_ []rowSet, _ *Ydb_Query.TransactionMeta, err error) {
	script, err := parseScript(r.GetQueryContent().GetText(), r.GetParameters())
	if err != nil {
		return nil, nil, err
	}
	control := r.GetTxControl()
	tx := in.tx
	ends := control == nil || control.GetCommitTx()
	switch {
	case control.GetTxId() != "":
		if tx == nil || tx.id != control.GetTxId() {
			return nil, nil, errors.New("Transaction not found: " + control.GetTxId())
		}
	case tx != nil:
		return nil, nil, errors.New("a second transaction of one session, which is not here")
	default:
		m := modeOf(control.GetBeginTx())
		if !ends && (m == OnlineReadOnly || m == StaleReadOnly) {
			return nil, nil, errors.New("open transactions not supported for this mode")
		}
		if tx, err = s.begin(ctx, m); err != nil {
			return nil, nil, err
		}
	}
	sets, async, err := s.db.do(context.WithoutCancel(ctx), script)
	// A script without a transaction control may change tables.
	if err == nil && (control != nil || !script.ddl) {
		err = tx.check(script, async)
	}
	if err != nil {
		in.tx = nil
		return nil, nil, errors.Join(err, tx.end(false))
	}
	if !ends {
		in.tx = tx
		return sets, &Ydb_Query.TransactionMeta{Id: tx.id}, nil
	}
	in.tx = nil
	return sets, &Ydb_Query.TransactionMeta{}, tx.end(commit)
}

// send answers with rows, part by part, or with nothing but success.
func send(stream answer, sets []rowSet, meta *Ydb_Query.TransactionMeta) error {
	if len(sets) == 0 {
		return stream.Send(&Ydb_Query.ExecuteQueryResponsePart{Status: Ydb.StatusIds_SUCCESS, TxMeta: meta})
	}
	for i, set := range sets {
		for first := true; first || len(set.rows) > 0; first = false {
			n := min(partRows, len(set.rows))
			err := stream.Send(&Ydb_Query.ExecuteQueryResponsePart{
				Status: Ydb.StatusIds_SUCCESS, TxMeta: meta, ResultSetIndex: int64(i),
				ResultSet: &Ydb.ResultSet{Columns: set.columns, Rows: set.rows[:n]},
			})
			if err != nil {
				return err
			}
			set.rows = set.rows[n:]
		}
	}
	return nil
}

// fail answers as a fault says.
func fail(stream answer, f Fault) error {
	if f.Transport != codes.OK {
		return status.Error(f.Transport, "injected")
	}
	return refuse(stream, f.Status, "injected")
}

// refuse answers with a status and a reason.
func refuse(stream answer, code Ydb.StatusIds_StatusCode, reason string) error {
	return stream.Send(&Ydb_Query.ExecuteQueryResponsePart{
		Status: code, Issues: []*Ydb_Issue.IssueMessage{{Message: reason, Severity: 1}},
	})
}
