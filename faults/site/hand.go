package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"

	"gnomon/faults/record"
)

// removeFromFile removes a row by SQL.
func (s *Site) removeFromFile(ctx context.Context, id string) (err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.Dir, record.StoreFile)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	result, err := db.ExecContext(ctx, "DELETE FROM scheduled_actions WHERE meta_action_id = ?", id)
	if err != nil {
		return err
	}
	gone, err := result.RowsAffected()
	if err == nil && gone != 1 {
		err = fmt.Errorf("there were %d", gone)
	}
	return err
}

// removeFromYDB removes a row by YQL.
func (s *Site) removeFromYDB(ctx context.Context, id string) (err error) {
	database, directory, _ := strings.Cut(s.store, "?directory=")
	driver, err := ydb.Open(ctx, database, ydb.WithAnonymousCredentials())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, driver.Close(context.WithoutCancel(ctx))) }()
	row := fmt.Sprintf("PRAGMA TablePathPrefix(%q);\nDECLARE $id AS Utf8;\n", driver.Name()+"/"+directory) +
		"%s FROM scheduled_actions WHERE meta_action_id = $id;"
	with := []query.ExecuteOption{query.WithParameters(ydb.ParamsBuilder().Param("$id").Text(id).Build())}
	// A DELETE does not say how many there were.
	found, err := driver.Query().QueryResultSet(ctx, fmt.Sprintf(row, "SELECT meta_action_id"), with...)
	if err != nil {
		return err
	}
	rows := 0
	for _, err := range found.Rows(ctx) {
		if err != nil {
			return err
		}
		rows++
	}
	if rows != 1 {
		return fmt.Errorf("there were %d", rows)
	}
	return driver.Query().Exec(ctx, fmt.Sprintf(row, "DELETE"), with...)
}
