package compose

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// found collects what is wrong.
type found []string

func (f *found) sayf(format string, arguments ...any) {
	*f = append(*f, fmt.Sprintf(format, arguments...))
}

// once are the services that end: those whose end others wait for.
func once(p *types.Project) map[string]bool {
	ends := map[string]bool{}
	for _, s := range p.Services {
		for on, d := range s.DependsOn {
			if d.Condition == types.ServiceConditionCompletedSuccessfully {
				ends[on] = true
			}
		}
	}
	return ends
}

// pinned is an image with a version of at least two numbers.
var pinned = regexp.MustCompile(`^[a-z0-9][a-z0-9./-]*:v?\d+(\.\d+){1,3}(-[a-z0-9]+)?$`)

// images: those of others by their version, gnomon's built here.
func images(p *types.Project) (f found) {
	for name, s := range p.Services {
		switch {
		case s.Build != nil && (!strings.HasPrefix(s.Image, "gnomon:") || s.Build.Context != p.WorkingDir || s.Build.Dockerfile != "Dockerfile"):
			f.sayf("%s is built as %s from %s, %s", name, s.Image, s.Build.Context, s.Build.Dockerfile)
		case s.Build == nil && !pinned.MatchString(s.Image):
			f.sayf("%s: the image %s is not pinned", name, s.Image)
		}
	}
	return f
}

// health: what goes on says how it is and is started again; what ends does not.
func health(p *types.Project) (f found) {
	ends := once(p)
	for name, s := range p.Services {
		h := s.HealthCheck
		switch {
		case ends[name] && (h != nil || s.Restart != ""):
			f.sayf("%s ends and has a health check or a restart", name)
		case ends[name]:
		case h == nil || h.Disable:
			f.sayf("%s has no health check", name)
		case len(h.Test) < 2 || h.Test[0] != "CMD":
			f.sayf("%s: the health check %v is no command", name, h.Test)
		case h.Interval == nil || h.Timeout == nil || h.Retries == nil || h.StartPeriod == nil:
			f.sayf("%s: the health check leaves something to the defaults", name)
		case s.Restart != types.RestartPolicyUnlessStopped:
			f.sayf("%s is not started again", name)
		}
	}
	return f
}

// order: who waits for whom, and for what; here in a few words.
var order = map[string]string{
	"temporal-schema":    "postgresql healthy",
	"temporal":           "postgresql healthy, temporal-schema completed",
	"temporal-namespace": "temporal healthy",
	"temporal-ui":        "temporal healthy",
	"migrate":            "ydb healthy",
	"starter-1":          "migrate completed, temporal-namespace completed, ydb healthy",
	"starter-2":          "migrate completed, temporal-namespace completed, ydb healthy",
	"worker-1":           "migrate completed, temporal-namespace completed, ydb healthy",
	"worker-2":           "migrate completed, temporal-namespace completed, ydb healthy",
	"haproxy":            "starter-1 healthy, starter-2 healthy",
	"prometheus":         "starter-1 started, starter-2 started, temporal started, worker-1 started, worker-2 started",
	"grafana":            "prometheus healthy",
	"postgresql":         "",
	"ydb":                "",
}

// ordered compares the file's order with [order].
func ordered(p *types.Project) (f found) {
	if have, want := slices.Sorted(maps.Keys(p.Services)), slices.Sorted(maps.Keys(order)); !slices.Equal(have, want) {
		f.sayf("the services are %v and not %v", have, want)
	}
	for name, s := range p.Services {
		var waits []string
		for on, d := range s.DependsOn {
			if !d.Required {
				f.sayf("%s does without %s", name, on)
			}
			condition := strings.TrimSuffix(strings.TrimPrefix(d.Condition, "service_"), "_successfully")
			waits = append(waits, on+" "+condition)
		}
		slices.Sort(waits)
		if have := strings.Join(waits, ", "); have != order[name] {
			f.sayf("%s waits for %q and not for %q", name, have, order[name])
		}
	}
	return f
}

// published are the ports of this machine, and whose they are.
var published = map[string]string{
	"7233": "temporal:7233", "8233": "temporal-ui:8080",
	"2136": "ydb:2136", "8765": "ydb:8765",
	"7700": "haproxy:7700", "7780": "haproxy:7780",
	"9090": "prometheus:9090", "3000": "grafana:3000",
}

// ports: on the loopback interface, each once, those of [published].
func ports(p *types.Project) (f found) {
	seen := map[string]string{}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" || port.Protocol != "tcp" {
				f.sayf("%s: port %s is published at %q, %s", name, port.Published, port.HostIP, port.Protocol)
			}
			if other := seen[port.Published]; other != "" {
				f.sayf("port %s is of %s and of %s", port.Published, other, name)
			}
			seen[port.Published] = fmt.Sprintf("%s:%d", name, port.Target)
		}
		if s.NetworkMode != "" || s.Privileged {
			f.sayf("%s has the machine's network or is privileged", name)
		}
	}
	if !maps.Equal(seen, published) {
		f.sayf("published are %v and not %v", seen, published)
	}
	return f
}

// kept are the directories whose contents outlive a container.
var kept = map[string]string{
	"postgresql-data": "postgresql:/var/lib/postgresql/data",
	"ydb-data":        "ydb:/ydb_data", "ydb-certs": "ydb:/ydb_certs",
	"prometheus-data": "prometheus:/prometheus",
	"grafana-data":    "grafana:/var/lib/grafana",
}

// volumes: data in the volumes of [kept], and files of the repository, which are there
// and are only read.
func volumes(p *types.Project) (f found) {
	seen := map[string]string{}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			switch v.Type {
			case types.VolumeTypeVolume:
				seen[v.Source] = name + ":" + v.Target
			case types.VolumeTypeBind:
				inside, err := filepath.Rel(filepath.Join(p.WorkingDir, "deploy"), v.Source)
				if err != nil || !filepath.IsLocal(inside) || !v.ReadOnly {
					f.sayf("%s mounts %s, which is not under deploy or may be written", name, v.Source)
				}
				if _, err := os.Stat(v.Source); err != nil {
					f.sayf("%s mounts what is not there: %v", name, err)
				}
			default:
				f.sayf("%s mounts a %s", name, v.Type)
			}
		}
	}
	if !maps.Equal(seen, kept) {
		f.sayf("the volumes are %v and not %v", seen, kept)
	}
	for name := range kept {
		if _, ok := p.Volumes[name]; !ok {
			f.sayf("the volume %s is not declared", name)
		}
	}
	return f
}

// secretName is that of a variable whose value nobody is to read in the file.
var secretName = regexp.MustCompile(`(?i)passw|pwd|secret|token|credential|private|api_?key`)

// login is a URL with a password.
var login = regexp.MustCompile(`://[^/\s]*:[^/\s]*@`)

// secret: passwords come from the environment, by a variable or a file in /run/secrets.
func secret(p *types.Project) (f found) {
	for name, s := range p.Secrets {
		if s.Environment == "" || s.Content != passwords[s.Environment] {
			f.sayf("the secret %s does not come from the environment", name)
		}
	}
	for name, s := range p.Services {
		for variable, value := range s.Environment {
			if value == nil {
				f.sayf("%s: %s is whatever the shell has", name, variable)
				continue
			}
			given := slices.Contains(slices.Collect(maps.Values(passwords)), *value)
			file, isFile := strings.CutPrefix(*value, "/run/secrets/")
			mounted := slices.ContainsFunc(s.Secrets, func(m types.ServiceSecretConfig) bool { return m.Source == file })
			switch {
			case login.MatchString(*value):
				f.sayf("%s: %s has a login in it", name, variable)
			case secretName.MatchString(variable) && !given && (!isFile || !mounted):
				f.sayf("%s: %s is a secret that is written down, or a file that is not mounted", name, variable)
			case given && !secretName.MatchString(variable):
				f.sayf("%s: %s gets a password", name, variable)
			}
		}
		for _, word := range slices.Concat(s.Command, s.Entrypoint) {
			if slices.Contains(slices.Collect(maps.Values(passwords)), word) || login.MatchString(word) || strings.Contains(word, "password=") {
				f.sayf("%s: a password in a command, which all processes of the machine can read", name)
			}
		}
	}
	return f
}

// grace is what a process of gnomon gets before it is killed: what it gives the others,
// and ten seconds to end.
func grace(p *types.Project) (f found) {
	for name, s := range p.Services {
		for _, variable := range []string{"GNOMON_SHUTDOWN_DELAY", "GNOMON_STOP_GRACE"} {
			value, ok := s.Environment[variable]
			if !ok {
				continue
			}
			own, err := time.ParseDuration(*value)
			if err != nil || s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= own+10*time.Second {
				f.sayf("%s is killed before %s and ten seconds have passed", name, variable)
			}
		}
	}
	return f
}
