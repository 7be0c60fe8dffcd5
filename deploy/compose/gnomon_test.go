package compose

import (
	"context"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/contrib/envconfig"

	"gnomon/cli"
	"gnomon/serve"
	"gnomon/store/ydb"
)

// program is what the image runs.
const program = "/usr/bin/gnomon"

// gnomon is the command line of cmd/gnomon.
func gnomon() *cobra.Command {
	command := cli.New("compose")
	command.AddCommand(serve.Starter("compose"), serve.Worker("compose"), serve.Reconcile(), serve.Migrate())
	return command
}

// asked remembers which variables something looks up, and what they are here.
type asked struct {
	values types.MappingWithEquals
	names  map[string]bool
}

// LookupEnv implements envconfig.EnvLookup.
func (a *asked) LookupEnv(name string) (string, bool) {
	a.names[name] = true
	value := a.values[name]
	if value == nil {
		return "", false
	}
	return *value, true
}

// Environ implements envconfig.EnvLookup: names with a prefix, such as those of headers,
// are of no service here.
func (a *asked) Environ() []string { return nil }

func (a *asked) getenv(name string) string {
	value, _ := a.LookupEnv(name)
	return value
}

// flagVariable is how the usage of a flag names its variable.
var flagVariable = regexp.MustCompile(`\(env (GNOMON_\w+)\)`)

// parsed is the command of a service with the flags that were given, and what is wrong
// with it.
func parsed(name string, words []string) (cmd *cobra.Command, f found) {
	cmd, rest, err := gnomon().Find(words)
	if err != nil {
		f.sayf("%s: %v: %v", name, words, err)
		return nil, f
	}
	if err := cmd.ParseFlags(rest); err != nil {
		f.sayf("%s: %v: %v", name, words, err)
		return nil, f
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil || !cmd.Runnable() {
		f.sayf("%s: %v is no command: %v", name, words, err)
		return nil, f
	}
	return cmd, f
}

// processes: the services that are gnomon run its commands with variables that it reads
// and values that it takes.
func processes(p *types.Project) (f found) {
	for name, s := range p.Services {
		if s.Build == nil {
			continue
		}
		if len(s.Entrypoint) > 0 {
			f.sayf("%s has an entrypoint of its own", name)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.User != "" {
			f.sayf("%s may more than it needs", name)
		}
		cmd, wrong := parsed(name, s.Command)
		f = append(f, wrong...)
		if cmd == nil {
			continue
		}
		f = append(f, environment(name, cmd, s.Environment)...)
		if s.HealthCheck == nil {
			continue
		}
		if test := s.HealthCheck.Test; len(test) < 2 || test[1] != program {
			f.sayf("%s: the health check is not of %s", name, program)
		} else {
			f = append(f, asksItself(name, test[2:], s.Environment)...)
		}
	}
	return f
}

// environment holds each variable to being read, and its value to being one.
func environment(name string, cmd *cobra.Command, values types.MappingWithEquals) (f found) {
	reads := &asked{values: values, names: map[string]bool{}}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		match := flagVariable.FindStringSubmatch(flag.Usage)
		if match == nil {
			return
		}
		if value, set := reads.LookupEnv(match[1]); set {
			if err := flag.Value.Set(value); err != nil {
				f.sayf("%s: %s: %v", name, match[1], err)
			}
		}
	})
	if cmd.Flags().Lookup("namespace") != nil { // it speaks to Temporal
		if _, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{DisableFile: true, EnvLookup: reads}); err != nil {
			f.sayf("%s: TEMPORAL_*: %v", name, err)
		}
	}
	if cmd.Flags().Lookup("store").Value.String() == "ydb" {
		f = append(f, mirror(name, reads)...)
	}
	for variable := range values {
		if !reads.names[variable] {
			f.sayf("%s: %s is not read by gnomon %s", name, variable, cmd.Name())
		}
	}
	return f
}

// mirror has YDB's variables read by what opens the store, at a port where nobody is.
func mirror(name string, reads *asked) (f found) {
	connection := reads.getenv(ydb.EnvConnectionString)
	if at, err := url.Parse(connection); err == nil && at.Port() != "" {
		at.Host = "127.0.0.1:1"
		connection = at.String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _, err := ydb.Versions(ctx, ydb.Config{ConnectionString: connection, ConnectTimeout: 100 * time.Millisecond, Getenv: reads.getenv})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		f.sayf("%s: YDB's variables: %v", name, err)
	}
	return f
}

// asksItself holds a health check to asking for the readiness of its own container.
func asksItself(name string, words []string, values types.MappingWithEquals) (f found) {
	cmd, f := parsed(name, words)
	if cmd == nil || cmd.Name() != "health" {
		f.sayf("%s: the health check is not gnomon health", name)
		return f
	}
	_, port, err := net.SplitHostPort(value(values, "GNOMON_METRICS_ADDRESS"))
	if want := "http://127.0.0.1:" + port + "/readyz"; err != nil || cmd.Flag("http").Value.String() != want {
		f.sayf("%s: the health check asks %s and not %s", name, cmd.Flag("http").Value, want)
	}
	return f
}

// value is that of a variable, empty if it is not set.
func value(values types.MappingWithEquals, name string) string {
	if v := values[name]; v != nil {
		return *v
	}
	return ""
}
