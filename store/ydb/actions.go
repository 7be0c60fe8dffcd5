package ydb

import (
	"context"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store"
	"gnomon/store/internal/mirror"
)

// PutActions implements store.Actions. A call whose rows fit one statement, which is
// all but those of many megabytes or of one id twice, is written as a whole or not
// at all.
func (s *Store) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	applied, err := s.write(ctx, false, rows)
	return applied, failure(ctx, "PutActions", err)
}

// InsertAction implements store.Actions.
func (s *Store) InsertAction(ctx context.Context, row store.Row) (bool, error) {
	row.Revision = store.Revision{}
	applied, err := s.write(ctx, true, []store.Row{row})
	if err != nil {
		return false, failure(ctx, "InsertAction", err)
	}
	return applied[0], nil
}

// write encodes the rows in the caller's goroutine and has them written in a group.
func (s *Store) write(ctx context.Context, insert bool, rows []store.Row) ([]bool, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, nil
	}
	w := write{insert: insert, rows: make([]mirror.Columns, len(rows))}
	now := s.config.Now()
	for i, row := range rows {
		var err error
		if w.rows[i], err = mirror.Derive(row, now, s.config.TombstoneTTL); err != nil {
			return nil, err
		}
	}
	return s.writer.Do(ctx, w)
}

// PurgeActions implements store.Actions. A limit below 1 removes nothing. Of a
// removal whose answer was lost, only what its repetition removed is counted.
func (s *Store) PurgeActions(ctx context.Context, limit int) (int, error) {
	if err := s.check(ctx); err != nil {
		return 0, failure(ctx, "PurgeActions", err)
	}
	if limit < 1 {
		return 0, nil
	}
	st := &statement{text: statementPurge}
	st.add("$now", timestamp(s.config.Now()))
	st.add("$limit", types.Uint64Value(uint64(min(limit, groupRows))))
	var purged int
	err := s.run(ctx, st, writing(), func(query.Row) error {
		purged++
		return nil
	})
	return purged, failure(ctx, "PurgeActions", err)
}

// GetAction implements store.Actions.
func (s *Store) GetAction(ctx context.Context, id string) (store.Row, error) {
	if err := s.check(ctx); err != nil {
		return store.Row{}, failure(ctx, "GetAction", err)
	}
	if !utf8.ValidString(id) { // no id is, and YDB would refuse the parameter
		return store.Row{}, failure(ctx, "GetAction", store.ErrNotFound)
	}
	st := &statement{text: statementGet}
	st.add("$hash", types.Uint64Value(mirror.HashID(id)))
	st.add("$id", types.TextValue(id))
	st.add("$now", timestamp(s.config.Now()))
	rows, err := s.rows(ctx, st)
	if err == nil && len(rows) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Row{}, failure(ctx, "GetAction", err)
	}
	return rows[0], nil
}

// ListActions implements store.Actions. A limit below 1 is an error.
func (s *Store) ListActions(ctx context.Context, q store.ActionQuery) ([]store.Row, error) {
	if err := s.check(ctx); err != nil {
		return nil, failure(ctx, "ListActions", err)
	}
	st, err := listStatement(q, s.config.Now())
	if err != nil || st == nil {
		return nil, failure(ctx, "ListActions", err)
	}
	rows, err := s.rows(ctx, st)
	if err != nil {
		return nil, failure(ctx, "ListActions", err)
	}
	sortRows(rows, q)
	return rows, nil
}

// Ping implements store.Actions: it reads the table.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return failure(ctx, "Ping", err)
	}
	return failure(ctx, "Ping", s.run(ctx, &statement{text: statementPing}, reading(), func(query.Row) error { return nil }))
}

// rows reads what a statement selects with rowColumns.
func (s *Store) rows(ctx context.Context, st *statement) ([]store.Row, error) {
	var rows []store.Row
	err := s.run(ctx, st, reading(), func(row query.Row) error {
		decoded, err := scanRow(row)
		rows = append(rows, decoded)
		return err
	})
	return rows, err
}

// scanRow reads rowColumns. Columns that may be NULL are read through pointers: the
// SDK leaves anything else as it was.
func scanRow(row query.Row) (store.Row, error) {
	var meta, spec, status *[]byte
	var stored mirror.Stored
	err := row.Scan(&meta, &spec, &status, &stored.Revision, &stored.Chain, &stored.Tombstone, &stored.DeletedBy)
	if err != nil {
		return store.Row{}, err
	}
	stored.Meta, stored.Spec, stored.Status = present(meta), present(spec), present(status)
	return stored.Decode()
}

// present is nil for NULL only.
func present(b *[]byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, *b...)
}
