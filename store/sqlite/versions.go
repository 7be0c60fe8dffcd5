package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Versions says which version the schema at Config.Path has, 0 where there is none or
// no file, and which one this program needs. It creates and changes nothing.
func Versions(ctx context.Context, c Config) (have, want int64, err error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return 0, 0, fmt.Errorf("sqlite: %w", err)
	}
	if want, err = programVersion(); err != nil {
		return 0, 0, fmt.Errorf("sqlite: %w", err)
	}
	if c.inMemory() {
		return 0, want, nil
	}
	if _, err := os.Stat(c.Path); errors.Is(err, fs.ErrNotExist) {
		return 0, want, nil
	}
	db, err := sql.Open(driverName, location(c)+"?"+parameters(c, true).Encode())
	if err != nil {
		return 0, want, fmt.Errorf("sqlite: the database cannot be opened: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if have, err = databaseVersion(ctx, db); err != nil {
		return 0, want, fmt.Errorf("sqlite: the version of the database cannot be read: %w", err)
	}
	return have, want, nil
}
