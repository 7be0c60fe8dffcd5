package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gnomon/agent"
	"gnomon/metrics"
)

// dataPermissions of --data-dir: it holds the arguments of all actions, and the socket
// by which they are scheduled.
const dataPermissions = 0o700

// localSocket is the socket of the local API in --data-dir, unless told otherwise.
const localSocket = "agent.sock"

// Agent is the command `gnomon agent` of a build.
func Agent(build string) *cobra.Command {
	s := &settings{}
	f := agentFlags{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Run the actions of one node",
		Long: `agent runs the actions of one node of a cluster, one at a time, in the order of their creation, from a queue of its own in --data-dir. It dials out to Temporal; the node needs no open port. Without Temporal it goes on with what its queue has.

Programs run only if a pattern of --allow-exec permits exactly them, see docs/nodes.md.`,
		Example: "  gnomon agent --cluster prod --node db-1 --data-dir /var/lib/gnomon-agent --allow-exec '/usr/bin/systemctl restart *.service'\n" +
			"  gnomon agent --cluster prod --node db-2 --data-dir agent --label role=db --health-url http://127.0.0.1:8080/healthz",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			config, err := f.config(cmd)
			if err != nil {
				return err
			}
			return s.runAgent(cmd.Context(), build, config)
		},
	}
	s.temporalFlags(cmd)
	s.observing.flags(cmd, agentMetrics)
	f.register(cmd)
	return cmd
}

// runAgent runs the agent until ctx ends.
func (s *settings) runAgent(ctx context.Context, build string, config agent.Config) (err error) {
	log, err := s.logger(os.Stderr)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(config.DataDir, dataPermissions); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	if err := s.observing.begin(build); err != nil {
		return err
	}
	endTraces, err := s.trace(ctx, "gnomon-agent", build, log)
	if err != nil {
		return err
	}
	defer endTraces()
	options, err := s.options(fmt.Sprintf("gnomon-agent@%s/%s", config.Cluster, config.Node), log)
	if err != nil {
		return err
	}
	// Lazy: the agent works, and serves its local API, before Temporal can be reached.
	c, err := client.NewLazyClient(options)
	if err != nil {
		return fmt.Errorf("the client of Temporal: %w", err)
	}
	defer c.Close()
	if err := s.observing.listen(ctx, log, metrics.TemporalCheck(c)); err != nil {
		return err
	}
	defer s.observing.close(log)
	stopping := context.AfterFunc(ctx, func() {
		s.observing.server.Stopping()
		log.Info("The agent stops: it begins nothing more and gives what runs its grace.", "grace", config.StopGrace)
	})
	defer stopping()
	config.Client, config.ClusterTaskQueue, config.Logger = c, s.taskQueue, log
	config.Meter = metrics.NewAgent(s.observing.registry)
	return agent.Run(ctx, config, func(local string) {
		s.observing.server.Serving()
		warnOfNothing(config, log)
		log.Info("The agent runs.", "cluster", config.Cluster, "node", config.Node, "local", local)
	})
}

// warnOfNothing says what an agent without an allow-list cannot do.
func warnOfNothing(config agent.Config, log *slog.Logger) {
	if len(config.Exec.Allow) == 0 {
		log.Warn("No --allow-exec permits any program; only HTTP requests are performed.")
	}
}

// lines is a flag that may be given several times, or as one value of several lines, as
// variables of the environment need it.
type lines []string

// String is the flag's value (pflag.Value).
func (l *lines) String() string { return strings.Join(*l, "\n") }

// Type is what help shows for the value (pflag.Value).
func (*lines) Type() string { return "stringArray" }

// Set adds the lines of a value that are not empty (pflag.Value).
func (l *lines) Set(value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			*l = append(*l, line)
		}
	}
	return nil
}
