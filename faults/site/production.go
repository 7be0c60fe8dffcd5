package site

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"gnomon/faults/postgres"
	"gnomon/faults/processes"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/store"
	"gnomon/store/open"
	"gnomon/store/sqlite"
)

// defaultHeartbeat is that of the worker as it is shipped.
const defaultHeartbeat = 10 * time.Second

// installation is the directory of the rows in the double's database.
const installation = "gnomon"

// NewProduction is New over a PostgreSQL and with the rows in YDB's double, which
// `gnomon migrate` has prepared; each is a process. Temporal may be killed and started
// again, the two databases may not.
func NewProduction(ctx context.Context, dir string) (*Site, error) {
	s, err := newSite(ctx, dir)
	if err != nil {
		return nil, err
	}
	s.heartbeat = defaultHeartbeat
	// The disk is not what is tried here: neither is the machine's power lost, nor
	// PostgreSQL killed.
	if s.postgres, err = postgres.Start(ctx, postgres.Config{Settings: map[string]string{"fsync": "off"}}); err != nil {
		return s, err
	}
	if s.ydb, err = processes.Start(dir, roles.YDB, "--installation", installation); err != nil {
		return s, err
	}
	if s.store, err = s.ydb.Out(ctx, "grpc://"); err != nil {
		return s, err
	}
	migrate, err := processes.Start(dir, roles.Migrate, "--store", s.store)
	if err != nil {
		return s, err
	}
	if _, err := migrate.Out(ctx, "The schema was migrated"); err != nil {
		return s, err
	}
	return s, s.StartTemporal(ctx)
}

// database is what Temporal's data is on, as arguments of its role.
func (s *Site) database() []string {
	if s.postgres == nil {
		return []string{"--dir", s.Dir}
	}
	return []string{"--postgres", s.postgres.Address, "--password-file", s.postgres.PasswordFile}
}

// OpenStore opens the store as it is.
func (s *Site) OpenStore(ctx context.Context) (store.Actions, error) {
	return open.Store(ctx, s.store)
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
