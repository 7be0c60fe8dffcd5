package site

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gnomon/faults/processes"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/store"
	"gnomon/store/open"
	"gnomon/store/sqlite"
)

// Rows says what the rows are in.
type Rows string

// What the rows may be in: a file among the records, or YDB's double, a process.
const (
	SQLite Rows = "sqlite"
	YDB    Rows = "ydb"
)

// installation is the directory of the rows in the double's database.
const installation = "gnomon"

// startYDB starts YDB's double and has `gnomon migrate` prepare it.
func (s *Site) startYDB(ctx context.Context) (err error) {
	if s.ydb, err = processes.Start(s.Dir, roles.YDB, "--installation", installation); err != nil {
		return err
	}
	if s.store, err = s.ydb.Out(ctx, "grpc://"); err != nil {
		return err
	}
	migrate, err := processes.Start(s.Dir, roles.Migrate, "--store", s.store)
	if err != nil {
		return err
	}
	_, err = migrate.Out(ctx, "The schema was migrated")
	return err
}

// OrderYDB has YDB's double be unwell, and says how many statements were befallen since
// the order before.
func (s *Site) OrderYDB(ctx context.Context, o roles.Outage) (befallen int, err error) {
	if s.ydb == nil {
		return 0, errors.New("the rows are in a file")
	}
	sent, answer, err := s.order(ctx, s.ydb, roles.Order{YDB: &o})
	if err != nil {
		return 0, err
	}
	return sent.Befallen(answer)
}

// OpenStore opens the store as it is.
func (s *Site) OpenStore(ctx context.Context) (store.Actions, error) {
	return open.Store(ctx, s.store)
}

// RemoveRow removes the row of an id as a person would, behind the store's back.
func (s *Site) RemoveRow(ctx context.Context, id string) error {
	remove := s.removeFromFile
	if s.ydb != nil {
		remove = s.removeFromYDB
	}
	if err := remove(ctx, id); err != nil {
		return fmt.Errorf("the row of %s cannot be removed: %w", id, err)
	}
	return nil
}

// KeepRows writes the rows into a file among the records where they would end with
// their server.
func (s *Site) KeepRows(ctx context.Context) error {
	if s.ydb == nil {
		return nil
	}
	from, err := s.OpenStore(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	all, err := record.Table(ctx, from)
	if err != nil {
		return err
	}
	to, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(s.Dir, record.StoreFile), Migrate: true})
	if err != nil {
		return err
	}
	rows := make([]store.Row, 0, len(all))
	for _, r := range all {
		rows = append(rows, r)
	}
	_, err = to.PutActions(ctx, rows)
	return errors.Join(err, to.Close())
}
