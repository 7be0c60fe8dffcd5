package queue

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver
)

//go:embed migrations/*.sql
var migrations embed.FS

// filePermissions of the file: it holds the arguments of all actions.
const filePermissions = 0o600

// Queue is the queue in its file. All methods are safe for concurrent use.
type Queue struct {
	db          *sql.DB
	incarnation string
}

// Open opens the queue in a file and makes it if there is none. One process may have it
// open at a time: a second one is refused, as two would run two actions side by side.
func Open(ctx context.Context, path string) (_ *Queue, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePermissions)
	if err != nil {
		return nil, fmt.Errorf("the queue cannot be created or opened: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	q := &Queue{}
	if q.db, err = sql.Open("sqlite", location(path)); err != nil {
		return nil, fmt.Errorf("the queue cannot be opened: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, q.db.Close())
		}
	}()
	// One connection, whose exclusive lock keeps every other process out.
	q.db.SetMaxOpenConns(1)
	q.db.SetMaxIdleConns(1)
	q.db.SetConnMaxLifetime(0)
	if err := q.migrate(ctx); err != nil {
		return nil, fmt.Errorf("the queue at %s cannot be used, perhaps as another agent has it open: %w", path, err)
	}
	row := q.db.QueryRowContext(ctx, `INSERT INTO queue (one, incarnation, last_change) VALUES (1, ?, 0)
		ON CONFLICT (one) DO UPDATE SET one = 1 RETURNING incarnation`, uuid.NewString())
	if err := row.Scan(&q.incarnation); err != nil {
		return nil, fmt.Errorf("the queue cannot be written: %w", err)
	}
	return q, nil
}

// location is the file as a URI with the settings of its connection: every commit is
// on the disk before it is said to be, and nobody else has the file.
func location(path string) string {
	settings := url.Values{"_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true}
	if !filepath.IsAbs(path) {
		u = url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	}
	return u.String() + "?" + settings.Encode()
}

func (q *Queue) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, q.db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// Incarnation names this queue; a file that was made anew has another.
func (q *Queue) Incarnation() string { return q.incarnation }

// Close releases the file.
func (q *Queue) Close() error { return q.db.Close() }
