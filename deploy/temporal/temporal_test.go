package temporal

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // the plugin that the file names
	schema "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/tools/sql"

	"gnomon/deploy/compose"
	"gnomon/faults/postgres"
)

// toolVariable has this program be temporal-sql-tool, as it is in the image.
const toolVariable = "GNOMON_TEST_SQL_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(toolVariable) == "" {
		os.Exit(m.Run())
	}
	if err := sql.RunTool(os.Args); err != nil {
		os.Exit(1)
	}
}

// password is given to the file as a person gives it in .env.
const password = "given-to-postgresql"

// service is one of docker-compose.yml.
func service(t *testing.T, name string) types.ServiceConfig {
	t.Helper()
	p, err := compose.Load(t.Context(), "../..", types.Mapping{"POSTGRES_PASSWORD": password, "GRAFANA_ADMIN_PASSWORD": "of no concern"})
	require.NoError(t, err)
	s, err := p.GetService(name)
	require.NoError(t, err)
	return s
}

// Temporal reads from the variables what they are meant to say, and reads all of them.
func TestConfiguration(t *testing.T) { //nolint:paralleltest // it sets the environment
	variables := service(t, "temporal").Environment
	for name, value := range variables {
		t.Setenv(name, *value)
	}
	c, err := config.Load(config.WithEmbedded())
	require.NoError(t, err)
	require.NoError(t, c.Validate())
	for name, database := range map[string]string{c.Persistence.DefaultStore: "temporal", c.Persistence.VisibilityStore: "temporal_visibility"} {
		store := c.Persistence.DataStores[name].SQL
		require.NotNil(t, store, name)
		require.Equal(t, "postgres12", store.PluginName)
		require.Equal(t, "postgresql:5432", store.ConnectAddr)
		require.Equal(t, "temporal", store.User)
		require.Equal(t, password, store.Password)
		require.Equal(t, database, store.DatabaseName)
	}
	require.EqualValues(t, 512, c.Persistence.NumHistoryShards)
	require.Equal(t, "0.0.0.0:8000", c.Global.Metrics.Prometheus.ListenAddress)
	require.Equal(t, 7233, c.Services["frontend"].RPC.GRPCPort)
	require.Equal(t, "0.0.0.0", c.Services["frontend"].RPC.BindOnIP)
	require.Equal(t, "/gnomon/dynamicconfig.yaml", c.DynamicConfigClient.Filepath)
	require.Equal(t, "warn", c.Log.Level)

	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/server").Output()
	require.NoError(t, err)
	var sources strings.Builder
	for _, file := range []string{"common/config/config_template_embedded.yaml", "docker/scripts/sh/entrypoint.sh"} {
		body, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(file)))
		require.NoError(t, err)
		sources.Write(body)
	}
	for name := range variables {
		require.Regexp(t, `\b`+regexp.QuoteMeta(name)+`\b`, sources.String(), "Temporal does not read it")
	}
}

// Temporal knows each setting of the dynamic configuration, and its type.
func TestDynamicConfiguration(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("dynamicconfig.yaml")
	require.NoError(t, err)
	loaded := dynamicconfig.LoadYamlFile(body)
	require.NoError(t, loaded.Err())
	require.Empty(t, loaded.Warnings)
	require.Contains(t, loaded.Map, dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key())
	require.Contains(t, loaded.Map, dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key())
}

// command is the script that a service runs, with programs of this test's on PATH.
func command(t *testing.T, name string, programs map[string]string, variables ...string) *exec.Cmd {
	t.Helper()
	bin := t.TempDir()
	for program, text := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+text), 0o700))
	}
	s := service(t, name)
	cmd := exec.CommandContext(t.Context(), s.Command[0], script(t, s))
	cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	for variable, value := range s.Environment {
		cmd.Env = append(cmd.Env, variable+"="+*value)
	}
	cmd.Env = append(cmd.Env, variables...) // the last one counts
	return cmd
}

// script is the file of the repository that a service mounts and runs.
func script(t *testing.T, s types.ServiceConfig) string {
	t.Helper()
	require.Len(t, s.Command, 2)
	for _, v := range s.Volumes {
		if v.Target == s.Command[1] {
			return v.Source
		}
	}
	require.Fail(t, "it is not mounted", s.Command[1])
	return ""
}

// Issue 4, 6: the schema is made on an empty PostgreSQL and is that of this Temporal, and
// making it again changes nothing.
func TestSchema(t *testing.T) {
	t.Parallel()
	if !postgres.Available() {
		if os.Getenv("CI") != "" {
			t.Fatal(postgres.ErrMissing)
		}
		t.Skip(postgres.ErrMissing)
	}
	server, err := postgres.Start(t.Context(), postgres.Config{Settings: map[string]string{"fsync": "off"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	host, port, err := net.SplitHostPort(server.Address)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	tool := map[string]string{"temporal-sql-tool": toolVariable + "=1 exec '" + self + "' \"$@\"\n"}
	for range 2 {
		cmd := command(t, "temporal-schema", tool, "SQL_HOST="+host, "SQL_PORT="+port, "SQL_USER="+postgres.User, "SQL_PASSWORD="+server.Password)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), server.Password)
		for database, want := range map[string]string{"temporal": schema.Version, "temporal_visibility": schema.VisibilityVersion} {
			require.Equal(t, want, version(t, server, database), database)
		}
	}
	cmd := command(t, "temporal-schema", tool, "SQL_HOST="+host, "SQL_PORT="+port, "SQL_USER="+postgres.User, "SQL_PASSWORD=wrong")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
}

// version is that of the schema of a database.
func version(t *testing.T, server *postgres.Server, database string) (v string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), "postgres://"+postgres.User+":"+server.Password+"@"+server.Address+"/"+database+"?sslmode=disable")
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT curr_version FROM schema_version").Scan(&v))
	return v
}

// namespace runs the script with a temporal that says what it was asked, succeeds in
// describing from one call on and in creating from another on; 0 is never.
func namespace(t *testing.T, describes, creates int) (asked []string, out string, err error) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "asked")
	text := `echo "$TEMPORAL_ADDRESS $*" >>"$LOG"
n=$(grep -c "namespace $3" "$LOG")
case $3 in
describe) from=$DESCRIBES ;;
create) from=$CREATES ;;
*) exit 2 ;;
esac
[ "$from" -gt 0 ] && [ "$n" -ge "$from" ]
`
	cmd := command(t, "temporal-namespace", map[string]string{"temporal": text}, "LOG="+log, "PAUSE=0", "TRIES=5",
		"DESCRIBES="+strconv.Itoa(describes), "CREATES="+strconv.Itoa(creates))
	said, err := cmd.CombinedOutput()
	body, readErr := os.ReadFile(log)
	require.NoError(t, readErr)
	return strings.Split(strings.TrimSpace(string(body)), "\n"), string(said), err
}

const (
	describe = "temporal:7233 operator namespace describe --namespace gnomon"
	create   = "temporal:7233 operator namespace create --namespace gnomon --retention 72h"
)

// The namespace is made where there is none, as soon as Temporal can; a Temporal that
// never can is told of.
func TestNamespace(t *testing.T) {
	t.Parallel()
	asked, out, err := namespace(t, 1, 0)
	require.NoError(t, err, out)
	require.Equal(t, []string{describe}, asked)
	require.Equal(t, "Temporal at temporal:7233 has the namespace gnomon.\n", out)

	asked, out, err = namespace(t, 0, 3)
	require.NoError(t, err, out)
	require.Equal(t, []string{describe, create, describe, create, describe, create}, asked)

	asked, out, err = namespace(t, 0, 0)
	require.Error(t, err)
	require.Len(t, asked, 10)
	require.Equal(t, "Temporal at temporal:7233 has no namespace gnomon, and it cannot be made.\n", out)
}
