package ydb

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"
	goosedb "github.com/pressly/goose/v3/database"
)

// versionTable is goose's table of versions, written so that a migration which failed
// at any statement, or whose answer was lost there, may be run again: goose's own
// statements make a table or a row only where there is none, and fail for ever on what
// an earlier run has left.
type versionTable struct{ goosedb.Store }

func newVersionTable() (versionTable, error) {
	s, err := goosedb.NewStore(goosedb.DialectYdB, goose.DefaultTablename)
	return versionTable{s}, err
}

// CreateVersionTable implements database.Store.
func (versionTable) CreateVersionTable(ctx context.Context, db goosedb.DBTxConn) error {
	_, err := db.ExecContext(ctx, statementVersionTable)
	if err != nil {
		return fmt.Errorf("the table of versions cannot be made: %w", err)
	}
	return nil
}

// Insert implements database.Store.
func (versionTable) Insert(ctx context.Context, db goosedb.DBTxConn, r goosedb.InsertRequest) error {
	_, err := db.ExecContext(ctx, statementVersionApplied, r.Version, true)
	if err != nil {
		return fmt.Errorf("version %d cannot be noted: %w", r.Version, err)
	}
	return nil
}
