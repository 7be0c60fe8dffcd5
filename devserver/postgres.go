package devserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/tools/common/schema"
	temporaltool "go.temporal.io/server/tools/sql"
)

const (
	defaultDatabase = "temporal"
	defaultShards   = 4
	defaultMaxConns = 20

	// visibilitySuffix makes the name of the second database, as Temporal's own setup
	// names it.
	visibilitySuffix = "_visibility"

	// adminDatabase is the one that every PostgreSQL has.
	adminDatabase = "postgres"

	// lockKey is the advisory lock of the server that owns a database.
	lockKey = 0x676e6f6d6f6e // "gnomon"
	// lockPatience is how long a server waits for the lock: PostgreSQL may take a
	// moment to notice that a server was killed.
	lockPatience = 5 * time.Second
)

// Postgres says which PostgreSQL, of version 12 or later, a server keeps its data in.
type Postgres struct {
	// Address is its host:port. The connection is not encrypted.
	Address string

	// User may create databases, or owns the two that exist.
	User, Password string

	// Database, default "temporal", has the workflows; Database + "_visibility" has
	// what lists and counts are answered from. They are created where they are
	// missing, and their schema is brought up to date with Temporal's own tool.
	Database string

	// Shards of the workflows, 1..16384, default 4: as many can change at the same
	// time. A database keeps the number that it began with.
	Shards int

	// MaxConns is how many connections each of the two databases has at most,
	// default 20.
	MaxConns int
}

func (p Postgres) withDefaults() Postgres {
	p.Database = cmp.Or(p.Database, defaultDatabase)
	p.Shards = cmp.Or(p.Shards, defaultShards)
	p.MaxConns = cmp.Or(p.MaxConns, defaultMaxConns)
	return p
}

// maxShards is Temporal's limit for what it recommends to anybody.
const maxShards = 16384

func (p Postgres) validate() error {
	if host, port, err := net.SplitHostPort(p.Address); err != nil || host == "" || port == "" {
		return fmt.Errorf("devserver: Postgres.Address must be host:port, is %q", p.Address)
	}
	if p.User == "" {
		return errors.New("devserver: Postgres.User must not be empty")
	}
	if p.Shards < 1 || p.Shards > maxShards {
		return fmt.Errorf("devserver: Postgres.Shards must be 1..%d, is %d", maxShards, p.Shards)
	}
	if p.MaxConns < 1 || p.MaxConns > math.MaxInt32 {
		return fmt.Errorf("devserver: Postgres.MaxConns must be 1..%d, is %d", math.MaxInt32, p.MaxConns)
	}
	return nil
}

// sql is how Temporal connects to one of the databases.
func (p Postgres) sql(name string) *config.SQL {
	return &config.SQL{
		PluginName: postgresql.PluginNamePGX, ConnectProtocol: "tcp", ConnectAddr: p.Address,
		User: p.User, Password: p.Password, DatabaseName: name,
		MaxConns: p.MaxConns, MaxIdleConns: p.MaxConns, MaxConnLifetime: time.Hour,
	}
}

// openPostgres makes both databases ready for a server.
func openPostgres(ctx context.Context, p Postgres, l *logger) (*database, error) {
	main, visibility := p.sql(p.Database), p.sql(p.Database+visibilitySuffix)
	if err := p.create(ctx, main.DatabaseName, visibility.DatabaseName); err != nil {
		return nil, fmt.Errorf("devserver: PostgreSQL at %s: %w", p.Address, err)
	}
	lock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	db := &database{
		main: main, visibility: visibility, shards: int32(p.Shards),
		close: func() error { return lock.Close(context.Background()) },
	}
	for name, cfg := range map[string]*config.SQL{"temporal": main, "visibility": visibility} {
		if err := migratePostgres(cfg, "postgresql/v12/"+name, l); err != nil {
			return nil, errors.Join(fmt.Errorf("devserver: the schema of %s: %w", cfg.DatabaseName, err), db.close())
		}
	}
	return db, nil
}

func (p Postgres) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return nil, err
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, err
	}
	cfg.Host, cfg.Port, cfg.User, cfg.Password, cfg.Database = host, uint16(n), p.User, p.Password, name
	cfg.Fallbacks = nil
	return pgx.ConnectConfig(ctx, cfg)
}

// lock holds the database until the connection ends, however that ends.
func (p Postgres) lock(ctx context.Context) (*pgx.Conn, error) {
	conn, err := p.connect(ctx, p.Database)
	if err != nil {
		return nil, fmt.Errorf("devserver: database %s cannot be locked: %w", p.Database, err)
	}
	if err := takeLock(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("devserver: database %s %w", p.Database, err), conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}

func takeLock(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "SET lock_timeout = "+strconv.FormatInt(lockPatience.Milliseconds(), 10)); err != nil {
		return fmt.Errorf("cannot be locked: %w", err)
	}
	_, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey))
	switch {
	case isCode(err, "55P03"): // lock_not_available
		return errors.New("is in use by another server")
	case err != nil:
		return fmt.Errorf("cannot be locked: %w", err)
	}
	return nil
}

// create makes the databases that are missing.
func (p Postgres) create(ctx context.Context, names ...string) (err error) {
	conn, err := p.connect(ctx, adminDatabase)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, name := range names {
		var found bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&found); err != nil {
			return err
		}
		if found {
			continue
		}
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil &&
			!isCode(err, "42P04", "23505") { // another server made it meanwhile
			return fmt.Errorf("database %s cannot be made: %w", name, err)
		}
	}
	return nil
}

// isCode says whether PostgreSQL refused with one of these codes.
func isCode(err error, codes ...string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && slices.Contains(codes, refused.Code)
}

// migratePostgres brings the schema of a database to the version of this Temporal. A
// migration that was interrupted goes on.
func migratePostgres(cfg *config.SQL, name string, l *logger) error {
	return guarded(l, func() error {
		conn, err := temporaltool.NewConnection(cfg, l)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.ReadSchemaVersion(); err != nil { // there is no such table
			if err := schema.NewSetupSchemaTask(conn, &schema.SetupConfig{InitialVersion: "0.0"}, l).Run(); err != nil {
				return err
			}
		}
		return schema.NewUpdateSchemaTask(conn, &schema.UpdateConfig{SchemaName: name}, l).Run()
	})
}
