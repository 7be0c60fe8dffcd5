package compose

import (
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// rules are what docker-compose.yml is held to.
var rules = map[string]func(*types.Project) found{
	"images": images, "health": health, "order": ordered, "ports": ports, "volumes": volumes,
	"secrets": secret, "grace": grace, "processes": processes, "reachable": reachable,
	"scraped": scraped, "mounts": mounts, "shown": shown, "balanced": balanced,
}

// Issue 4, 6: each service's image, ports, health check, order, volumes, commands and
// variables are as they have to be, and what refers to services refers to those.
func TestCompose(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, rule(p))
		})
	}
}

// Each rule finds what it is for: a fault is planted in the file, and the rule says so.
func TestRulesFindFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct{ rule, old, new, says string }{
		{"images", "grafana/grafana:13.2.3", "grafana/grafana:latest", "grafana/grafana:latest is not pinned"},
		{"images", "prom/prometheus:v3.14.0", "prom/prometheus", "prom/prometheus is not pinned"},
		{"images", "image: haproxy:3.2.24-alpine", "image: haproxy:3", "haproxy:3 is not pinned"},
		{"images", "context: .\n", "context: ./cmd\n", "is built as gnomon:dev from"},
		{"health", `test: ["CMD", "nc", "-z", "127.0.0.1", "7233"]`, "disable: true", "temporal has no health check"},
		{"health", `["CMD", "bash", "/health_check"]`, `bash /health_check`, "ydb: the health check [CMD-SHELL bash /health_check] is no command"},
		{"health", "      retries: 12\n      start_period: 120s\n", "      retries: 12\n", "ydb: the health check leaves something"},
		{"health", "  healthcheck: *ready\n  restart: unless-stopped\n  # The grace", "  healthcheck: *ready\n  # The grace", "worker-2 is not started again"},
		{"health", "    command: [migrate]\n", "    command: [migrate]\n    restart: always\n", "migrate ends and has"},
		{"order", "    migrate: {condition: service_completed_successfully}\n", "", `worker-1 waits for "temporal-namespace completed, ydb healthy"`},
		{"order", "      temporal-schema: {condition: service_completed_successfully}\n", "      temporal-schema: {condition: service_started}\n", "temporal-schema started"},
		{"ports", "127.0.0.1:3000:3000", "3000:3000", `port 3000 is published at ""`},
		{"ports", "127.0.0.1:8233:8080", "127.0.0.1:3000:8080", "port 3000 is of"},
		{"ports", "127.0.0.1:7700:7700", "127.0.0.1:7701:7700", "published are"},
		{"volumes", ":/var/lib/grafana", ":/var/grafana", "the volumes are"},
		{"volumes", "haproxy.cfg:ro", "haproxy.cfg", "may be written"},
		{"volumes", "./deploy/temporal/schema.sh:", "./deploy/temporal/schemas.sh:", "what is not there"},
		{"volumes", "./deploy/temporal/schema.sh:", "/var/run/docker.sock:", "is not under deploy"},
		{"secrets", "POSTGRES_PWD: ${POSTGRES_PASSWORD}", "POSTGRES_PWD: temporal", "POSTGRES_PWD is a secret that is written down"},
		{"secrets", "    secrets: [postgres_password]\n", "", "a file that is not mounted"},
		{"secrets", "  grafana_admin_password:\n    environment: GRAFANA_ADMIN_PASSWORD", "  grafana_admin_password:\n    file: ./LICENSE", "does not come from the environment"},
		{"secrets", "grpc://ydb:2136/local", "grpc://root:hunter2@ydb:2136/local", "has a login in it"},
		{"secrets", "LOG_LEVEL: warn", "LOG_LEVEL: ${POSTGRES_PASSWORD}", "LOG_LEVEL gets a password"},
		{"secrets", "      - --storage.tsdb.path", "      - --web.password=x\n      - --storage.tsdb.path", "a password in a command"},
		{"grace", "stop_grace_period: 35s", "stop_grace_period: 30s", "worker-1 is killed before GNOMON_STOP_GRACE"},
		{"grace", "GNOMON_SHUTDOWN_DELAY: 5s", "GNOMON_SHUTDOWN_DELAY: 10s", "starter-1 is killed before GNOMON_SHUTDOWN_DELAY"},
		{"processes", "command: [worker]", "command: [work]", "worker-1: [work]"},
		{"processes", "command: [worker]", "command: [worker, --polers, \"3\"]", "unknown flag: --polers"},
		{"processes", "command: [migrate]", "command: [migrate, now]", "is no command"},
		{"processes", "GNOMON_STOP_GRACE: 20s", "GNOMON_STOP_GRACE: 20", "GNOMON_STOP_GRACE: time: missing unit"},
		{"processes", "GNOMON_STOP_GRACE: 20s", "GNOMON_SHUTDOWN_DELAY: 20s", "GNOMON_SHUTDOWN_DELAY is not read by gnomon worker"},
		{"processes", "  TEMPORAL_NAMESPACE: gnomon\n  GNOMON", "  TEMPORAL_NAMESPCE: gnomon\n  GNOMON", "TEMPORAL_NAMESPCE is not read"},
		{"processes", "GNOMON_STORE: ydb", "GNOMON_STORE: sqlite:x", "YDB_CONNECTION_STRING is not read"},
		{"processes", "grpc://ydb:2136/local?", "ydb:2136/local?", "YDB's variables"},
		{"processes", "    environment: *store\n", "    environment: *process\n", "TEMPORAL_ADDRESS is not read by gnomon migrate"},
		{"processes", "http://127.0.0.1:9090/readyz", "http://127.0.0.1:9091/readyz", "and not http://127.0.0.1:9090/readyz"},
		{"processes", `"/usr/bin/gnomon", "health"`, `"/usr/bin/gnomon", "healthy"`, "[healthy"},
		{"processes", "  read_only: true\n", "", "may more than it needs"},
		{"reachable", "127.0.0.1:7233:7233", "127.0.0.1:7233:7234", "nothing listens at temporal:7234"},
		{"reachable", "127.0.0.1:7780:7780", "127.0.0.1:7780:7781", "nothing listens at haproxy:7781"},
		{"reachable", "SQL_HOST: postgresql", "SQL_HOST: postgres", "nothing listens at postgres:5432"},
		{"reachable", "GRPC_PORT: \"2136\"", "GRPC_PORT: \"2137\"", "nothing listens at ydb:2136"},
		{"reachable", "    hostname: ydb\n", "", "YDB sends its clients"},
		{"scraped", "PROMETHEUS_ENDPOINT: 0.0.0.0:8000", "PROMETHEUS_ENDPOINT: 127.0.0.1:8000", "temporal:8000, where nothing listens"},
		{"scraped", "GNOMON_METRICS_ADDRESS: 0.0.0.0:9090", "GNOMON_METRICS_ADDRESS: 0.0.0.0:9091", "Prometheus does not ask gnomon-worker worker-2:9091"},
		{"scraped", "  worker-2: *worker\n", "  worker-2: *worker\n  worker-3: *worker\n", "Prometheus does not ask gnomon-worker worker-3:9090"},
		{"mounts", "--config.file=/etc/prometheus/", "--config.file=/etc/", "looks for it at \"/etc/prometheus.yml\""},
		{"mounts", "DYNAMIC_CONFIG_FILE_PATH: /gnomon/", "DYNAMIC_CONFIG_FILE_PATH: /temporal/", "temporal has deploy/temporal/dynamicconfig.yaml"},
		{"mounts", "tsdb.path=/prometheus", "tsdb.path=/data", "keeps its data at \"/data\""},
		{"shown", "dashboards:/etc/grafana/dashboards:ro", "dashboards:/etc/dashboards:ro", "has the dashboards at"},
		{"balanced", "GNOMON_GRPC_ADDRESS: 0.0.0.0:7700", "GNOMON_GRPC_ADDRESS: 127.0.0.1:7700", "starter-1:7700, where nothing listens"},
		{"balanced", "  starter-2: *starter\n", "  starter-2: *starter\n  starter-3: *starter\n", "has [starter-1 starter-2] and not"},
	} {
		t.Run(fault.rule+" "+fault.new, func(t *testing.T) {
			t.Parallel()
			original := text(t, "docker-compose.yml")
			require.Contains(t, original, fault.old)
			p, err := load(t.Context(), strings.ReplaceAll(original, fault.old, fault.new), passwords)
			if err != nil {
				require.ErrorContains(t, err, fault.says)
				return
			}
			require.Contains(t, strings.Join(rules[fault.rule](p), "\n"), fault.says)
		})
	}
}
