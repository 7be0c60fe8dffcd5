// Package open opens the store that a configuration names.
package open

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gnomon/store"
	"gnomon/store/sqlite"
	"gnomon/store/ydb"
)

// Default is the store where none is named: a file in the working directory.
const Default = "sqlite:.gnomon/gnomon.db"

// Forms is what a store's name may look like.
const Forms = "sqlite:PATH, grpc[s]://host:port/database[?directory=PATH], or ydb with " + ydb.EnvConnectionString

// The kinds of stores.
const (
	kindSQLite = "sqlite"
	kindYDB    = "ydb"
)

// Store opens the store of a name. "sqlite:PATH" is made where there is none and
// brought up to date; "sqlite::memory:" ends with the process. A YDB's connection
// string, or "ydb" for that of YDB_CONNECTION_STRING, opens an installation as it is:
// many processes share it and YDB has no lock for migrations, so one that is not up
// to date is refused with the command to run.
func Store(ctx context.Context, name string) (store.Store, error) {
	kind, where, err := parse(name)
	if err != nil {
		return nil, err
	}
	if kind == kindYDB {
		return opened(ydb.Open(ctx, ydb.Config{ConnectionString: where}))
	}
	return openSQLite(ctx, where)
}

// parse gives the kind of a store, and its path or connection string. Errors do not
// repeat what may hold a password.
func parse(name string) (kind, where string, err error) {
	prefix, rest, _ := strings.Cut(name, ":")
	switch {
	case prefix == kindSQLite && rest != "":
		return kindSQLite, rest, nil
	case strings.HasPrefix(name, "grpc://"), strings.HasPrefix(name, "grpcs://"):
		return kindYDB, name, nil
	case name == kindYDB:
		where = os.Getenv(ydb.EnvConnectionString)
		if where == "" {
			return "", "", errors.New("store is ydb, but " + ydb.EnvConnectionString + " is not set")
		}
		return kindYDB, where, nil
	default:
		return "", "", fmt.Errorf("store is %q and must be %s", shown(name), Forms)
	}
}

// openSQLite opens a file, in a directory that is made if need be, or a database in
// memory.
func openSQLite(ctx context.Context, path string) (store.Store, error) {
	if path != sqlite.MemoryPath {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, fmt.Errorf("the store's directory cannot be made: %w", err)
		}
	}
	return opened(sqlite.Open(ctx, sqlite.Config{Path: path, Migrate: true}))
}

// opened keeps a store that was not opened from being an interface that is not nil.
func opened[S store.Store](s S, err error) (store.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
