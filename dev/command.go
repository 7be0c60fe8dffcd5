// Package dev is gnomon-dev as a library: Temporal on SQLite with its Web UI, a
// worker, the facade and a receiver that prints what reaches it, in one process.
package dev

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is gnomon-dev.
func Command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "gnomon-dev",
		Short:         "Run all of gnomon in one process",
		Long:          "It runs Temporal on SQLite with its Web UI, a worker, the facade and a receiver that prints what reaches it.\nOnce it serves it prints one line of JSON with the addresses on stdout; all else goes to stderr.",
		Example:       "  gnomon-dev --data-dir .gnomon\n  gnomon-dev --agents 3\n  gnomon-dev --ephemeral --temporal-port 0 --ui-port 0 --grpc-port 0 --http-port 0 --receiver-port 0 --metrics-port 0",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.temporalPort, "temporal-port", 7233, "port of Temporal, 0 for any free one")
	f.IntVar(&o.uiPort, "ui-port", 8233, "port of Temporal's Web UI, 0 for any free one")
	f.IntVar(&o.grpcPort, "grpc-port", 7700, "port of gnomon's gRPC API, 0 for any free one")
	f.IntVar(&o.httpPort, "http-port", 7780, "port of gnomon's REST API, 0 for any free one")
	f.IntVar(&o.receiverPort, "receiver-port", 7790, "port of the receiver, 0 for any free one")
	f.IntVar(&o.metricsPort, "metrics-port", 7792, "port of /metrics, /livez and /readyz, 0 for any free one")
	f.StringVar(&o.dataDir, "data-dir", ".gnomon", "where everything is kept")
	f.BoolVar(&o.ephemeral, "ephemeral", false, "keep everything in memory")
	f.BoolVar(&o.allowMock, "allow-mock-actions", false, "accept mock_action; for tests of gnomon only")
	f.StringVar(&o.notificator, "notificator-address", "", "host:port of a Notificator service, such as examples/notificator")
	f.StringVar(&o.dnsZones, "dns-zones", "", "file of the DNS zones that batches change, see docs/batches.md")
	f.StringVar(&o.notifications, "notifications", "", "file of the channels by which people are told of batches; without one they are told in the log")
	f.StringVar(&o.stages, "stages", "", "file of the stages of entities, such as examples/stages/stages.yaml; see docs/stages.md")
	o.publish.Register(f)
	// Those are the worker's flags, which have variables too; these have none.
	f.VisitAll(func(one *pflag.Flag) { one.Usage, _, _ = strings.Cut(one.Usage, " (env ") })
	f.StringVar(&o.record, "receiver-record", "", "file to append one line of JSON to for every arrival")
	f.IntVar(&o.agents, "agents", 0, "run this many agents, as node-1 and so on of cluster "+localCluster)
	f.StringArrayVar(&o.allowExec, "allow-exec", nil, "a program with its arguments that the agents may run, see docs/nodes.md (repeatable) (default echo, sleep, date and the like)")
	f.TextVar(&o.logLevel, "log-level", defaultLogLevel, "debug, info, warn or error")
	return cmd
}
