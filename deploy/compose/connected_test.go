package compose

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/goccy/go-yaml"

	"gnomon/deploy/signals"
)

// ownPorts are where the images of others listen unless they are told otherwise, and
// nobody tells them.
var ownPorts = map[string][]string{
	"postgresql":  {"5432"},
	"temporal":    {"7233"},
	"temporal-ui": {"8080"},
	"prometheus":  {"9090"},
	"grafana":     {"3000"},
}

// listens are the host:port at which services can be reached by others: what they are
// told, on all interfaces, and [ownPorts].
func listens(p *types.Project) map[string]bool {
	at := map[string]bool{}
	for name, s := range p.Services {
		for _, port := range ownPorts[name] {
			at[name+":"+port] = true
		}
		for variable, v := range s.Environment {
			switch {
			case name == "ydb" && strings.HasSuffix(variable, "_PORT"):
				at[name+":"+*v] = true
			case s.Build != nil && strings.HasSuffix(variable, "_ADDRESS"), variable == "PROMETHEUS_ENDPOINT":
				if host, port, err := net.SplitHostPort(*v); err == nil && host == "0.0.0.0" {
					at[name+":"+port] = true
				}
			}
		}
	}
	return at
}

// binds matches where HAProxy listens.
var binds = regexp.MustCompile(`(?m)^\s+bind :(\d+)`)

// reachable: what services are told of others, and what is published, is there.
func reachable(p *types.Project) (f found) {
	at := listens(p)
	for _, match := range binds.FindAllStringSubmatch(content(p, "deploy/haproxy/haproxy.cfg"), -1) {
		at["haproxy:"+match[1]] = true
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if target := fmt.Sprintf("%s:%d", name, port.Target); !at[target] {
				f.sayf("nothing listens at %s, which is published", target)
			}
		}
		for variable, there := range map[string]string{
			"TEMPORAL_ADDRESS":      value(s.Environment, "TEMPORAL_ADDRESS"),
			"YDB_CONNECTION_STRING": host(value(s.Environment, "YDB_CONNECTION_STRING")),
			"SQL_HOST":              joined(s.Environment, "SQL_HOST", "SQL_PORT"),
			"POSTGRES_SEEDS":        joined(s.Environment, "POSTGRES_SEEDS", "DB_PORT"),
		} {
			if s.Environment[variable] != nil && !at[there] {
				f.sayf("%s: nothing listens at %s, %s", name, there, variable)
			}
		}
	}
	if ydb := p.Services["ydb"]; ydb.Hostname != "ydb" {
		f.sayf("YDB sends its clients to %q", ydb.Hostname)
	}
	return f
}

func host(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return address
	}
	return at.Host
}

func joined(values types.MappingWithEquals, host, port string) string {
	return net.JoinHostPort(value(values, host), value(values, port))
}

// content is a file beside docker-compose.yml, empty if there is none.
func content(p *types.Project, name string) string {
	body, err := os.ReadFile(filepath.Join(p.WorkingDir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(body)
}

// scraped: Prometheus asks where something listens, and asks every process of gnomon.
func scraped(p *types.Project) (f found) {
	jobs, err := signals.Jobs(filepath.Join(p.WorkingDir, "deploy"))
	if err != nil {
		f.sayf("prometheus.yml: %v", err)
	}
	at, wanted := listens(p), map[string]bool{}
	for name, s := range p.Services {
		if _, port, err := net.SplitHostPort(value(s.Environment, "GNOMON_METRICS_ADDRESS")); err == nil {
			wanted["gnomon-"+s.Command[0]+" "+name+":"+port] = true
		}
	}
	for job, targets := range jobs {
		for _, target := range targets {
			delete(wanted, job+" "+target)
			if target = strings.Replace(target, "localhost:", "prometheus:", 1); !at[target] {
				f.sayf("Prometheus asks %s, where nothing listens", target)
			}
		}
	}
	for target := range wanted {
		f.sayf("Prometheus does not ask %s", target)
	}
	return f
}

// mounted is the path in the container of a file of the repository, empty for none.
func mounted(p *types.Project, service, file string) string {
	for _, v := range p.Services[service].Volumes {
		inside, err := filepath.Rel(v.Source, filepath.Join(p.WorkingDir, filepath.FromSlash(file)))
		if err == nil && v.Type == types.VolumeTypeBind && filepath.IsLocal(inside) {
			return filepath.ToSlash(filepath.Join(v.Target, inside))
		}
	}
	return ""
}

// mounts are the files that programs look for, and where they do.
func mounts(p *types.Project) (f found) {
	wanted := map[string]string{
		"prometheus deploy/prometheus/prometheus.yml":                    flag(p, "prometheus", "--config.file="),
		"prometheus deploy/prometheus/alerts.yml":                        filepath.Dir(flag(p, "prometheus", "--config.file=")) + "/alerts.yml",
		"grafana deploy/grafana/provisioning/datasources/prometheus.yml": "/etc/grafana/provisioning/datasources/prometheus.yml",
		"grafana deploy/grafana/provisioning/dashboards/gnomon.yml":      "/etc/grafana/provisioning/dashboards/gnomon.yml",
		"haproxy deploy/haproxy/haproxy.cfg":                             "/usr/local/etc/haproxy/haproxy.cfg",
		"temporal deploy/temporal/dynamicconfig.yaml":                    value(p.Services["temporal"].Environment, "DYNAMIC_CONFIG_FILE_PATH"),
		"temporal-schema deploy/temporal/schema.sh":                      last(p.Services["temporal-schema"].Command),
		"temporal-namespace deploy/temporal/namespace.sh":                last(p.Services["temporal-namespace"].Command),
	}
	for what, path := range wanted {
		service, file, _ := strings.Cut(what, " ")
		if have := mounted(p, service, file); have == "" || have != path {
			f.sayf("%s has %s at %q and looks for it at %q", service, file, have, path)
		}
	}
	if have := flag(p, "prometheus", "--storage.tsdb.path="); kept["prometheus-data"] != "prometheus:"+have {
		f.sayf("Prometheus keeps its data at %q", have)
	}
	return f
}

func last(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// flag is what a service's command gives a flag.
func flag(p *types.Project, service, prefix string) string {
	for _, word := range p.Services[service].Command {
		if rest, ok := strings.CutPrefix(word, prefix); ok {
			return rest
		}
	}
	return ""
}

// shown: Grafana asks the file's Prometheus, and finds the dashboards, which ask the same.
func shown(p *types.Project) (f found) {
	var sources struct {
		Datasources []struct{ UID, Type, URL string }
	}
	if err := yaml.Unmarshal([]byte(content(p, "deploy/grafana/provisioning/datasources/prometheus.yml")), &sources); err != nil {
		f.sayf("datasources: %v", err)
	}
	uids, kinds := map[string]bool{}, map[string]bool{}
	for _, source := range sources.Datasources {
		uids[source.UID], kinds[source.Type] = true, true
		if there := host(source.URL); !listens(p)[there] {
			f.sayf("Grafana asks %s, where nothing listens", there)
		}
	}
	var providers struct {
		Providers []struct{ Options struct{ Path string } }
	}
	if err := yaml.Unmarshal([]byte(content(p, "deploy/grafana/provisioning/dashboards/gnomon.yml")), &providers); err != nil {
		f.sayf("dashboards: %v", err)
	}
	for _, provider := range providers.Providers {
		if have := mounted(p, "grafana", "deploy/grafana/dashboards"); have != provider.Options.Path {
			f.sayf("Grafana has the dashboards at %q and looks for them at %q", have, provider.Options.Path)
		}
	}
	var board map[string]any
	if err := json.Unmarshal([]byte(content(p, "deploy/grafana/dashboards/gnomon.json")), &board); err != nil {
		f.sayf("the dashboard: %v", err)
	}
	for name, kind := range chosen(board) { // a person chooses among those of a kind
		uids["${"+name+"}"] = kinds[kind]
	}
	used := map[string]bool{}
	datasources(board, used)
	if len(used) == 0 || len(providers.Providers) == 0 || len(uids) == 0 {
		f.sayf("Grafana shows nothing")
	}
	for uid := range used {
		if !uids[uid] {
			f.sayf("the dashboard asks the datasource %q", uid)
		}
	}
	return f
}

// chosen are the variables of a dashboard that stand for a datasource of a kind.
func chosen(board map[string]any) map[string]string {
	kinds := map[string]string{}
	templating, _ := board["templating"].(map[string]any)
	list, _ := templating["list"].([]any)
	for _, each := range list {
		variable, _ := each.(map[string]any)
		name, _ := variable["name"].(string)
		if kind, ok := variable["query"].(string); ok && variable["type"] == "datasource" {
			kinds[name] = kind
		}
	}
	return kinds
}

// datasources are the uids that a dashboard asks, Grafana's own left out.
func datasources(node any, uids map[string]bool) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			datasources(child, uids)
		}
	case map[string]any:
		if source, ok := node["datasource"].(map[string]any); ok {
			if uid, ok := source["uid"].(string); ok && uid != "-- Grafana --" {
				uids[uid] = true
			}
		}
		for _, child := range node {
			datasources(child, uids)
		}
	}
}

// backend matches a server of a backend of HAProxy, with the port of its check.
var backend = regexp.MustCompile(`^\s+server (\S+) (\S+):(\d+)(?:.* port (\d+))?`)

// balanced: each backend has every starter, at the ports where it serves.
func balanced(p *types.Project) (f found) {
	starters := map[string]bool{}
	for name, s := range p.Services {
		if s.Build != nil && s.Command[0] == "starter" {
			starters[name] = true
		}
	}
	at, backends, current := listens(p), map[string][]string{}, ""
	for line := range strings.Lines(content(p, "deploy/haproxy/haproxy.cfg")) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "backend" {
			current = words[1]
			backends[current] = nil
		}
		match := backend.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		backends[current] = append(backends[current], match[2])
		for _, port := range match[3:] {
			if port != "" && !at[match[2]+":"+port] {
				f.sayf("HAProxy sends to %s:%s, where nothing listens", match[2], port)
			}
		}
	}
	if len(backends) == 0 {
		f.sayf("HAProxy has no backend")
	}
	want := slices.Sorted(maps.Keys(starters))
	for name, have := range backends {
		if !slices.Equal(have, want) {
			f.sayf("HAProxy's backend %s has %v and not %v", name, have, want)
		}
	}
	return f
}
