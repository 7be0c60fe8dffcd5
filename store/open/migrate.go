package open

import (
	"context"
	"fmt"
	"strings"

	"gnomon/store"
	"gnomon/store/sqlite"
)

// Versions are those of a store's schema.
type Versions struct {
	// Have is the store's, 0 for none; Want is this program's.
	Have, Want int64
}

// Migrate brings the schema of the store of this name to this program's version and
// says which one it had. A dry run only says so. A store that is ahead is refused.
func Migrate(ctx context.Context, name string, dryRun bool) (Versions, error) {
	s, err := schemaOf(name)
	if err != nil {
		return Versions{}, err
	}
	v, err := s.versions(ctx)
	switch {
	case err != nil:
		return v, err
	case v.Have > v.Want:
		return v, ahead(name, v)
	case v.Have == v.Want || dryRun:
		return v, nil
	}
	return v, s.migrate(ctx)
}

// Current opens the store of this name as it is. One whose schema is not this
// program's is refused, with the command to run.
func Current(ctx context.Context, name string) (store.Store, error) {
	s, err := schemaOf(name)
	if err != nil {
		return nil, err
	}
	v, err := s.versions(ctx)
	switch {
	case err != nil:
		return nil, err
	case v.Have > v.Want:
		return nil, ahead(name, v)
	case v.Have < v.Want:
		return nil, fmt.Errorf("the store %s is behind: its schema has version %d, this program needs %d; run: %s", shown(name), v.Have, v.Want, command(name))
	}
	return s.open(ctx)
}

// MigratesByDefault says whether starter and worker bring the store of this name up to
// date by themselves unless told otherwise: a file of this machine, not a database
// that many processes share.
func MigratesByDefault(name string) bool { return isFile(name) }

// OneMachine says whether all who use the store of this name run on one machine, and so
// have its clock.
func OneMachine(name string) bool { return isFile(name) }

func isFile(name string) bool { return strings.HasPrefix(name, "sqlite:") }

// schema is the schema of one store.
type schema interface {
	versions(ctx context.Context) (Versions, error)
	// migrate brings it up to date.
	migrate(ctx context.Context) error
	// open opens it as it is.
	open(ctx context.Context) (store.Store, error)
}

func schemaOf(name string) (schema, error) {
	kind, where, err := parse(name)
	switch {
	case err != nil:
		return nil, err
	case kind == kindYDB:
		return ydbSchema{where}, nil
	case where == sqlite.MemoryPath:
		return memorySchema{name}, nil
	default:
		return sqliteSchema{name, where}, nil
	}
}

// sqliteSchema is that of a file.
type sqliteSchema struct{ name, path string }

func (s sqliteSchema) versions(ctx context.Context) (v Versions, err error) {
	v.Have, v.Want, err = sqlite.Versions(ctx, sqlite.Config{Path: s.path})
	return v, err
}

func (s sqliteSchema) migrate(ctx context.Context) error {
	opened, err := Store(ctx, s.name)
	if err != nil {
		return err
	}
	return opened.Close()
}

func (s sqliteSchema) open(ctx context.Context) (store.Store, error) {
	return sqlite.Open(ctx, sqlite.Config{Path: s.path})
}

// memorySchema is always up to date, as it begins with the process.
type memorySchema struct{ name string }

func (memorySchema) versions(context.Context) (Versions, error) { return Versions{}, nil }

func (memorySchema) migrate(context.Context) error { return nil }

func (s memorySchema) open(ctx context.Context) (store.Store, error) { return Store(ctx, s.name) }

func ahead(name string, v Versions) error {
	return fmt.Errorf("the store %s is ahead: its schema has version %d, this program knows %d; use a newer gnomon", shown(name), v.Have, v.Want)
}

// command is what a person types, quoted for a shell where that is needed.
func command(name string) string {
	name = shown(name)
	if strings.ContainsAny(name, " \t'\"$&;()<>|*?`\\!#~") {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return "gnomon migrate --store " + name
}
