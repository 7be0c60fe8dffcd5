package devserver_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"gnomon/devserver"
	"gnomon/faults/postgres"
)

// startPostgres starts a PostgreSQL whose data is not worth an fsync.
func startPostgres(t *testing.T) *postgres.Server {
	t.Helper()
	if !postgres.Available() {
		if os.Getenv("CI") != "" {
			t.Fatal(postgres.ErrMissing)
		}
		t.Skip(postgres.ErrMissing)
	}
	server, err := postgres.Start(t.Context(), postgres.Config{Settings: map[string]string{"fsync": "off"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

func on(server *postgres.Server, database string) devserver.Config {
	return devserver.Config{
		Postgres: &devserver.Postgres{Address: server.Address, User: postgres.User, Password: server.Password, Database: database},
		UIPort:   devserver.NoUI,
		SearchAttributes: map[string]enumspb.IndexedValueType{
			"Tenant": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		},
	}
}

// sessions is how many connections there are to the databases of a server.
func sessions(t *testing.T, server *postgres.Server, database string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "postgres://"+postgres.User+":"+server.Password+"@"+server.Address+"/postgres?sslmode=disable")
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE starts_with(datname, $1)", database).Scan(&n))
	return n
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	pg := startPostgres(t)

	t.Run("keeps everything", func(t *testing.T) {
		t.Parallel()
		var out logBuffer
		cfg := on(pg, "kept")
		cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
		first := start(t, cfg)
		c := dial(t, first, "default")
		w := work(t, c)
		greet(t, c, "kept", tenant.ValueSet("acme"))
		requireFound(t, c, "Tenant = 'acme'", "kept")
		w.Stop()
		c.Close()
		first.Stop()
		require.Eventually(t, func() bool { return sessions(t, pg, "kept") == 0 }, 10*time.Second, 50*time.Millisecond)

		cfg.SearchAttributes["Added"] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
		c = dial(t, start(t, cfg), "default")
		var result string
		require.NoError(t, c.GetWorkflow(t.Context(), "kept", "").Get(t.Context(), &result))
		require.Equal(t, "hello gnome", result)
		requireFound(t, c, "Tenant = 'acme' AND Added IS NULL", "kept")
		require.Empty(t, out.String())
	})

	t.Run("has one server", func(t *testing.T) {
		t.Parallel()
		cfg := on(pg, "owned")
		start(t, cfg)
		_, err := devserver.Start(t.Context(), cfg)
		require.EqualError(t, err, "devserver: database owned is in use by another server")
	})

	t.Run("refuses a stranger", func(t *testing.T) {
		t.Parallel()
		cfg := on(pg, "refused")
		cfg.Postgres.Password = "secret"
		_, err := devserver.Start(t.Context(), cfg)
		require.ErrorContains(t, err, "password authentication failed")
		require.NotContains(t, err.Error(), "secret")
	})
}
