package ydb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"

	"gnomon/store/internal/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// MigrateCommand is what a person runs to bring the schema up to date.
const MigrateCommand = "gnomon migrate"

// Migrate brings the installation's tables to this program's version, and makes the
// directory and the tables where there are none. Run it from one place at a time: YDB
// has no lock for it. What failed midway may be run again. A schema that is ahead is
// left as it is.
func Migrate(ctx context.Context, c Config) error {
	return connected(ctx, c, func(s *Store, t target) (err error) {
		db, err := openSQL(s.driver, t)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		provider, err := newProvider(db)
		if err != nil {
			return fmt.Errorf("the migrations of this program cannot be read: %w", err)
		}
		if _, err := provider.Up(ctx); err != nil {
			return fmt.Errorf("the tables in %s cannot be migrated: %w", t.prefix, legible(err))
		}
		return nil
	})
}

// Versions are those of the installation's schema: the one it has, 0 for none, and
// the one this program needs.
func Versions(ctx context.Context, c Config) (have, want int64, err error) {
	err = connected(ctx, c, func(s *Store, _ target) error {
		have, want, err = s.versions(ctx)
		return err
	})
	return have, want, err
}

// connected does something with a connection that is not a store's.
func connected(ctx context.Context, c Config, do func(*Store, target) error) (err error) {
	s, t, err := dial(ctx, c)
	if err != nil {
		return fmt.Errorf("ydb: %w", err)
	}
	defer func() {
		if err = errors.Join(err, s.driver.Close(context.WithoutCancel(ctx))); err != nil {
			err = fmt.Errorf("ydb: %w", err)
		}
	}()
	return do(s, t)
}

// openSQL is the driver as goose wants it: names are relative to the installation,
// and $1 is a parameter that is declared by its value.
func openSQL(driver *ydb.Driver, t target) (*sql.DB, error) {
	connector, err := ydb.Connector(driver, ydb.WithQueryService(true),
		ydb.WithTablePathPrefix(t.prefix), ydb.WithAutoDeclare(), ydb.WithNumericArgs())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// newProvider reads the migrations. DDL must be outside transactions and alone.
func newProvider(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	versions, err := newVersionTable()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectCustom, db, dir, goose.WithStore(versions), goose.WithIsolateDDL(true), goose.WithDisableGlobalRegistry(true))
}

// checkVersion refuses a schema that is not this program's. It writes nothing.
func (s *Store) checkVersion(ctx context.Context) error {
	have, want, err := s.versions(ctx)
	switch {
	case err != nil:
		return err
	case have < want:
		return fmt.Errorf("the store is behind: its tables in %s have version %d, this program needs %d: run %s", s.prefix, have, want, MigrateCommand)
	case have > want:
		return fmt.Errorf("the store is ahead: its tables in %s have version %d, this program knows %d: use a newer program", s.prefix, have, want)
	}
	return nil
}

// versions are the schema's and this program's.
func (s *Store) versions(ctx context.Context) (have, want int64, err error) {
	if want, err = programVersion(); err != nil {
		return 0, 0, err
	}
	if have, err = s.databaseVersion(ctx); err != nil {
		return 0, want, fmt.Errorf("the version of the tables in %s cannot be read: %w", s.prefix, legible(err))
	}
	return have, want, nil
}

// databaseVersion is the last migration that was applied, 0 for none.
func (s *Store) databaseVersion(ctx context.Context) (int64, error) {
	var version *uint64
	err := s.run(ctx, &statement{text: statementVersion}, reading(), func(row query.Row) error { return row.Scan(&version) })
	if ydb.IsOperationError(err, Ydb.StatusIds_SCHEME_ERROR) { // there is no such table
		return 0, nil
	}
	if err != nil || version == nil {
		return 0, err
	}
	return int64(*version), nil
}

// programVersion is the last migration that this program has.
func programVersion() (int64, error) { return schema.Version(migrations, "migrations") }
