package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"gnomon/store/internal/group"
)

// groupStatements bounds how many statements share a transaction, so that one
// group holds up the next by some tens of milliseconds at most. One call's
// statements are never divided.
const groupStatements = 1000

// opKind is what a caller wants written.
type opKind int

const (
	opPut opKind = iota
	opInsert
	opPurge
	opKinds
)

// op is one caller's write: a statement, once for each set of arguments.
type op struct {
	kind      opKind
	arguments [][]any
}

// writer has one connection, whose transactions callers share. The result of an
// op is the number of rows that each of its statements changed.
type writer struct {
	*group.Writer[op, []int64]

	db         *sql.DB
	statements [opKinds]*sql.Stmt

	transactions, writes atomic.Uint64
}

// startWriter prepares the statements and starts the goroutine.
func startWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	w := &writer{db: db}
	for kind, statement := range [opKinds]string{opPut: statementPut, opInsert: statementInsert, opPurge: statementPurge} {
		prepared, err := db.PrepareContext(ctx, statement) //nolint:sqlclosecheck // closeStatements does
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the database does not fit this program: %w", err), w.closeStatements())
		}
		w.statements[kind] = prepared
	}
	w.Writer = group.New(group.Config[op, []int64]{
		Commit: w.commit,
		Weigh:  func(o op) int { return len(o.arguments) },
		Limit:  groupStatements,
		// A statement that fails is one caller's: the others are written again, each
		// alone, which needs no savepoint in the ordinary case and also holds where
		// SQLite rolls back the whole transaction.
		Alone: func(err error) bool {
			var failed *statementError
			return errors.As(err, &failed)
		},
	})
	return w, nil
}

// stop lets the group under way finish and ends the goroutine.
func (w *writer) stop() error {
	w.Stop()
	return w.closeStatements()
}

func (w *writer) closeStatements() error {
	var errs []error
	for _, s := range w.statements {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// statementError is the failure of one statement, as against that of beginning or
// committing a transaction, which no single caller is to blame for.
type statementError struct{ error }

func (e *statementError) Unwrap() error { return e.error }

// commit writes a group in one transaction. The busy timeout bounds the waiting.
func (w *writer) commit(ops []op) ([][]int64, error) {
	ctx := context.Background()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("no transaction could begin: %w", err)
	}
	affected := make([][]int64, len(ops))
	for i, o := range ops {
		if affected[i], err = w.execute(ctx, tx, o); err != nil {
			_ = tx.Rollback() // the statement's error says more; SQLite may have rolled back already
			return nil, &statementError{err}
		}
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return nil, fmt.Errorf("the transaction could not be committed: %w", err)
	}
	w.transactions.Add(1)
	w.writes.Add(uint64(len(ops)))
	return affected, nil
}

// execute runs the statements of one caller.
func (w *writer) execute(ctx context.Context, tx *sql.Tx, o op) ([]int64, error) {
	statement := tx.StmtContext(ctx, w.statements[o.kind])
	defer func() { _ = statement.Close() }()
	affected := make([]int64, len(o.arguments))
	for i, arguments := range o.arguments {
		result, err := statement.ExecContext(ctx, arguments...)
		if err != nil {
			return nil, err
		}
		if affected[i], err = result.RowsAffected(); err != nil {
			return nil, err
		}
	}
	return affected, nil
}
