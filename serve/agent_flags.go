package serve

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gnomon/agent"
)

// agentFlags are the flags of an agent alone.
type agentFlags struct {
	agent         agent.Config
	labels        lines
	allow         lines
	environment   lines
	directories   lines
	healthCommand string
	local         string
}

func (f *agentFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.agent.Cluster, "cluster", "", "the cluster (env GNOMON_CLUSTER)")
	flags.StringVar(&f.agent.Node, "node", "", "the node's name in the cluster (env GNOMON_NODE)")
	flags.Var(&f.labels, "label", "KEY=VALUE of the node, by which playbooks choose it (repeatable) (env GNOMON_LABEL)")
	flags.StringVar(&f.agent.DataDir, "data-dir", "", "where the queue is kept, of this agent alone (env GNOMON_DATA_DIR)")
	flags.Var(&f.allow, "allow-exec", "a program with its arguments that may be run, such as '/usr/bin/backup --to /data/*' (repeatable) (env GNOMON_ALLOW_EXEC)")
	flags.Var(&f.environment, "allow-environment", "a variable that actions may set (repeatable) (env GNOMON_ALLOW_ENVIRONMENT)")
	flags.Var(&f.directories, "allow-directory", "a directory that actions may run in, with all below it (repeatable) (env GNOMON_ALLOW_DIRECTORY)")
	flags.StringVar(&f.agent.Exec.Directory, "exec-directory", "/", "where programs run that name no directory (env GNOMON_EXEC_DIRECTORY)")
	flags.StringVar(&f.agent.Exec.Path, "exec-path", "/usr/local/bin:/usr/bin:/bin", "where programs are looked for, and their PATH (env GNOMON_EXEC_PATH)")
	flags.StringVar(&f.healthCommand, "health-command", "", "program with arguments, separated by blanks, that ends with 0 while the node is UP (env GNOMON_HEALTH_COMMAND)")
	flags.StringVar(&f.agent.Health.URL, "health-url", "", "URL that answers with 200 to 299 while the node is UP (env GNOMON_HEALTH_URL)")
	flags.DurationVar(&f.agent.Health.Timeout, "health-timeout", 5*time.Second, "time limit of one look at the node's health (env GNOMON_HEALTH_TIMEOUT)")
	flags.StringVar(&f.local, "local-address", "", "where the local API is served: unix:PATH or host:port on the loopback, empty for none (default unix:DATA-DIR/"+localSocket+") (env GNOMON_LOCAL_ADDRESS)")
	flags.DurationVar(&f.agent.RetainAge, "retain-age", 24*time.Hour, "how long records of finished actions are kept; what is purged before the core saw it is LOST there (env GNOMON_RETAIN_AGE)")
	flags.IntVar(&f.agent.RetainCount, "retain-count", 1000, "how many records of finished actions are kept (env GNOMON_RETAIN_COUNT)")
	flags.DurationVar(&f.agent.StopGrace, "stop-grace", 10*time.Second, "how long the action that runs may go on when the agent stops (env GNOMON_STOP_GRACE)")
}

// config is what the flags, set by now, ask for.
func (f *agentFlags) config(cmd *cobra.Command) (agent.Config, error) {
	c := f.agent
	if c.Cluster == "" || c.Node == "" || c.DataDir == "" {
		return agent.Config{}, errors.New("an agent needs --cluster, --node and --data-dir")
	}
	if len(f.labels) > 0 {
		c.Labels = make(map[string]string, len(f.labels))
	}
	for _, label := range f.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok || key == "" {
			return agent.Config{}, fmt.Errorf("--label %q must be KEY=VALUE", label)
		}
		c.Labels[key] = value
	}
	c.Exec.Allow, c.Exec.AllowEnvironment, c.Exec.Directories = f.allow, f.environment, f.directories
	c.Health.Command = strings.Fields(f.healthCommand)
	c.LocalAddress = f.local
	if !cmd.Flags().Changed("local-address") {
		c.LocalAddress = "unix:" + filepath.Join(c.DataDir, localSocket)
	}
	return c, nil
}
