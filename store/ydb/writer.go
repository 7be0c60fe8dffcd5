package ydb

import (
	"context"
	"math/rand/v2"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store/internal/mirror"
)

// Bounds of a statement, well below YDB's own: a request has at most 64 MB, and a
// transaction should not touch much more than a thousand rows.
const (
	groupBytes = 8 << 20
	groupRows  = 1000
	// rowBytes is what a row counts besides its blobs, so that groupRows small ones
	// reach groupBytes.
	rowBytes = groupBytes / groupRows
)

// write is one caller's rows, all put or all inserted.
type write struct {
	insert bool
	rows   []mirror.Columns
}

// weigh is a write's part of groupBytes.
func weigh(w write) int {
	var n int
	for _, row := range w.rows {
		n += weighRow(row)
	}
	return n
}

func weighRow(c mirror.Columns) int { return rowBytes + len(c.Meta) + len(c.Spec) + len(c.Status) }

// blames says whether one write of a group may be what the server refuses, as
// against a server that is not well.
func blames(err error) bool {
	return ydb.IsOperationError(err, Ydb.StatusIds_BAD_REQUEST, Ydb.StatusIds_PRECONDITION_FAILED,
		Ydb.StatusIds_GENERIC_ERROR, Ydb.StatusIds_UNSUPPORTED)
}

// piece is a row of a statement and where its answer belongs.
type piece struct {
	columns mirror.Columns
	insert  bool
	applied *bool
}

// commit writes a group, what is put and what is inserted together, with as few
// statements as its rows allow: an id only once in each, since rows of one id apply in
// their order. No caller's context is the group's; Config.Timeout bounds each statement.
func (s *Store) commit(writes []write) ([][]bool, error) {
	results := make([][]bool, len(writes))
	var pieces []piece
	for i, w := range writes {
		results[i] = make([]bool, len(w.rows))
		for j, row := range w.rows {
			pieces = append(pieces, piece{columns: row, insert: w.insert, applied: &results[i][j]})
		}
	}
	for _, round := range rounds(pieces) {
		if err := s.apply(context.Background(), round); err != nil {
			return nil, err
		}
	}
	s.writes.Add(uint64(len(writes)))
	return results, nil
}

// rounds divides pieces so that no round has an id twice, an earlier piece of an id
// is in an earlier round, and none is bigger than a statement may be.
func rounds(pieces []piece) [][]piece {
	var all [][]piece
	var weights []int
	next := map[string]int{} // the first round that may have this id
	for _, p := range pieces {
		weight := weighRow(p.columns)
		n := next[p.columns.ID]
		for n < len(all) && weights[n]+weight > groupBytes {
			n++
		}
		if n == len(all) {
			all, weights = append(all, nil), append(weights, 0)
		}
		all[n] = append(all[n], p)
		weights[n] += weight
		next[p.columns.ID] = n + 1
	}
	return all
}

// apply writes the pieces of one round with one statement.
func (s *Store) apply(ctx context.Context, round []piece) error {
	st := &statement{text: statementPut}
	answers := make(map[uint64]*bool, len(round))
	rows := list(round, func(p piece) types.Value {
		number := rand.Uint64() //nolint:gosec // not a secret: it only has to differ
		answers[number] = p.applied
		return rowValue(p.columns, p.insert, number)
	})
	st.add("$now", timestamp(s.config.Now()))
	st.add("$rows", rows)
	err := s.run(ctx, st, writing(), func(row query.Row) error {
		var number uint64
		if err := row.Scan(&number); err != nil {
			return err
		}
		if applied := answers[number]; applied != nil {
			*applied = true
		}
		return nil
	})
	if err == nil {
		s.statements.Add(1)
	}
	return err
}
