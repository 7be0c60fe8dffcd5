package ydbdouble

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"modernc.org/sqlite"
)

// databases numbers those of this process.
var databases atomic.Uint64

// The functions of YQL that SQLite does not have.
func init() { //nolint:gochecknoinits // a driver's functions are the process's
	sqlite.MustRegisterDeterministicScalarFunction("FIND", 2, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		in, ok := args[0].(string)
		what, isText := args[1].(string)
		if !ok || !isText {
			return nil, errors.New("FIND is of two texts")
		}
		if at := strings.Index(in, what); at >= 0 {
			return int64(at), nil
		}
		return nil, nil //nolint:nilnil // NULL
	})
	sqlite.MustRegisterScalarFunction("CurrentUtcTimestamp", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return time.Now().UnixMicro(), nil
	})
}

// database is the tables, in memory. One transaction has it at a time, so that all
// are serial; one that is waited for too long is YDB's to abort.
type database struct {
	db      *sql.DB
	conn    *sql.Conn
	catalog map[string]*table
	turn    chan struct{}
	plans   map[string]string // of each translated statement that was planned
}

func openDatabase(ctx context.Context) (*database, error) {
	db, err := sql.Open("sqlite", fmt.Sprintf("file:/ydbdouble-%d?vfs=memdb", databases.Add(1)))
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &database{db: db, conn: conn, catalog: map[string]*table{}, turn: make(chan struct{}, 1)}, nil
}

func (d *database) close() error { return errors.Join(d.conn.Close(), d.db.Close()) }

// rowSet is what a SELECT gave.
type rowSet struct {
	columns []*Ydb.Column
	rows    []*Ydb.Value
}

// do runs a script's statements within the transaction that has its turn.
func (d *database) do(ctx context.Context, s *script) (_ []rowSet, async bool, _ error) {
	if s.ddl {
		statements, err := s.change(d.catalog)
		for _, statement := range statements {
			if _, err := d.conn.ExecContext(ctx, statement); err != nil {
				return nil, false, err
			}
		}
		return nil, false, err
	}
	var sets []rowSet
	for _, statement := range s.statements {
		t, err := s.translate(statement, d.catalog)
		if err != nil {
			return nil, false, err
		}
		async = async || t.async
		set, err := d.run(ctx, t, statement[0].is("SELECT"))
		if err != nil {
			return nil, false, err
		}
		if set != nil {
			sets = append(sets, *set)
		}
	}
	return sets, async, nil
}

// run runs one statement, whose tables of parameters stand while it runs.
func (d *database) run(ctx context.Context, t *translation, selects bool) (_ *rowSet, err error) {
	for parameter, value := range t.rows {
		if err := d.fill(ctx, parameter, value); err != nil {
			return nil, err
		}
		defer func() {
			_, dropping := d.conn.ExecContext(ctx, "DROP TABLE temp."+name(parameter))
			err = errors.Join(err, dropping)
		}()
	}
	if selects {
		set, err := d.query(ctx, t)
		if err == nil && !t.ordered {
			rand.Shuffle(len(set.rows), func(i, j int) { //nolint:gosec // any order will do
				set.rows[i], set.rows[j] = set.rows[j], set.rows[i]
			})
		}
		return set, err
	}
	_, err = d.conn.ExecContext(ctx, t.sql.String(), t.arguments...)
	return nil, err
}

// fill makes a table of a parameter that is a list of structs.
func (d *database) fill(ctx context.Context, parameter string, value *Ydb.TypedValue) error {
	members := value.GetType().GetListType().GetItem().GetStructType().GetMembers()
	var columns, marks []string
	for _, m := range members {
		inner, suffix := m.GetType(), ""
		if optional := inner.GetOptionalType(); optional != nil {
			inner, suffix = optional.GetItem(), " OPTIONAL"
		}
		columns = append(columns, name(m.GetName())+" "+sqliteTypes[spell(inner)]+suffix)
		marks = append(marks, "?")
	}
	if _, err := d.conn.ExecContext(ctx, "DROP TABLE IF EXISTS temp."+name(parameter)); err != nil {
		return err
	}
	if _, err := d.conn.ExecContext(ctx, fmt.Sprintf("CREATE TABLE temp.%s (%s)", name(parameter), strings.Join(columns, ", "))); err != nil {
		return err
	}
	insert, err := d.conn.PrepareContext(ctx, fmt.Sprintf("INSERT INTO temp.%s VALUES (%s)", name(parameter), strings.Join(marks, ", ")))
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for _, item := range value.GetValue().GetItems() {
		if len(item.GetItems()) != len(members) {
			return fmt.Errorf("the parameter $%s holds a struct of %d fields, not %d", parameter, len(item.GetItems()), len(members))
		}
		arguments := make([]any, len(members))
		for i, m := range members {
			if arguments[i], err = sqliteValue(m.GetType(), item.GetItems()[i]); err != nil {
				return fmt.Errorf("the parameter $%s holds in %s %w", parameter, m.GetName(), err)
			}
		}
		if _, err := insert.ExecContext(ctx, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// query runs a SELECT.
func (d *database) query(ctx context.Context, t *translation) (*rowSet, error) {
	if d.plans != nil {
		if err := d.plan(ctx, t); err != nil {
			return nil, err
		}
	}
	found, err := d.conn.QueryContext(ctx, t.sql.String(), t.arguments...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err says what went wrong
	described, err := found.ColumnTypes()
	if err != nil {
		return nil, err
	}
	set := &rowSet{}
	for _, c := range described {
		columnType, err := columnType(c.DatabaseTypeName(), t.counts)
		if err != nil {
			return nil, err
		}
		set.columns = append(set.columns, &Ydb.Column{Name: c.Name(), Type: columnType})
	}
	values, places := make([]any, len(described)), make([]any, len(described))
	for i := range values {
		places[i] = &values[i]
	}
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			return nil, err
		}
		row := &Ydb.Value{Items: make([]*Ydb.Value, len(values))}
		for i, v := range values {
			if row.Items[i], err = ydbValue(set.columns[i].GetType(), v); err != nil {
				return nil, err
			}
		}
		set.rows = append(set.rows, row)
	}
	return set, found.Err()
}

// plan notes how SQLite runs a statement, one step a line.
func (d *database) plan(ctx context.Context, t *translation) error {
	steps, err := d.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+t.sql.String(), t.arguments...)
	if err != nil {
		return err
	}
	defer func() { _ = steps.Close() }()
	var lines []string
	for steps.Next() {
		var id, parent, unused int
		var detail string
		if err := steps.Scan(&id, &parent, &unused, &detail); err != nil {
			return err
		}
		lines = append(lines, detail)
	}
	d.plans[t.sql.String()] = strings.Join(lines, "\n")
	return steps.Err()
}

// begin waits for the turn and begins a transaction.
func (d *database) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return &abortedError{}
	}
	if _, err := d.conn.ExecContext(context.WithoutCancel(ctx), "BEGIN"); err != nil {
		<-d.turn
		return err
	}
	return nil
}

// end commits or rolls back, and gives the turn to the next.
func (d *database) end(commit bool) error {
	defer func() { <-d.turn }()
	how := "ROLLBACK"
	if commit {
		how = "COMMIT"
	}
	_, err := d.conn.ExecContext(context.Background(), how)
	return err
}

// turnTimeout is how long a transaction waits for another.
const turnTimeout = 2 * time.Second

// abortedError is YDB's ABORTED.
type abortedError struct{}

func (*abortedError) Error() string { return "Transaction locks invalidated" }

// constraints are SQLite's codes for a row that breaks a rule of its table.
var constraints = []int{1299, 1555, 2067} // NOT NULL, PRIMARY KEY, UNIQUE

// statusOf is YDB's status for an error of a statement.
func statusOf(err error) Ydb.StatusIds_StatusCode {
	var scheme *schemeError
	var aborted *abortedError
	var engine *sqlite.Error
	switch {
	case errors.As(err, &scheme):
		return Ydb.StatusIds_SCHEME_ERROR
	case errors.As(err, &aborted):
		return Ydb.StatusIds_ABORTED
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Ydb.StatusIds_CANCELLED
	case errors.As(err, &engine) && slices.Contains(constraints, engine.Code()):
		if engine.Code() == constraints[0] {
			return Ydb.StatusIds_BAD_REQUEST
		}
		return Ydb.StatusIds_PRECONDITION_FAILED
	default:
		return Ydb.StatusIds_GENERIC_ERROR
	}
}
