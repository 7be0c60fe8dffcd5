package sqlite

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
	"sync/atomic"

	_ "modernc.org/sqlite" // registers the driver
)

// driverName is what modernc.org/sqlite registers itself as.
const driverName = "sqlite"

// filePermissions of a new database: it holds the payloads of all users. SQLite
// gives its side files the same.
const filePermissions = 0o600

// memories numbers the databases in memory of this process.
var memories atomic.Uint64

// database is the connections to one database.
type database struct {
	// write has one connection; its transactions take the write lock at once.
	write *sql.DB
	// read has several that cannot write. In memory it is the same as write,
	// since there is no log there that would keep the two apart.
	read *sql.DB
	// anchor keeps a database in memory alive even while no other connection is
	// open. It is never used and holds no lock.
	anchor *sql.Conn
}

// openDatabase connects and makes sure that the schema fits.
func openDatabase(ctx context.Context, c Config) (*database, error) {
	if !c.inMemory() {
		if err := prepareFile(c); err != nil {
			return nil, err
		}
	}
	db, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.Migrate || c.inMemory() {
		err = migrate(ctx, db.write)
	}
	if err == nil {
		err = checkVersion(ctx, db.write)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return db, nil
}

// prepareFile creates the file where it may, with permissions that SQLite itself
// would not give.
func prepareFile(c Config) error {
	if c.Migrate {
		f, err := os.OpenFile(c.Path, os.O_RDWR|os.O_CREATE, filePermissions)
		if err != nil {
			return fmt.Errorf("the database cannot be created or opened: %w", err)
		}
		return f.Close()
	}
	_, err := os.Stat(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database at %s: migrate to create it", c.Path)
	}
	return err
}

// connect opens the pools and tries the first connection of each.
func connect(ctx context.Context, c Config) (_ *database, err error) {
	db := &database{}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.close())
		}
	}()
	name := location(c)
	if db.write, err = sql.Open(driverName, name+"?"+parameters(c, false).Encode()); err != nil {
		return nil, fmt.Errorf("the database cannot be opened: %w", err)
	}
	if c.inMemory() {
		if db.anchor, err = db.write.Conn(ctx); err != nil {
			return nil, fmt.Errorf("the database cannot be opened: %w", err)
		}
		// One for the anchor, one for all work.
		db.write.SetMaxOpenConns(2)
		db.write.SetMaxIdleConns(2)
		db.read = db.write
	} else {
		db.write.SetMaxOpenConns(1)
		if db.read, err = sql.Open(driverName, name+"?"+parameters(c, true).Encode()); err != nil {
			return nil, fmt.Errorf("the database cannot be opened: %w", err)
		}
		db.read.SetMaxOpenConns(c.Readers)
		db.read.SetMaxIdleConns(c.Readers)
	}
	// The writer first: it is the one that turns on the write-ahead log.
	if err = errors.Join(db.write.PingContext(ctx), db.read.PingContext(ctx)); err != nil {
		return nil, fmt.Errorf("the database cannot be opened: %w", err)
	}
	return db, nil
}

// location is the database as a URI, so that no character of the path is taken
// for the start of the parameters.
func location(c Config) string {
	if c.inMemory() {
		// The leading slash makes memdb share it among connections.
		return fmt.Sprintf("file:/gnomon-%d", memories.Add(1))
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(c.Path), OmitHost: true}
	if !filepath.IsAbs(c.Path) {
		u = url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(c.Path)}).EscapedPath()}
	}
	return u.String()
}

// parameters are the driver's, and apply to each of its connections.
func parameters(c Config, readOnly bool) url.Values {
	q := url.Values{}
	q.Set("_busy_timeout", strconv.FormatInt(c.BusyTimeout.Milliseconds(), 10))
	if c.inMemory() {
		q.Set("vfs", "memdb")
		q.Set("_txlock", "immediate")
		return q
	}
	q.Set("mode", "rw") // a file that disappeared is an error, not an empty store
	if readOnly {
		q.Set("_query_only", "1")
		return q
	}
	q.Set("_journal_mode", "WAL")
	// A read transaction that turns into a writing one can fail at once instead of
	// waiting its turn.
	q.Set("_txlock", "immediate")
	q.Set("_synchronous", "FULL")
	if c.RelaxedSync {
		q.Set("_synchronous", "NORMAL")
	}
	return q
}

// close releases every connection that was opened.
func (db *database) close() error {
	var errs []error
	if db.anchor != nil {
		errs = append(errs, db.anchor.Close())
	}
	if db.read != nil && db.read != db.write {
		errs = append(errs, db.read.Close())
	}
	if db.write != nil {
		errs = append(errs, db.write.Close())
	}
	return errors.Join(errs...)
}
