package sqlite

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"gnomon/store"
)

// primaryCode is the part of a result code of SQLite that says what kind it is; the
// rest says where.
const primaryCode = 0xff

// classify says what kind of failure an error of SQLite is.
func classify(err error) error {
	if errors.Is(err, ErrClosed) {
		return store.Classify(err, store.ClassUnavailable)
	}
	var known *sqlite.Error
	if !errors.As(err, &known) {
		return err
	}
	switch known.Code() & primaryCode {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return store.Classify(err, store.ClassContended)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOLFS:
		return store.Classify(err, store.ClassDisk)
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return store.Classify(err, store.ClassDenied)
	default:
		return err
	}
}
