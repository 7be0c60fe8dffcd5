package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"gnomon/store"
)

// PutActions implements store.Actions. The rows of one call are written together
// or not at all.
func (s *Store) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	changed, err := s.write(ctx, opPut, rows)
	return changed, failure(ctx, "PutActions", err)
}

// InsertAction implements store.Actions.
func (s *Store) InsertAction(ctx context.Context, row store.Row) (bool, error) {
	row.Revision = store.Revision{}
	changed, err := s.write(ctx, opInsert, []store.Row{row})
	if err != nil {
		return false, failure(ctx, "InsertAction", err)
	}
	return changed[0], nil
}

// write encodes the rows in the caller's goroutine, so that the writer only writes.
func (s *Store) write(ctx context.Context, kind opKind, rows []store.Row) ([]bool, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, nil
	}
	now := s.config.Now()
	o := op{kind: kind, arguments: make([][]any, len(rows))}
	for i, row := range rows {
		var err error
		if o.arguments[i], err = columns(row, now, s.config.TombstoneTTL); err != nil {
			return nil, err
		}
	}
	affected, err := s.writer.Do(ctx, o)
	if err != nil {
		return nil, err
	}
	changed := make([]bool, len(affected))
	for i, n := range affected {
		changed[i] = n > 0
	}
	return changed, nil
}

// PurgeActions implements store.Actions. A limit below 1 removes nothing.
func (s *Store) PurgeActions(ctx context.Context, limit int) (int, error) {
	if err := s.check(ctx); err != nil {
		return 0, failure(ctx, "PurgeActions", err)
	}
	if limit < 1 { // to SQLite a negative limit is none
		return 0, nil
	}
	affected, err := s.writer.Do(ctx, op{kind: opPurge, arguments: [][]any{{
		sql.Named("now", s.config.Now().UnixMicro()), sql.Named("limit", limit),
	}}})
	if err != nil {
		return 0, failure(ctx, "PurgeActions", err)
	}
	return int(affected[0]), nil
}

// GetAction implements store.Actions.
func (s *Store) GetAction(ctx context.Context, id string) (store.Row, error) {
	if err := s.check(ctx); err != nil {
		return store.Row{}, failure(ctx, "GetAction", err)
	}
	row, err := scanRow(s.db.read.QueryRowContext(ctx, statementGet,
		sql.Named("hash", hashID(id)), sql.Named("id", id),
		sql.Named("now", s.config.Now().UnixMicro())).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return row, failure(ctx, "GetAction", err)
}

// ListActions implements store.Actions. A limit below 1 is an error.
func (s *Store) ListActions(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	rows, err := s.list(ctx, q)
	return rows, failure(ctx, "ListActions", err)
}

func (s *Store) list(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	statement, arguments, err := listStatement(q, s.config.Now())
	if err != nil {
		return nil, err
	}
	found, err := s.db.read.QueryContext(ctx, statement, arguments...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err says what went wrong
	var rows []store.Row
	for found.Next() {
		row, err := scanRow(found.Scan)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// Ping implements store.Actions: it reads the table.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return failure(ctx, "Ping", err)
	}
	var n int
	return failure(ctx, "Ping", s.db.read.QueryRowContext(ctx, statementPing).Scan(&n))
}
