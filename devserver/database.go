package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	temporalsql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	_ "modernc.org/sqlite" // The driver of the lock file.
)

const (
	databaseFile = "temporal.db"
	lockFile     = "temporal.lock"
)

// databases numbers the databases opened by this process, see sqlConfig.
var databases atomic.Uint64

// database is what one server keeps its data in.
type database struct {
	main, visibility *config.SQL
	// shards is the number of history shards, for a database that is new.
	shards int32
	close  func() error
}

// openDatabase makes the database ready for a server: locked against others, with its
// schema.
func openDatabase(ctx context.Context, cfg Config, l *logger) (*database, error) {
	if cfg.Postgres != nil {
		return openPostgres(ctx, *cfg.Postgres, l)
	}
	file, err := openSQLite(ctx, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	// One shard: with a single connection more would only add hops between them.
	return &database{main: file.config, visibility: file.config, shards: 1, close: file.close}, nil
}

// sqliteDatabase is a file, or in memory.
type sqliteDatabase struct {
	config *config.SQL
	lock   *sql.DB // nil in memory
}

// openSQLite opens the database in dir, or in memory if dir is empty.
func openSQLite(ctx context.Context, dir string) (*sqliteDatabase, error) {
	if dir == "" {
		return &sqliteDatabase{config: sqlConfig("gnomon-dev-"+strconv.FormatUint(databases.Add(1), 10), map[string]string{
			"mode":  "memory",
			"cache": "shared",
		})}, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("devserver: DataDir: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("devserver: DataDir cannot be made: %w", err)
	}
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, databaseFile)
	if err := createDatabase(path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &sqliteDatabase{
		lock: lock,
		config: sqlConfig(path, map[string]string{
			"mode": "rw",
			// With a write-ahead log, FULL costs one fsync per commit, and a commit
			// that was acknowledged survives a loss of power. Less would be faster and
			// still survive a kill -9, but gnomon-dev promises that nothing is lost.
			"journal_mode": "wal",
			"synchronous":  "full",
			"busy_timeout": "5000",
		}),
	}, nil
}

// close gives the data directory free. Temporal never closes its connections;
// MaxConnLifetime in sqlConfig sees to those of files.
func (d *sqliteDatabase) close() error {
	if d.lock == nil {
		return d.drop()
	}
	return errors.Join(d.exec("PRAGMA wal_checkpoint(TRUNCATE)"), d.lock.Close())
}

// drop gives back the memory of a database that lives nowhere else.
func (d *sqliteDatabase) drop() error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer func() { _ = admin.Close() }() // It only counts references.
	tables, err := admin.ListTables(d.config.DatabaseName)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if strings.HasPrefix(table, "sqlite_") {
			continue // SQLite's own.
		}
		// The shadow tables of a full-text index go with it, hence IF EXISTS.
		if err := admin.Exec(`DROP TABLE IF EXISTS "` + table + `"`); err != nil {
			return err
		}
	}
	return admin.Exec("VACUUM")
}

func (d *sqliteDatabase) exec(statement string) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	return errors.Join(admin.Exec(statement), admin.Close())
}

func (d *sqliteDatabase) admin() (sqlplugin.AdminDB, error) {
	return temporalsql.NewSQLAdminDB(sqlplugin.DbKindMain, d.config, resolver.NewNoopResolver(),
		log.NewNoopLogger(), metrics.NoopMetricsHandler)
}

// createDatabase writes a database with Temporal's schema to path, unless one is
// there. It appears whole or not at all: a process killed on the way leaves only
// a file that the next start throws away.
func createDatabase(path string) error {
	switch _, err := os.Stat(path); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("devserver: the database cannot be read: %w", err)
	}
	unfinished := path + ".new"
	for _, leftover := range []string{unfinished, unfinished + "-journal"} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("devserver: an unfinished database cannot be removed: %w", err)
		}
	}
	cfg := sqlConfig(unfinished, map[string]string{"mode": "rwc", "synchronous": "off"})
	if err := sqliteschema.SetupSchema(cfg); err != nil {
		return fmt.Errorf("devserver: the database cannot be made: %w", err)
	}
	if err := syncFile(unfinished); err != nil {
		return fmt.Errorf("devserver: the database cannot be made: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("devserver: the database cannot be made: %w", err)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func sqlConfig(name string, attributes map[string]string) *config.SQL {
	cfg := &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		ConnectAttributes: attributes,
		DatabaseName:      (&url.URL{Path: name}).EscapedPath(),
	}
	if attributes["mode"] == "memory" {
		return cfg
	}
	// Temporal pools connections by their parameters for the life of the process.
	// A parameter that means nothing to SQLite keeps a server from being given the
	// connection of an earlier one, whose file may have been deleted since, and a
	// limited lifetime closes that connection some time after its server stopped.
	attributes["setup"] = strconv.FormatUint(databases.Add(1), 10)
	cfg.MaxConnLifetime = time.Minute
	return cfg
}

// lockDir holds dir until the returned handle is closed or the process ends,
// however it ends. SQLite's own lock is used because it works on every system.
func lockDir(ctx context.Context, dir string) (*sql.DB, error) {
	path := (&url.URL{Path: filepath.Join(dir, lockFile)}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout=0")
	if err != nil {
		return nil, fmt.Errorf("devserver: DataDir cannot be locked: %w", err)
	}
	// The lock belongs to a connection, so there must be one and it must stay.
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"); err != nil {
		return nil, fmt.Errorf("devserver: DataDir %s is in use by another server: %w", dir, errors.Join(err, db.Close()))
	}
	return db, nil
}
