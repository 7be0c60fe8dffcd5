package compose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"gnomon/deploy/compose"
	"gnomon/faults/postgres"
	"gnomon/faults/processes"
	"gnomon/store/ydb/ydbdouble"
)

const (
	// root is the repository's.
	root = "../.."
	// soon bounds what takes seconds, on a machine that is busy.
	soon = 2 * time.Minute
)

// installation is the file's services as processes.
type installation struct {
	project *types.Project
	// network is the beginning of the addresses; each service has one as in a network of
	// Docker's, where all have the ports that the file names.
	network string
	hosts   map[string]string
	// instead are the variables whose values are other ones here.
	instead map[string]string
	bin     string
}

// program finds one of Debian's, or skips the test where there is none, but not in CI.
func program(t *testing.T, name string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	if err != nil {
		found, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("no %s on PATH", name)
	}
	require.NoError(t, err)
	return found
}

// prepare gives each service an address.
func prepare(t *testing.T) *installation {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("it takes a minute, and all of 127.0.0.0/8")
	}
	if !postgres.Available() {
		if os.Getenv("CI") != "" {
			t.Fatal(postgres.ErrMissing)
		}
		t.Skip(postgres.ErrMissing)
	}
	p, err := compose.Load(t.Context(), root, types.Mapping{"POSTGRES_PASSWORD": "replaced", "GRAFANA_ADMIN_PASSWORD": "of no concern"})
	require.NoError(t, err)
	in := &installation{
		project: p, hosts: map[string]string{}, bin: t.TempDir(),
		network: fmt.Sprintf("127.%d.%d.", 64+rand.IntN(128), rand.IntN(256)), // others may run this test
	}
	for name := range p.Services {
		in.hosts[name] = fmt.Sprintf("%s%d", in.network, 2+len(in.hosts))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	for name := range roles {
		text := "#!/bin/sh\n" + roleVariable + "=" + name + " exec '" + self + "' \"$@\"\n"
		require.NoError(t, os.WriteFile(filepath.Join(in.bin, name), []byte(text), 0o700))
	}
	return in
}

// here is a text of the file with the addresses of here; 0.0.0.0 and 127.0.0.1 are the
// service's own.
func (in *installation) here(service, text string) string {
	pairs := []string{"0.0.0.0", in.hosts[service], "127.0.0.1", in.hosts[service]}
	for name, host := range in.hosts {
		pairs = append(pairs, name+":", host+":")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// command is one of a service's, with its variables. Paths in the container are those of
// the files that it mounts, and programs those of here.
func (in *installation) command(service string, words []string) *exec.Cmd {
	s := in.project.Services[service]
	for i := range words {
		words[i] = in.path(service, in.here(service, words[i]))
	}
	executable := words[0]
	if _, ours := roles[filepath.Base(executable)]; ours {
		executable = filepath.Join(in.bin, filepath.Base(executable))
	}
	cmd := exec.Command(executable, words[1:]...)
	cmd.Env = append(processes.Quiet(os.Environ()), "PATH="+in.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, value := range s.Environment {
		text := in.path(service, in.here(service, *value))
		if other, ok := in.instead[name]; ok {
			text = other
		}
		cmd.Env = append(cmd.Env, name+"="+text)
	}
	return cmd
}

// path is a file of the repository, where a service mounts one at that path.
func (in *installation) path(service, at string) string {
	for _, v := range in.project.Services[service].Volumes {
		if v.Type == types.VolumeTypeBind && v.Target == at {
			return v.Source
		}
	}
	return at
}

// runs runs a service that ends.
func (in *installation) runs(t *testing.T, service string, words ...string) {
	t.Helper()
	p, err := processes.StartCommand(service, in.command(service, append(words, in.project.Services[service].Command...)))
	require.NoError(t, err)
	t.Cleanup(func() { p.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	select {
	case <-p.Ended():
	case <-ctx.Done():
	}
	require.Zero(t, p.ExitCode(), "%s: %s%s", service, p.Stdout().Text(), p.Tail())
}

// starts starts a service that goes on.
func (in *installation) starts(t *testing.T, service string, words ...string) *processes.Process {
	t.Helper()
	p, err := processes.StartCommand(service, in.command(service, words))
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: %s\n%s", service, p.Stdout().Tail(10), p.Tail())
		}
		p.Stop()
	})
	return p
}

// until asks again and again.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for over := time.Now().Add(soon); !is(); <-again.C {
		require.True(t, time.Now().Before(over), "it took longer than %s until %s", soon, what)
	}
}

// healthy waits until the health check that the file has for a service says so.
func (in *installation) healthy(t *testing.T, service string) {
	t.Helper()
	test := in.project.Services[service].HealthCheck.Test
	require.Equal(t, "CMD", test[0])
	until(t, service+" is healthy", func() bool {
		return in.command(service, append([]string{}, test[1:]...)).Run() == nil
	})
}

// gnomon is the client, which finds the API at an address.
func (in *installation) gnomon(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(in.bin, "gnomon"), args...)
	cmd.Env = append(processes.Quiet(os.Environ()), "GNOMON_ADDRESS="+net.JoinHostPort(in.hosts["haproxy"], "7700"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	return string(out)
}

// file is a configuration with the addresses of here.
func (in *installation) file(t *testing.T, service, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	text := strings.NewReplacer("bind :", "bind "+in.hosts[service]+":", "localhost:", service+":").Replace(string(body))
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	require.NoError(t, os.WriteFile(path, []byte(in.here(service, text)), 0o600))
	return path
}

// Issue 4, 6: the file's services, by the file's commands and variables and in its order,
// are healthy by its health checks, perform an action that is created through the load
// balancer, and are all seen by Prometheus. A starter that is stopped is not missed.
func TestServicesRun(t *testing.T) {
	t.Parallel()
	in := prepare(t)
	haproxy, prometheus := program(t, "haproxy"), program(t, "prometheus")

	server, err := postgres.Start(t.Context(), postgres.Config{Settings: map[string]string{"fsync": "off"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	host, port, err := net.SplitHostPort(server.Address)
	require.NoError(t, err)
	in.instead = map[string]string{
		"SQL_HOST": host, "SQL_PORT": port, "SQL_USER": postgres.User, "SQL_PASSWORD": server.Password,
		"POSTGRES_SEEDS": host, "DB_PORT": port, "POSTGRES_USER": postgres.User, "POSTGRES_PWD": server.Password,
	}
	double, err := ydbdouble.Start(t.Context(), ydbdouble.Options{Address: net.JoinHostPort(in.hosts["ydb"], "2136")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, double.Stop()) })

	in.runs(t, "temporal-schema")
	in.runs(t, "migrate", "gnomon")
	in.starts(t, "temporal", "temporal-server", "start")
	in.runs(t, "temporal-namespace")
	gnomons := map[string]*processes.Process{}
	for _, service := range []string{"starter-1", "starter-2", "worker-1", "worker-2"} {
		gnomons[service] = in.starts(t, service, append([]string{"gnomon"}, in.project.Services[service].Command...)...)
	}
	for service := range gnomons {
		in.healthy(t, service)
	}
	in.starts(t, "haproxy", haproxy, "-db", "-f", in.file(t, "haproxy", "deploy/haproxy/haproxy.cfg"))
	until(t, "HAProxy is healthy", func() bool {
		code, _ := get(t, "http://"+in.hosts["haproxy"]+":8404/healthy")
		return code == http.StatusOK
	})
	in.starts(t, "prometheus", prometheus, "--config.file="+in.file(t, "prometheus", "deploy/prometheus/prometheus.yml"),
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address="+in.hosts["prometheus"]+":9090")

	in.performs(t, "first")
	code, body := get(t, "http://"+in.hosts["haproxy"]+":7780/v1/actions?filter=&showFinished=true")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, "first")
	until(t, "Prometheus sees all", func() bool { return in.seen(t) })

	stopped := gnomons["starter-1"]
	require.NoError(t, stopped.Signal(syscall.SIGTERM))
	for stopped.Alive() {
		in.gnomon(t, "action", "list")
	}
	require.Zero(t, stopped.ExitCode(), stopped.Tail())
	in.performs(t, "second")
}

// performs creates an action and waits for what it sends.
func (in *installation) performs(t *testing.T, id string) {
	t.Helper()
	came := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case came <- r.URL.Path:
		default:
		}
	}))
	defer receiver.Close()
	in.gnomon(t, "action", "create", id, "--in", "1s", "--url", receiver.URL+"/"+id)
	select {
	case path := <-came:
		require.Equal(t, "/"+id, path)
	case <-time.After(soon):
		require.Fail(t, id+" was not performed")
	}
	until(t, id+" has succeeded", func() bool {
		return strings.Contains(in.gnomon(t, "action", "get", id, "-o", "json"), "SUCCEEDED")
	})
}

// seen says whether Prometheus could ask all of its targets.
func (in *installation) seen(t *testing.T) bool {
	t.Helper()
	code, body := get(t, "http://"+in.hosts["prometheus"]+":9090/api/v1/targets")
	if code != http.StatusOK {
		return false
	}
	var targets struct {
		Data struct {
			ActiveTargets []struct {
				Health string `json:"health"`
			} `json:"activeTargets"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &targets))
	up := 0
	for _, target := range targets.Data.ActiveTargets {
		if target.Health == "up" {
			up++
		}
	}
	return up == 6
}

// get fetches a page, code 0 if nobody answers.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, string(body)
}
