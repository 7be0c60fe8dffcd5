package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"gnomon/store/internal/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationAttempts bounds how often migrate starts over because another process
// migrated the same file meanwhile. Each time that process got further.
const migrationAttempts = 5

// migrate brings the schema to this program's version. Several processes may do
// so at once: goose has no lock for SQLite, but each migration is a transaction,
// so the slower one fails cleanly and starts over.
func migrate(ctx context.Context, db *sql.DB) error {
	for attempt := 1; ; attempt++ {
		// goose keeps what it saw of its table, hence a new provider each time.
		provider, err := newProvider(db)
		if err != nil {
			return fmt.Errorf("the migrations of this program cannot be read: %w", err)
		}
		_, err = provider.Up(ctx)
		if err == nil {
			return nil
		}
		if attempt == migrationAttempts || ctx.Err() != nil {
			return fmt.Errorf("the database cannot be migrated: %w", err)
		}
	}
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
}

// checkVersion refuses a schema that is not this program's. It writes nothing.
func checkVersion(ctx context.Context, db *sql.DB) error {
	want, err := programVersion()
	if err != nil {
		return err
	}
	have, err := databaseVersion(ctx, db)
	switch {
	case err != nil:
		return fmt.Errorf("the version of the database cannot be read: %w", err)
	case have < want:
		return fmt.Errorf("the database is behind: its schema has version %d, this program needs %d: migrate it first", have, want)
	case have > want:
		return fmt.Errorf("the database is ahead: its schema has version %d, this program knows %d: use a newer program", have, want)
	}
	return nil
}

// databaseVersion is the last migration that was applied, 0 for none.
func databaseVersion(ctx context.Context, db *sql.DB) (int64, error) {
	var n int64
	if err := db.QueryRowContext(ctx, statementHasVersions).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err := db.QueryRowContext(ctx, statementVersion).Scan(&n)
	return n, err
}

// programVersion is the last migration that this program has.
func programVersion() (int64, error) { return schema.Version(migrations, "migrations") }
